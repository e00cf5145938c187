// The claims of a token as a table: name, value, and what the well-known ones mean. Where it is narrow they stand below each
// other; the roles are spelled out because some browsers take them from a table that is not laid out as one.

import { base, element, language, loadStyle, loadTexts, t } from "./page.js";

const times = new Set(["auth_time", "exp", "iat", "nbf"]);

/** The kinds of values that the server does not show, by the claim's name. */
const hidden = {
  nonce: "random",
  aio: "internal",
  rh: "internal",
  uti: "internal",
  xms_st: "internal",
  sid: "session",
  at_hash: "hash",
  c_hash: "hash",
  deviceid: "device",
  login_hint: "person",
  ipaddr: "address",
};

/** A claim's meaning, or the kind of a value that is not shown. */
export const meaningOf = (name, value) => value === "…" && hidden[name] ? t(`claims.hidden_kind.${hidden[name]}`) : t(`claim.${name}`);

/** Loads what a table needs; to be called before the first one. */
export const loadClaims = () => Promise.all([loadTexts("claim"), loadTexts("claims"), loadStyle(`${base}/assets/styles/claims.css`)]);

/** A claim's value; of those that are times, the local date first. */
export function readable(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (!times.has(name) || !(value > 0)) return text;
  return `${new Date(value * 1000).toLocaleString(language, { dateStyle: "medium", timeStyle: "medium" })} (${text})`;
}

function part(name, role, className, ...content) {
  const made = element(name, className, ...content);
  made.setAttribute("role", role);
  return made;
}

/** A table of [name, value, meaning], whose first column has this title. */
export function valuesTable(title, values) {
  const titles = [title, t("claims.value"), t("claims.meaning")].map((each) => part("th", "columnheader", "", each));
  const rows = values.map(([name, value, meaning]) =>
    part("tr", "row", "", part("td", "cell", "mono", name), part("td", "cell", "mono value", value), part("td", "cell", "meaning", meaning))
  );
  return element(
    "div",
    "claims",
    part("table", "table", "", part("thead", "rowgroup", "", part("tr", "row", "", ...titles)), part("tbody", "rowgroup", "", ...rows)),
  );
}

export const claimsTable = (claims) =>
  valuesTable(t("claims.claim"), Object.entries(claims).map(([name, value]) => [name, readable(name, value), meaningOf(name, value)]));

const ofPerson = ["name", "preferred_username"];

/** The claims, first those by which people know themselves. */
export const personFirst = (claims) =>
  Object.fromEntries([...ofPerson, ...Object.keys(claims)].filter((name) => name in claims).map((name) => [name, claims[name]]));

/** The same, with what it needs; where one table is shown alone. */
export const loadTable = (claims) => loadClaims().then(() => claimsTable(claims));
