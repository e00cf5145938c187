// Two attempts side by side, with the people who signed in: their account, admission, claims and token. What differs comes first.

import { get } from "../base/api.js";
import { loadClaims, readable } from "../base/claims-table.js";
import { element, t } from "../base/page.js";
import { differences } from "./differences.js";
import { ask } from "./dialog.js";
import { folded, table } from "./parts.js";

const ofToken = (term, claims) =>
  Object.entries(claims ?? {}).map(([name, value]) => ({
    term: t(term, { claim: name }),
    claim: name,
    isGroups: name === "groups",
    ...(Array.isArray(value) ? list(value) : { value: readable(name, value) }),
  }));

/** Values whose order says nothing, one a line. */
const list = (values) => ({ value: values.toSorted().join("\n"), isList: true });

/** A row of [term, value]; where there is a third, it is the one to compare. */
const row = ([term, ...values]) => ({ term, value: values.at(-1) });

/** Where Graph names a person's groups; the token's groups are also the indirect ones, which only the first path has. */
const memberships = ["/me/transitiveMemberOf", "/me/memberOf"];

/** The names of the groups by their ids, if the operator lets this application ask Graph for them and the person has consented. */
async function groupNames({ app, account, granted_scopes: granted }, apis) {
  const listed = apis.filter(({ applications }) => applications.includes(app))
    .flatMap(({ name, paths }) => paths.map((each) => ({ ...each, api: name })))
    .filter(({ scopes }) => scopes.every((scope) => granted.includes(scope)));
  const found = memberships.map((path) => listed.find((each) => each.path === path)).find(Boolean);
  if (!found) return [];
  const query = new URLSearchParams({ api: found.api, path: found.path, select: "id,displayName", top: "999", account });
  const { body } = await get(`/api/${app}/call?${query}`).catch(() => ({}));
  return (body?.value ?? []).filter(({ displayName: name }) => name).map(({ id, displayName: name }) => [id, name]);
}

/** A token may have names of groups instead. */
const isID = (value) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value);

/** Each group of the rows with its name beside its id; says where a name is not known. */
async function nameGroups(attempts, people, apis) {
  const rows = people.flat().filter(({ isGroups }) => isGroups);
  const ids = new Set(rows.flatMap(({ value }) => value.split("\n")).filter(isID));
  if (ids.size === 0) return [];
  const known = attempts.map((attempt, index) => (people[index].some(({ isGroups }) => isGroups) ? groupNames(attempt, apis) : []));
  const names = new Map((await Promise.all(known)).flat());
  for (const row of rows) {
    row.value = list(row.value.split("\n").map((id) => (names.has(id) ? `${names.get(id)} (${id})` : id))).value;
  }
  return [...ids].every((id) => names.has(id)) ? [] : [element("p", "quiet", t("portal.groups_unnamed"))];
}

/** The person of an attempt as this session knows them; nothing where the account is no longer signed in. */
async function person({ app, account, username, hasTokens }) {
  if (!username) return [row([t("portal.username"), t("portal.no_username")])];
  const paths = ["admission", "claims", ...(hasTokens ? ["tokens"] : [])];
  const [{ rule, groups, portal_role: role }, claims, tokens] = await Promise.all(
    paths.map((path) => get(`/api/${app}/${path}?account=${encodeURIComponent(account)}`).catch(() => ({}))),
  );
  return [
    ...[
      [t("portal.username"), username],
      [t("portal.admission.rule"), rule && t(`portal.admission.rule.${rule.kind}`, { value: rule.value ?? "" })],
      [t("portal.admission.portal_role"), role && t(`portal.admission.portal_role.${role}`)],
    ].map(row),
    ...(groups?.named ? [{ term: t("portal.admission.groups"), isGroups: true, ...list(groups.named) }] : []),
    ...ofToken("portal.claim_of_id", claims),
    ...ofToken("portal.claim_of_access", tokens?.access_token?.payload),
  ];
}

/**
 * Shows two attempts, each with its `head`, its `rows` of [term, value], and whether its server `hasTokens` to show: what differs, and
 * folded what always does, and the rest. `apis` are those that the operator lists.
 */
export async function compare(attempts, apis) {
  await loadClaims();
  const people = await Promise.all(attempts.map(person));
  const unnamed = await nameGroups(attempts, people, apis);
  const [one, two] = attempts.map(({ rows }, index) => [...people[index], ...rows.map(row)]);
  const isSamePerson = attempts[0].username !== "" && attempts[0].username === attempts[1].username;
  const found = differences(one, two, isSamePerson);
  const lists = new Set([...one, ...two].filter(({ isList }) => isList).map(({ term }) => term));
  /** Of two lists, those of one; what the other has, too, is marked. */
  const inBoth = (value, other) => {
    const others = other.split("\n");
    const line = (each) => [each, ...(others.includes(each) ? [" ", element("span", "tag", t("portal.in_both"))] : [])];
    return element("div", "", ...value.split("\n").map((each) => element("div", "", ...line(each))));
  };
  const marked = found.different.map(([term, ...values]) => [
    element("div", "", `${term} `, element("strong", "tag", t("portal.differs"))),
    ...(lists.has(term) ? [inBoth(...values), inBoth(...values.toReversed())] : values),
  ]);
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
      marked.length > 0 ? shown(marked) : element("p", "quiet", t("portal.no_difference")),
      ...unnamed,
      ...(found.always.length > 0
        ? [folded(t("portal.always_different", { count: found.always.length }), false, shown(found.always))]
        : []),
      folded(t("portal.same", { count: found.same.length }), false, shown(found.same)),
    ),
  );
}
