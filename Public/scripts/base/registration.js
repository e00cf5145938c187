// A registration in a list, of the portal and of a team's home page: its state, how long its credential lasts, its last failure.

import { element, language, t } from "./page.js";

/** The state in words: where only a sign-in can show something, no problem was found, and it is not said to be good. */
const stateText = (state) => t(`registration.${state}`);

export const stateWord = (state, text = stateText(state)) =>
  element("strong", state === "good" ? "good" : state === "mistake" ? "bad" : "quiet", text);

/** The day in UTC, by which configurations and registrations name it; no line breaks within it. */
const dayOf = (time) => new Date(time).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" }).replaceAll(" ", "\u00a0");

const day = 86_400_000;

/** The days from today to the day that is said, by the person's calendar; a whole day less is left late in the evening. */
function daysTo(time) {
  const now = new Date();
  return Math.floor(Date.parse(time) / day) - Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / day;
}

/** When its credential expires, or did; empty if nobody knows. */
function expiry({ credential, credential_expires: time, days_left: days }) {
  if (time == null) return "";
  const left = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(Math.max(daysTo(time), 0), "day");
  return t(days < 0 ? "registration.expired" : "registration.expires", {
    credential: t(`registration.${credential}`),
    date: dayOf(time),
    left,
  });
}

/** The detail of a check, with the day of what expires as people write it. A name before it may have a day, too. */
export function dated({ detail, expires }) {
  const at = expires ? detail.lastIndexOf(expires.slice(0, 10)) : -1;
  return at < 0 ? detail : detail.slice(0, at) + dayOf(expires) + detail.slice(at + 10);
}

/** A day and a time, as short as they are clear. */
export const briefly = (value) => new Date(value).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });

/** By name, with numbers in their order. */
export const byTitle = (apps) => [...apps].sort((one, two) => one.title.localeCompare(two.title, language, { numeric: true }));

/** The registrations, each with its id beside a title that another has, too. */
export function distinct(apps) {
  const repeats = ({ title }) => apps.filter((each) => each.title === title).length > 1;
  return apps.map((each) => (repeats(each) ? { ...each, title: `${each.title} (${each.id})` } : each));
}

/** Failing ones first, then those that end soonest; the rest stays in its order. */
export function worstFirst(apps) {
  const rank = ({ state, last_failure: failure }) => (state === "mistake" ? 0 : failure ? 1 : state === "advice" ? 2 : 3);
  const days = ({ days_left: left }) => left ?? Number.MAX_VALUE;
  return [...apps].sort((one, two) => rank(one) - rank(two) || days(one) - days(two));
}

/** Whether a check has found something to do. */
const hasFinding = (state) => ["mistake", "advice"].includes(state);

/** Whether it does not work, as far as this is told: a check has found a problem, or the last sign-in failed. */
export const isFailing = ({ state, last_failure: failure }) => state === "mistake" || Boolean(failure);

/** The tab of the portal that says what is wrong: the last check has a finding, or a sign-in alone does. */
export const tabOf = ({ state, last_failure: failure }) => (failure && !hasFinding(state) ? "attempts" : "health");

/** Of one that was never checked, what is known without a check: when its credential expires. */
export const unchecked = (known) =>
  expiry(known) ? t("registration.not_checked_expiry", { expiry: expiry(known) }) : t("registration.not_checked");

/** All that an operator reads of it at a glance; nothing for others, who are not told. `isChecked`: whether any registration is. */
export function marks(known, isChecked) {
  const { state, days_left: days, last_failure: failure } = known;
  const ends = expiry(known);
  return [
    // Nobody reads that nothing is wrong beside a failure.
    ...(state
      ? (failure && !hasFinding(state) ? [] : [stateWord(state)])
      : state === null && isChecked
      ? [element("strong", "quiet", t("registration.not_checked"))]
      : []),
    ...(ends ? [element("span", days < 30 ? "tag bad" : "tag", ends)] : []),
    ...(failure
      ? [element("span", "bad", t("registration.failed", { code: failure.number ?? failure.code, time: briefly(failure.time) }))]
      : []),
  ];
}

/** One line says what there is to do, and when it was found; where only sign-ins can show more, no problem was found. */
export function summaryOf({ apps, checked_at: at }) {
  if (!at) return [t("registration.not_checked")];
  const counts = ["mistake", "advice"].map((state) => [stateText(state), apps.filter((each) => each.state === state).length]);
  counts.push([t("registration.failing"), apps.filter(({ last_failure: failure }) => failure).length]);
  const problems = counts.filter(([, count]) => count).map(([word, count]) => `${word}: ${count}`);
  const [soonest] = apps.filter(expiry).sort((one, two) => one.days_left - two.days_left);
  const parts = [
    ...(problems.length > 0 ? problems : [stateText("unknown")]),
    ...(soonest ? [`${soonest.title}: ${expiry(soonest)}`] : []),
  ];
  return [element("strong", "", parts.join(" · ")), " ", t("registration.checked_at", { time: briefly(at) })];
}
