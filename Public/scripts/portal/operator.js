// For the operator: whether all applications are well, and who has a session here.

import { app, get, send } from "../base/api.js";
import { element, t } from "../base/page.js";
import { appOnly } from "./app-only.js";
import { ask } from "./dialog.js";
import { keep, kept } from "./form.js";
import { announce, button, byTitle, dateTime, explained, finder, folded, many, run, signInButton, statusBox, table } from "./parts.js";
import { signInAddress } from "../base/return-trip.js";

/** No account is signed in to the portal itself, or one that may not see this; the server says who may. */
function refused(failure) {
  if (failure.code !== "interaction_required") return explained(failure);
  return element(
    "div",
    "",
    element("p", "", t("portal.operator_only")),
    element("p", "buttons", signInButton(t("portal.sign_in_here"), signInAddress())),
  );
}

// MARK: Health

const states = { good: "good", advice: "advice", mistake: "bad", unknown: "unknown" };

/** An application's state: where only a sign-in can show something, no problem was found, and it is not said to be good. */
const stateText = (state) => (state === "unknown" ? t("portal.no_problem") : t(`portal.${states[state]}`));

const word = (severity, text = t(`portal.${states[severity]}`)) =>
  element("strong", severity === "good" ? "good" : severity === "mistake" ? "bad" : "quiet", text);

/** A text with a number of days; a single one has a text of its own. */
const inDays = (days, one, several) => (days === 1 ? t(one) : t(several, { days: Math.max(0, days) }));

const daysLeft = (
  days,
) => (days == null ? [] : [element("span", days < 30 ? "tag bad" : "tag", inDays(days, "portal.day_left", "portal.days_left"))]);

const checksTable = (checks) =>
  table(
    [t("portal.check_title"), t("portal.outcome"), t("portal.detail")],
    checks.map((each) => [t(`portal.check.${each.check}`), word(each.severity), each.detail]),
  );

const health = ({ titles, authority, state, checks, days }) =>
  element(
    "section",
    "health",
    element("h4", "", `${titles.join(", ")}: `, word(state, stateText(state)), " ", ...daysLeft(days)),
    element("p", "quiet", authority),
    checksTable(checks),
  );

/** The findings that have appeared and gone since the last check. */
function changesOf(changes, last, titleOf) {
  if (!last) return [];
  const since = element("p", "quiet", t(changes.length > 0 ? "portal.changed_since" : "portal.unchanged_since", { time: dateTime(last) }));
  if (changes.length === 0) return [since];
  const rows = changes.map(({ change, app: id, check, detail }) =>
    element(
      "li",
      "",
      element("strong", change === "gone" ? "good" : "bad", t(`portal.change.${change}`)),
      ` ${titleOf(id)}, ${t(`portal.check.${check}`)}: ${detail}`,
    )
  );
  return [since, element("ul", "changes", ...rows)];
}

/** The worst first; what is not known is neither good nor bad. */
const order = ["mistake", "advice", "unknown", "good"];
const byState = (one, two) => order.indexOf(one.state) - order.indexOf(two.state);

/** One line counts those that are well and all others; then come the changes, and the applications, the worst first. */
function healthOf({ apps, changes, last, at }, again) {
  const count = (state) => apps.filter((each) => each.state === state).length;
  const good = count("good");
  const others = order.slice(0, -1).filter(count).map((state) => `${stateText(state)}: ${count(state)}`);
  const soonest = Math.min(...apps.map(({ days_left: days }) => days ?? Infinity));
  const text = [
    t("portal.health_good", { good, all: apps.length }),
    ...others,
    soonest < Infinity && inDays(soonest, "portal.next_expiry_day", "portal.next_expiry"),
  ].filter(Boolean).join(" · ");
  const line = element(
    "p",
    ["summary", good === apps.length ? "good" : count("mistake") + count("advice") > 0 ? "bad" : ""].join(" ").trim(),
    text,
  );
  const titleOf = (id) => apps.find((each) => each.id === id)?.title ?? id;
  return [
    line,
    element("p", "quiet", t("portal.checked_at", { time: dateTime(at) })),
    ...changesOf(changes, last, titleOf),
    ...(apps.length > many ? lines(apps, again) : groups(apps)),
  ];
}

/** A table for each group of applications that fare alike. */
function groups(apps) {
  const groups = new Map();
  for (const { title, authority, state, checks, days_left: days } of apps) {
    const key = JSON.stringify([authority, checks, days]);
    const group = groups.get(key) ?? { titles: [], authority, state, checks, days };
    group.titles.push(title);
    groups.set(key, group);
  }
  return [...groups.values()].sort(byState).map(health);
}

/** The filters beside the field that finds words: by kind, tenant, state, days to expiry. */
function filters(apps, changed) {
  const choice = (name, values, label = (value) => value) => {
    const select = Object.assign(element("select"), { ariaLabel: t(`portal.filter.${name}`) });
    select.append(new Option(t(`portal.filter.${name}`), ""), ...values.map((value) => new Option(label(value), value)));
    select.addEventListener("change", changed);
    return select;
  };
  const of = (name) => [...new Set(apps.map((each) => each[name]))].sort();
  const made = {
    kind: choice("kind", of("kind")),
    authority: choice("tenant", of("authority")),
    state: choice("state", of("state"), stateText),
    days: choice("days", [7, 30, 90], (days) => t("portal.within_days", { days })),
  };
  const isWanted = (each) =>
    ["kind", "authority", "state"].every((name) => !made[name].value || made[name].value === each[name]) &&
    (!made.days.value || (each.days_left != null && each.days_left <= Number(made.days.value)));
  return { bar: element("p", "filters", ...Object.values(made)), isWanted };
}

/** A line for each of many applications, the worst first and then by name, with fields that find some; a problem's is open. */
function lines(apps, again) {
  let matches = (_) => true;
  const show = () => {
    for (const { made, says, each } of sorted) made.hidden = !matches(says) || !isWanted(each);
  };
  const { bar, isWanted } = filters(apps, show);
  const sorted = byTitle(apps).sort(byState).map((each) => {
    const { id, title, authority, state, checks, days_left: days } = each;
    const line = element(
      "summary",
      "",
      element("span", "title", title),
      element("span", "quiet", authority),
      ...daysLeft(days),
      word(state, stateText(state)),
    );
    const one = button(t("portal.check_one"), (pressed) => again(pressed, id), "small");
    const made = Object.assign(element("details", "health", line, checksTable(checks), element("p", "buttons", one)), {
      open: state === "mistake" || state === "advice",
    });
    return { made, each, says: `${title} ${id} ${authority}` };
  });
  const field = finder((found) => {
    matches = found;
    show();
  });
  return [field, bar, ...sorted.map(({ made }) => made)];
}

/** One request checks as many as this; four requests are under way at a time. */
const batch = 5;

/** Checks all applications, some at a time, and says how far it is; `known` keeps those that are not checked now. */
async function checkAll(ids, progress, isStopped) {
  const rest = Array.from({ length: Math.ceil(ids.length / batch) }, (_, index) => ids.slice(index * batch, (index + 1) * batch));
  const found = { apps: [], changes: [], last: null, at: null };
  const later = (one, other) => [one, other].filter(Boolean).sort().at(-1) ?? null;
  const work = async () => {
    for (let part = rest.shift(); part && !isStopped(); part = rest.shift()) {
      const came = await get(`/api/${app}/health?${new URLSearchParams({ applications: part.join(",") })}`);
      found.apps.push(...came.apps);
      found.changes.push(...came.changes);
      found.last = later(found.last, came.last_checked_at);
      found.at = later(found.at, came.checked_at);
      progress(found.apps.length);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return found;
}

// MARK: Sessions

function session({ key, created, last_seen: seen, accounts, current }, mayEnd, reload) {
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
    const question = element("div", "", element("p", "", current ? t("portal.revoke_own") : t("portal.revoke_sure", { who })));
    // Sessions of the same people differ by nothing else.
    question.append(times.cloneNode(true));
    if (!(await ask(t("portal.revoke_title"), question, t("portal.revoke")))) return;
    // After a fresh sign-in the same session is at hand again.
    keep({ ending: key });
    await run(pressed, box, end);
    if (!box.hasChildNodes()) keep({ ending: null });
  }, "small danger");
  const times = element("p", "quiet", t("portal.session_times", { created: dateTime(created), seen: dateTime(seen) }));
  made.append(
    element("div", "", element("p", "", who, " ", ...(current ? [element("strong", "tag", t("portal.current"))] : [])), times),
    ...(mayEnd ? [revoke, box] : []),
  );
  return made;
}

export async function view({ apps, reload }) {
  const healthBox = statusBox();
  const sessionBox = statusBox();
  const results = element("div");
  const list = element("ul");
  let checked = null;
  const ids = apps.map(({ id }) => id);
  const show = () =>
    results.replaceChildren(...healthOf(checked, (pressed, id) =>
      run(pressed, healthBox, async () => {
        const found = await checkAll([id], () => {}, () => false);
        checked = { ...found, apps: [...checked.apps.filter((each) => each.id !== id), ...found.apps] };
        show();
      }, refused)));
  const check = (pressed) =>
    run(pressed, healthBox, async () => {
      let isStopped = false;
      const bar = Object.assign(element("progress"), { max: ids.length, value: 0, ariaLabel: t("portal.checking") });
      const text = element("span", "quiet", t("portal.checked_of", { done: 0, all: ids.length }));
      results.replaceChildren(element(
        "p",
        "progress",
        bar,
        " ",
        text,
        " ",
        button(t("portal.stop_checking"), () => {
          isStopped = true;
        }, "small"),
      ));
      try {
        checked = await checkAll(ids, (done) => {
          bar.value = done;
          text.textContent = t("portal.checked_of", { done, all: ids.length });
        }, () => isStopped);
      } catch (failure) {
        results.replaceChildren();
        throw failure;
      }
      show();
      announce(results.querySelector(".summary").textContent);
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
    const row = (each) => made.get(each.key) ?? made.set(each.key, session(each, answer.may_end, reload)).get(each.key);
    const [used, unused] = [true, false].map((isUsed) =>
      known.filter(({ accounts, current }) => (accounts.length > 0 || current) === isUsed).map(row)
    );
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
  // The findings of the last checks are there without a press.
  const before = await get(`/api/${app}/health?known=true`).catch(() => null);
  if (before?.checked_at) {
    checked = { apps: before.apps, changes: [], last: null, at: before.checked_at };
    show();
  }
  // When it is on the page.
  setTimeout(() => chosen()?.focus());
  return [
    element("h3", "", t("portal.health")),
    element("p", "quiet", t("portal.health_note")),
    element("p", "buttons", button(t("portal.check_health"), check)),
    healthBox,
    results,
    element("h3", "", t("portal.sessions")),
    order,
    list,
    rest,
    element("p", "buttons", more),
    sessionBox,
    ...appOnly(apps),
  ];
}
