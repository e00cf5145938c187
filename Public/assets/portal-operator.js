// For the operator: whether all applications are well, and who has a session here.

import { app, get, send } from "./api.js";
import { element, t } from "./page.js";
import { ask } from "./portal-dialog.js";
import { keep, kept } from "./portal-form.js";
import { announce, button, byTitle, dateTime, explained, finder, folded, many, run, signInButton, statusBox, table } from "./portal-parts.js";
import { signInAddress } from "./return-trip.js";

/** No account is signed in to the portal itself, or one that may not see this; the server says who may. */
function refused(failure) {
  if (failure.code !== "interaction_required") return explained(failure);
  return element("div", "", element("p", "", t("portal.operator_only")), element("p", "buttons", signInButton(t("portal.sign_in_here"), signInAddress())));
}

// MARK: Health

const word = (isGood) => element("strong", isGood ? "good" : "bad", isGood ? t("portal.good") : t("portal.bad"));

/** A text with a number of days; a single one has a text of its own. */
const inDays = (days, one, several) => (days === 1 ? t(one) : t(several, { days: Math.max(0, days) }));

const daysLeft = (days) => (days == null ? [] : [element("span", days < 30 ? "tag bad" : "tag", inDays(days, "portal.day_left", "portal.days_left"))]);

const checksTable = (checks) =>
  table([t("portal.check_title"), t("portal.outcome"), t("portal.detail")], checks.map((each) => [t(`portal.check.${each.check}`), word(each.ok), each.detail]));

const health = ({ titles, authority, ok, checks, days }) => element("section", "health",
  element("h4", "", `${titles.join(", ")}: `, word(ok), " ", ...daysLeft(days)),
  element("p", "quiet", authority),
  checksTable(checks),
);

/** How many are well, in one line; then what is known of the applications, problems first. */
function healthOf(apps) {
  const good = apps.filter(({ ok }) => ok).length;
  const soonest = Math.min(...apps.map(({ days_left: days }) => days ?? Infinity));
  const text = [t("portal.health_good", { good, all: apps.length }), soonest < Infinity && inDays(soonest, "portal.next_expiry_day", "portal.next_expiry")].filter(Boolean).join(" · ");
  announce(text);
  const line = element("p", good === apps.length ? "summary good" : "summary bad", text);
  return [line, ...(apps.length > many ? lines(apps) : groups(apps))];
}

/** A table for each group of applications that fare alike. */
function groups(apps) {
  const groups = new Map();
  for (const { title, authority, ok, checks, days_left: days } of apps) {
    const key = JSON.stringify([authority, checks, days]);
    const group = groups.get(key) ?? { titles: [], authority, ok, checks, days };
    group.titles.push(title);
    groups.set(key, group);
  }
  return [...groups.values()].sort((one, two) => one.ok - two.ok).map(health);
}

/** A line for each of many applications, by name, with a field that finds one; a problem's is open. */
function lines(apps) {
  const sorted = byTitle(apps).sort((one, two) => one.ok - two.ok).map((each) => {
    const { id, title, authority, ok, checks, days_left: days } = each;
    const line = element("summary", "", element("span", "title", title), element("span", "quiet", authority), ...daysLeft(days), word(ok));
    const made = Object.assign(element("details", "health", line, checksTable(checks)), { open: !ok });
    return { made, says: `${title} ${id} ${authority}` };
  });
  const field = finder((matches) => {
    for (const { made, says } of sorted) made.hidden = !matches(says);
  });
  return [field, ...sorted.map(({ made }) => made)];
}

// MARK: Sessions

function session({ key, created, last_seen: seen, accounts, current }, reload) {
  const who = accounts.map(({ app: id, username }) => `${username} (${id})`).join(", ") || t("portal.nobody");
  const made = element("li", "session");
  made.dataset.key = key;
  const box = statusBox();
  const end = async () => {
    await send(`/api/${app}/sessions/${encodeURIComponent(key)}`, { method: "DELETE" });
    announce(t("portal.revoked"));
    if (current) return reload();
    made.replaceChildren(Object.assign(element("p", "quiet", t("portal.revoked")), { tabIndex: -1 }));
    made.firstChild.focus();
  };
  const revoke = button(t("portal.revoke"), async (pressed) => {
    const question = element("p", "", current ? t("portal.revoke_own") : t("portal.revoke_sure", { who }));
    if (!(await ask(t("portal.revoke_title"), question, t("portal.revoke")))) return;
    // After a fresh sign-in the same session is at hand again.
    keep({ ending: key });
    await run(pressed, box, end);
    if (!box.hasChildNodes()) keep({ ending: null });
  }, "small danger");
  const times = element("p", "quiet", t("portal.session_times", { created: dateTime(created), seen: dateTime(seen) }));
  made.append(element("div", "", element("p", "", who, " ", ...(current ? [element("strong", "tag", t("portal.current"))] : [])), times), revoke, box);
  return made;
}

export async function view({ reload }) {
  const healthBox = statusBox();
  const sessionBox = statusBox();
  const results = element("div");
  const list = element("ul");
  const check = (pressed) => run(pressed, healthBox, async () => {
    const { apps } = await get(`/api/${app}/health`);
    results.replaceChildren(...healthOf(apps));
  }, refused);

  let next = null;
  const known = [];
  const made = new Map();
  const rest = folded("", false, element("ul"));
  // The server knows an order in which it gives them out, and not this one.
  const order = element("p", "quiet");
  const more = button(t("portal.more_sessions"), (pressed) => run(pressed, sessionBox, load, refused));
  async function load() {
    const answer = await get(`/api/${app}/sessions${next ? `?${new URLSearchParams({ after: next })}` : ""}`);
    next = answer.next;
    more.hidden = !next;
    known.push(...answer.sessions);
    // One's own, then the newest; what has no account is folded away below.
    known.sort((one, two) => two.current - one.current || Date.parse(two.last_seen) - Date.parse(one.last_seen));
    const row = (each) => made.get(each.key) ?? made.set(each.key, session(each, reload)).get(each.key);
    const [used, unused] = [true, false].map((isUsed) => known.filter(({ accounts, current }) => (accounts.length > 0 || current) === isUsed).map(row));
    list.replaceChildren(...used);
    rest.hidden = unused.length === 0;
    rest.firstChild.textContent = t("portal.empty_sessions", { count: unused.length });
    rest.lastChild.replaceChildren(...unused);
    order.textContent = next ? t("portal.sessions_order", { count: known.length }) : "";
  }
  // The session that was to be ended when the server asked for a fresh sign-in.
  const { ending } = kept();
  const chosen = () => [...list.children, ...rest.lastChild.children].find((each) => each.dataset.key === ending)?.querySelector("button");
  try {
    await load();
    while (ending && !chosen() && next) await load();
  } catch (failure) {
    return [refused(failure)];
  }
  keep({ ending: null });
  // When it is on the page.
  setTimeout(() => chosen()?.focus());
  return [
    element("h3", "", t("portal.health")),
    element("p", "quiet", t("portal.health_note")),
    element("p", "buttons", button(t("portal.check_health"), check)), healthBox, results,
    element("h3", "", t("portal.sessions")), order, list, rest, element("p", "buttons", more), sessionBox,
  ];
}
