// Two attempts side by side, with the people who signed in: their account, admission, claims and token. What differs comes first.

import { get } from "../base/api.js";
import { loadClaims, readable } from "../base/claims-table.js";
import { element, t } from "../base/page.js";
import { ask } from "./dialog.js";
import { folded, table } from "./parts.js";

/** Claims that differ from token to token, and one that nobody can read. */
const passing = new Set(["aio", "at_hash", "auth_time", "c_hash", "exp", "iat", "jti", "login_hint", "nbf", "rh", "sid", "uti", "xms_ftd"]);

const ofPerson = (term, claims) =>
  Object.entries(claims ?? {}).filter(([name]) => !passing.has(name)).map((
    [name, value],
  ) => [t(term, { claim: name }), Array.isArray(value) ? value.join(", ") : readable(name, value)]);

/** The person of an attempt as this session knows them, as [term, value]; nothing where the account is no longer signed in. */
async function person({ app, account, username, hasTokens }) {
  if (!username) return [];
  const paths = ["admission", "claims", ...(hasTokens ? ["tokens"] : [])];
  const [{ rule, groups, roles, portal_role: role }, claims, tokens] = await Promise.all(
    paths.map((path) => get(`/api/${app}/${path}?account=${encodeURIComponent(account)}`).catch(() => ({}))),
  );
  return [
    [t("portal.username"), username],
    [t("portal.admission.rule"), rule && t(`portal.admission.rule.${rule.kind}`, { value: rule.value ?? "" })],
    [t("portal.admission.groups"), groups?.named?.join(", ")],
    [t("portal.admission.roles"), roles?.join(", ")],
    [t("portal.admission.portal_role"), role && t(`portal.admission.portal_role.${role}`)],
    ...ofPerson("portal.claim_of_id", claims),
    ...ofPerson("portal.claim_of_access", tokens?.access_token?.payload),
  ];
}

/**
 * Shows two attempts, each with its `head`, its `rows` of [term, value], and whether its server `hasTokens` to show: what differs, and the
 * rest folded.
 */
export async function compare(attempts) {
  await loadClaims();
  const people = await Promise.all(attempts.map(person));
  const [one, two] = attempts.map(({ rows }, index) =>
    new Map([...people[index], ...rows].map(([term, ...values]) => [term, values.at(-1) || ""]))
  );
  const rows = { different: [], same: [] };
  for (const term of new Set([...one.keys(), ...two.keys()])) {
    const values = [one, two].map((each) => each.get(term) || "–");
    const differs = values[0] !== values[1];
    const name = element("div", "", `${term} `, ...(differs ? [element("strong", "tag", t("portal.differs"))] : []));
    if (differs || values[0] !== "–") rows[differs ? "different" : "same"].push([name, ...values]);
  }
  const shown = (part) => {
    const made = table([t("portal.setting"), ...attempts.map(({ head }) => head.cloneNode(true))], part);
    made.firstChild.className = "comparison";
    return made;
  };
  ask(
    t("portal.comparison"),
    element(
      "div",
      "",
      rows.different.length > 0 ? shown(rows.different) : element("p", "quiet", t("portal.no_difference")),
      folded(t("portal.same", { count: rows.same.length }), false, shown(rows.same)),
    ),
  );
}
