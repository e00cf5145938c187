// JSON as people read it: claims with the dates of those that are times, trees that fold.

import { element } from "./element.js";
import { copyButton, dateTime, folded } from "./portal-parts.js";
import { t } from "./strings.js";

const times = new Set(["auth_time", "exp", "iat", "nbf"]);

/** A claim's value, with the date of those that are times. */
export function readable(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return times.has(name) && value > 0 ? `${text} (${dateTime(value * 1000)})` : text;
}

/** A JSON value as a tree that folds. */
export function tree(value, name = "", open = true) {
  const label = element("span", "key", name && `${name}: `);
  if (value === null || typeof value !== "object") return element("div", "leaf mono", label, readable(name, value));
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return Object.assign(element("details", "tree mono", element("summary", "", label, count), ...entries.map(([key, item]) => tree(item, key, false))), { open });
}

/** A title that folds over a tree and a button that copies it. */
export const foldedTree = (title, value) => folded(title, true, tree(value), copyJSON(value));

export const copyJSON = (value) => copyButton(t("portal.copy_json"), () => JSON.stringify(value, null, 2));
