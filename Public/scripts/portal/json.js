// JSON as people read it: trees that fold, with the dates of claims that are times.

import { meaningOf, readable } from "../base/claims-table.js";
import { element, t } from "../base/page.js";
import { copyButton, folded } from "./parts.js";

/** A claim's meaning. An access token is for the API, not for the application. */
function meaning(name, value, kind) {
  if (kind === "access" && name === "aud") return [element("small", "meaning", t("portal.access_audience"))];
  const text = meaningOf(name, value);
  return text ? [element("small", "meaning", text)] : [];
}

/** A list that is read at once, as the groups of a person are. */
const isShort = (value) => Array.isArray(value) && value.length > 0 && value.length <= 8 && value.every((each) => typeof each !== "object");

/** A JSON value as a tree that folds. */
export function tree(value, name = "", open = true, kind = null) {
  const label = element("span", "key", name && `${name}: `);
  if (value === null || typeof value !== "object" || isShort(value)) {
    const text = Array.isArray(value) ? value.join(", ") : readable(name, value);
    return element("div", "leaf mono", label, text, ...(kind ? meaning(name, value, kind) : []));
  }
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return Object.assign(
    element("details", "tree mono", element("summary", "", label, count), ...entries.map(([key, item]) => tree(item, key, false, kind))),
    { open },
  );
}

/** A title that folds over a tree and a button that copies it. `kind`, access or id, has the claims explained of such a token. */
export const foldedTree = (title, value, kind = null) => folded(title, true, tree(value, "", true, kind), copyJSON(value));

/** The purpose of a decoded token. That of Graph has a nonce in its header, and nobody else can check its signature. */
export const purpose = (kind, header) =>
  element("p", "quiet", t(`portal.token_for.${kind === "access" && "nonce" in header ? "graph" : kind}`));

const copyJSON = (value) => copyButton(t("portal.copy_json"), () => JSON.stringify(value, null, 2));
