// For the operator: whether all applications are well, and who has a session here.

import { app, get, send } from "./api.js";
import { element, t } from "./page.js";
import { ask } from "./portal-dialog.js";
import { keep, kept } from "./portal-form.js";
import { announce, button, dateTime, explained, folded, run, signInButton, statusBox, table } from "./portal-parts.js";
import { signInAddress } from "./return-trip.js";

/** No account is signed in to the portal itself, or one that may not see this; the server says who may. */
function refused(failure) {
  if (failure.code !== "interaction_required") return explained(failure);
  return element("div", "", element("p", "", t("portal.operator_only")), element("p", "buttons", signInButton(t("portal.sign_in_here"), signInAddress())));
}

// MARK: Health

const word = (isGood) => element("strong", isGood ? "good" : "bad", isGood ? t("portal.good") : t("portal.bad"));

const daysLeft = (days) => (days == null ? [] : [" ", element("span", days < 30 ? "tag bad" : "tag", t("portal.days_left", { days: Math.max(0, days) }))]);

const health = ({ titles, authority, ok, checks, days }) => element("section", "health",
  element("h4", "", `${titles.join(", ")}: `, word(ok), ...daysLeft(days)),
  element("p", "quiet", authority),
  table([t("portal.check_title"), t("portal.outcome"), t("portal.detail")], checks.map((each) => [t(`portal.check.${each.check}`), word(each.ok), each.detail])),
);

/** How many are well, in one line; then a table for each group of applications that fare alike, problems first. */
function healthOf(apps) {
  const groups = new Map();
  for (const { title, authority, ok, checks, days_left: days } of apps) {
    const key = JSON.stringify([authority, checks, days]);
    const group = groups.get(key) ?? { titles: [], authority, ok, checks, days };
    group.titles.push(title);
    groups.set(key, group);
  }
  const good = apps.filter(({ ok }) => ok).length;
  const soonest = Math.min(...apps.map(({ days_left: days }) => days ?? Infinity));
  const text = [t("portal.health_good", { good, all: apps.length }), soonest < Infinity && t("portal.next_expiry", { days: Math.max(0, soonest) })].filter(Boolean).join(" · ");
  announce(text);
  const line = element("p", good === apps.length ? "summary good" : "summary bad", text);
  return [line, ...narrowed([...groups.values()].sort((one, two) => one.ok - two.ok).map(health))];
}

/** So many are looked through by eye; of more, a field finds those with a name. */
const manyGroups = 8;

function narrowed(sections) {
  if (sections.length <= manyGroups) return sections;
  const field = Object.assign(element("input", "narrow"), { type: "search", placeholder: t("portal.narrow"), ariaLabel: t("portal.narrow") });
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLocaleLowerCase();
    for (const each of sections) each.hidden = !each.firstChild.textContent.toLocaleLowerCase().includes(wanted);
  });
  return [field, ...sections];
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
    element("h3", "", t("portal.sessions")), list, rest, element("p", "buttons", more), sessionBox,
  ];
}
