// JSON as people read it: trees that fold, with the dates of claims that are times.

import { readable } from "./claims-table.js";
import { element } from "./element.js";
import { copyButton, folded } from "./portal-parts.js";
import { t } from "./strings.js";

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
