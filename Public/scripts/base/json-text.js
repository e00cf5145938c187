// JSON as text that folds and is coloured. What it says when all of it is read, as a copy does, is JSON again.

import { base, element, loadStyle } from "./page.js";

const indent = 2;

/** An element with the value, laid out as `JSON.stringify` does it; with `isFolded` it begins closed. */
export async function jsonText(value, { isFolded = false } = {}) {
  await loadStyle(`${base}/assets/styles/json.css`);
  return element("code", "json", line(0, parts(value, 0, !isFolded)));
}

/** A line with so many spaces before it: what of it has no room stands below it, further to the right than it began. */
function line(spaces, content) {
  const made = element("span", "line", element("span", "margin", " ".repeat(spaces)), ...content);
  // An object has a last line of its own.
  if (made.lastChild.localName !== "details") made.append("\n");
  made.style.setProperty("--spaces", spaces);
  return made;
}

/** A value that begins in a line with so many spaces before it. What follows it there is its `end`. */
function parts(value, spaces, isOpen, end = "") {
  if (value === null || typeof value !== "object") {
    return [element("span", `json-${value === null ? "null" : typeof value}`, JSON.stringify(value)), end];
  }
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const entries = Object.entries(value);
  if (entries.length === 0) return [open + close + end];
  const inner = spaces + indent;
  const members = entries.map(([key, member], index) => {
    const name = Array.isArray(value) ? [] : [element("span", "json-key", JSON.stringify(key)), ": "];
    return line(inner, [...name, ...parts(member, inner, true, index < entries.length - 1 ? "," : "")]);
  });
  const fold = element("details", "", element("summary", "", open), "\n", ...members, line(spaces, [close, end]));
  fold.open = isOpen;
  return [fold];
}
