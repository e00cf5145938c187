// The pieces of the portal's views: facts, tables, buttons, explained failures.

import { app, Failure, leave, signInAddress } from "../base/api.js";
import { base, element, language, t } from "../base/page.js";
import { button } from "../base/buttons.js";
import { briefly } from "../base/registration.js";

export const time = (value) => new Date(value).toLocaleTimeString(language);
export { briefly as dateTime };

/** The time of day, with its date where that is not today's. */
export const moment = (value) => (new Date(value).toDateString() === new Date().toDateString() ? time(value) : briefly(value));

const units = new Intl.NumberFormat(language, { style: "unit", unit: "millisecond", maximumFractionDigits: 1 });
export const milliseconds = (value) => (value == null ? "" : units.format(value < 10 ? value : Math.round(value)));

/** The outcome of a step of an attempt with this `problem`, in words. */
export function stepOutcome(outcome, problem) {
  const words = { ok: t("portal.succeeded"), cache: t("portal.from_cache"), refreshed: t("portal.refreshed") };
  const status = outcome.match(/^http_(\d+)$/);
  return words[outcome] ?? (status ? `HTTP ${status[1]}` : outcome === problem?.code ? problem.title : t("portal.refused"));
}

/** A list of terms with their values; what has no value is left out. */
export function facts(rows) {
  const known = rows.filter(([, value]) => value != null && value !== "");
  return element("dl", "facts", ...known.flatMap(([term, value]) => [element("dt", "", term), element("dd", "", value)]));
}

/** A table with these column titles; a row is a list of its cells. */
export function table(titles, rows) {
  const head = titles.map((title) => Object.assign(element("th", "", title), { scope: "col" }));
  const body = rows.map((cells) => element("tr", "", ...cells.map((cell) => element("td", "", cell))));
  const made = element(
    "div",
    "scroll",
    element("table", "", element("thead", "", element("tr", "", ...head)), element("tbody", "", ...body)),
  );
  return Object.assign(made, { tabIndex: 0 });
}

/** A box for news that come and go, which a screen reader reads out. */
export function statusBox() {
  const box = element("div");
  box.setAttribute("role", "status");
  return box;
}

export const folded = (title, open, ...content) =>
  Object.assign(element("details", "folded", element("summary", "", title), ...content), { open });

export * from "../base/buttons.js";

/** Runs the work with its button busy; a failure is explained in the box. */
export async function run(pressed, box, work, explain = explained) {
  if (pressed.hasAttribute("aria-busy")) return;
  pressed.setAttribute("aria-busy", "true");
  box?.replaceChildren();
  try {
    await work();
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    box?.replaceChildren(explain(failure));
  } finally {
    pressed.removeAttribute("aria-busy");
  }
}

/** Leaves for a sign-in that comes back to the portal. */
export function signInButton(label, address) {
  const url = new URL(address, location.origin);
  url.searchParams.set("return_to", `${base}/${app}`);
  return button(label, (pressed) => run(pressed, null, () => leave(url)));
}

// MARK: Failures

/** Support asks for these. */
export const identifiers = ({ explanation, code, provider_error: error, correlation_id: correlation, trace_id: trace, timestamp }) => [
  [t("problem.number"), explanation?.number],
  [t("portal.code"), code],
  [t("problem.provider_error"), error],
  [t("problem.correlation_id"), correlation],
  [t("problem.trace_id"), trace],
  [t("problem.time"), timestamp],
];

/** A Failure, or the problem of an attempt: what happened, who can fix it and how, and the identifiers. */
export function explained(problem, ...buttons) {
  const { title, message, detail, explanation, action, signInURL, provider_words: words } = problem;
  const parts = [element("h3", "", title ?? t("problem.title")), element("p", "", explanation?.cause ?? detail ?? message)];
  if (explanation) parts.push(element("p", "", element("strong", "", t(`problem.who.${explanation.who}`)), " ", explanation.remedy));
  if (words) parts.push(element("p", "", t("problem.provider_words", { words })));
  if (action?.kind === "admin_consent") {
    parts.push(element("p", "", t("problem.admin_consent"), " ", Object.assign(element("a", "mono", action.url), { href: action.url })));
  }
  if (signInURL) buttons.unshift(signInButton(t("portal.sign_in_again"), signInURL));
  return element("section", "problem", ...parts, facts(identifiers(problem)), element("p", "buttons", ...buttons));
}

/** Some errors end on the provider's own page, and nobody but the person who looks at it hears of them. */
export function noReturn() {
  const explain = Object.assign(element("a", "", t("problem.no_return.paste")), { href: `${base}/paste` });
  return element("p", "", t("portal.no_return"), " ", explain);
}

/** No account is signed in to the portal itself, or one that may not see this; the server says who may. */
export function refused(failure) {
  // Of an account that is signed in, the title of this problem would not be true.
  if (failure.code === "access_denied") {
    return element("div", "", element("p", "", t("portal.needs_role")), element("p", "quiet", failure.message));
  }
  if (failure.code !== "interaction_required") return explained(failure);
  // In the demo, the account that everybody reads of may see it.
  const account = document.getElementById("demo-account")?.dataset.operator;
  const signIn = signInButton(t("portal.sign_in_here"), signInAddress(account ? { login_hint: account, prompt: "if_necessary" } : {}));
  signIn.className = "primary";
  return element(
    "div",
    "for-operator",
    element("p", "", t("portal.operator_only")),
    ...(account ? [element("p", "", t("portal.operator_demo", { account }))] : []),
    element("p", "buttons", signIn),
  );
}
