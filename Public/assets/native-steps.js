// Steps that can be ticked off, and how many of them are: kept in this browser, except on a shared device.

import { element, t, withElements } from "./page.js";
import { isShared } from "./values.js";

const key = "native-done";

function read() {
  try {
    return isShared ? [] : JSON.parse(localStorage.getItem(key) ?? "[]");
  } catch {
    return [];
  }
}

const done = new Set(read());
let onProgress = () => {};

/** Calls this after each step that is ticked off, or no longer. */
export const followProgress = (follower) => (onProgress = follower);

function tick(name, isDone) {
  if (isDone) done.add(name);
  else done.delete(name);
  try {
    if (!isShared) localStorage.setItem(key, JSON.stringify([...done]));
  } catch {
    // The browser keeps nothing.
  }
  onProgress();
}

/** What is done of one kind of tenant says nothing about another. */
const nameOf = ({ id }, { kind, tenant }) => `${tenant}.${kind}.${id}`;

/** How many of these steps are done. */
export const progress = (steps, values) => steps.filter((step) => done.has(nameOf(step, values))).length;

/** The steps as a list, with the values in them. */
export function stepList(steps, values) {
  const shown = { ...values, scopes: values.scopes[0] };
  const list = element("ol", "steps", ...steps.map((step) => {
    const marked = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, element("b", "", String(value))]));
    const box = Object.assign(element("input"), { type: "checkbox", checked: done.has(nameOf(step, values)) });
    box.addEventListener("change", () => tick(nameOf(step, values), box.checked));
    return element("li", "", element("label", "", box, element("span", "", ...withElements(t(`native.step.${step.id}`), marked))));
  }));
  return list;
}
