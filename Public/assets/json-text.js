// JSON as text that folds and is coloured. What it says when all of it is read, as a copy does, is JSON again.

import { base, element, loadStyle } from "./page.js";

const indent = "  ";

/** An element with the value, laid out as `JSON.stringify` does it; with `isFolded` it begins closed. */
export async function jsonText(value, { isFolded = false } = {}) {
  await loadStyle(`${base}/assets/json.css`);
  return element("code", "json", ...parts(value, "", !isFolded));
}

function parts(value, margin, isOpen) {
  if (value === null || typeof value !== "object") return [element("span", `json-${value === null ? "null" : typeof value}`, JSON.stringify(value))];
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const entries = Object.entries(value);
  if (entries.length === 0) return [open + close];
  const inner = margin + indent;
  const members = entries.flatMap(([key, member], index) => {
    const name = Array.isArray(value) ? [] : [element("span", "json-key", JSON.stringify(key)), ": "];
    return [`\n${inner}`, ...name, ...parts(member, inner, true), index < entries.length - 1 ? "," : ""];
  });
  const fold = element("details", "", element("summary", "", open), ...members, `\n${margin}${close}`);
  fold.open = isOpen;
  return [fold];
}
