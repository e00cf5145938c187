// The explanation of a failed step, in the story: the reason, who can fix it and how, with the identifiers that support asks for, ready
// to copy.

import { app, get } from "../base/api.js";
import { announce, button, copyButton } from "../base/buttons.js";
import { countdown } from "../base/countdown.js";
import { failuresLink, missionLink, missionOfNumber } from "../base/mission-link.js";
import { base, element, loadTexts, ofTab, t, withElements } from "../base/page.js";
import { nativeError, printed } from "../base/msal-errors.js";
import { missionKey, run, signIn, state } from "./flow.js";
import { bringInSight, showView, signInError, source, timeline } from "./panels.js";

/** Where the story is not in sight, the app's view says what has failed, and leads there. */
const notice = element("p", "failure");
document.querySelector(".log").append(notice);
// It takes its room from the log.
new ResizeObserver(bringInSight).observe(document.getElementById("log"));

/** The tutorial's own page has missions, too; those of the others are one of them. */
const missionsPage = document.getElementById("missions") ? app : "ios";

async function wayToMission(number) {
  if (!number?.startsWith("AADSTS")) return [];
  const { platformNumber } = await import("../base/platform-numbers.js");
  return missionLink(missionOfNumber(number, platformNumber(number)?.cause), missionsPage);
}

function line(term, value) {
  return value ? [element("dt", "", term), " ", element("dd", "mono", value)] : [];
}

/** The meaning of an API's refusal to someone who learns to call one, as title and explanation; nothing where that is not known. */
async function explainAPI({ status, requestID }) {
  const kind = { 403: "forbidden", 404: "missing", 429: "throttled" }[status] ?? (status >= 500 ? "down" : null);
  if (!kind) return {};
  await loadTexts("refusal");
  const who = { forbidden: "administrator", missing: "operator" }[kind] ?? "user";
  return {
    title: t(`refusal.${kind}.title`),
    explanation: { number: `HTTP ${status}`, cause: t(`refusal.${kind}.cause`), who, remedy: t(`refusal.${kind}.remedy`) },
    requestID,
  };
}

/**
 * Shows in the failed step what is known beyond the log's line, if that is anything, or if it `isSignIn`. `step`, `settings` and
 * `time` are those of a step that the server does not remember. Returns MSAL's error as the app would print it, if MSAL has one.
 */
export async function showProblem(problem, { step, settings = undefined, time = undefined, isSignIn = false }) {
  await loadTexts("problem");
  const {
    code,
    native: asNative = code,
    title = problem.detail ?? t("problem.title"),
    explanation,
    action,
    correlation_id: correlationID,
    trace_id: traceID,
    timestamp,
    retryAfter,
    requestID,
    provider_error: error,
    provider_words: words,
  } = problem.api ? { ...problem, ...(await explainAPI(problem.api)) } : problem;
  const consent = action?.kind === "admin_consent" ? action.url : null;
  const isCalm = code === "cancelled";
  const again = action?.kind === "sign_in" && !isCalm ? ownAddress(action.url) : null;
  // MSAL never hears of what the API itself says.
  const seen = problem.api ? undefined : nativeError(asNative);
  const msal = native(seen);
  // An app hears nothing of an error that stays on the provider's page.
  const number = asNative === code ? explanation?.number : undefined;
  const shown = seen && printed(seen, { words: words ?? number, oauthError: error, correlationID });
  if (!isSignIn && !explanation && !consent && !retryAfter && !again && !msal && !words) return shown;
  const parts = [element("h3", "", title)];
  if (explanation) {
    const { cause, who, remedy } = explanation;
    if (cause !== title) parts.push(element("p", "", cause));
    if (remedy) parts.push(element("p", "", element("strong", "", t(`problem.who.${who}`)), " ", remedy));
  }
  if (!explanation && !consent && problem.title && problem.detail) parts.push(element("p", "", problem.detail));
  if (words) parts.push(element("p", "", t("problem.provider_words", { words })));
  if (consent) {
    const link = Object.assign(element("a", "mono", consent), { href: consent });
    parts.push(element("p", "", t("problem.admin_consent"), " ", link));
  }
  if (problem.paste) parts.push(element("p", "", Object.assign(element("a", "", problem.paste), { href: `${base}/paste` })));
  announce(parts.map(({ textContent }) => textContent).join(" "));
  if (retryAfter) parts.push(countdown(retryAfter));
  if (again) parts.push(element("p", "", button(t("app.sign_in_again"), (pressed) => run(pressed, () => signIn(again)))));
  const details = [
    [t("problem.number"), explanation?.number],
    [t("problem.provider_error"), explanation || isCalm ? null : error],
    ["MSAL", msal],
    [t("problem.correlation_id"), correlationID],
    [t("problem.trace_id"), traceID],
    [t("problem.request_id"), requestID],
    [t("problem.time"), timestamp],
  ].filter(([, value]) => value);
  // The step itself says by which id it is found.
  const shownHere = details.filter(([, value]) => value !== (correlationID ?? requestID));
  if (shownHere.length > 0) parts.push(element("dl", "", ...shownHere.flatMap(([term, value]) => line(term, value))));
  const lines = [explanation?.cause, consent, ...details.map((each) => each.join(": "))].filter(Boolean);
  if (details.length > 0 && !isCalm) parts.push(element("p", "", copyButton(t("problem.copy"), () => lines.join("\n"))));
  // A mission has said what it makes fail.
  const isOfMission = ofTab.get(missionKey) || document.querySelector(".mission-line.done:not([hidden])");
  if (failuresLink && !isCalm && !isOfMission) {
    parts.push(...await wayToMission(explanation?.number));
    const failures = Object.assign(element("a", "", failuresLink.textContent), { href: failuresLink.href });
    parts.push(element("p", "on-purpose", ...withElements(t("problem.on_purpose"), { failures })));
  }
  const box = element("div", "problem", ...parts);
  const outcome = code ?? `http_${problem.api.status}`;
  state.failures.push({
    step,
    outcome,
    number: explanation?.number,
    correlation_id: correlationID ?? requestID,
    settings,
    time,
    problem: box,
  });
  timeline.update({ isClosedToo: true });
  notice.replaceChildren(element("span", isCalm ? "" : "bad", title), button(t("panel.timeline"), () => lead(box)));
  return shown;
}

const signed = (number) => String(number).replace("-", "−");

/** MSAL's own error, as `MSALErrorDomain −50002 (MSALErrorInteractionRequired)`; null where it has none. */
function native(error) {
  if (!error) return null;
  const { domain, code, name, internal } = error;
  return `${domain} ${signed(code)} (${name}${internal ? `, ${signed(internal.code)} ${internal.name}` : ""})`;
}

/** An address of ours; null for any other. */
function ownAddress(address) {
  const url = new URL(address, location.origin);
  return url.origin === location.origin ? url.href : null;
}

async function lead(box) {
  showView("story");
  await timeline.update();
  const step = box.closest(".step");
  step?.dispatchEvent(new Event("visit"));
  step?.querySelector("button").focus();
}

/**
 * Shows the failed sign-in that the browser has just come back from, with what its address said where the server knows no more: it
 * remembers nothing of a browser before its first sign-in has begun. The end of a loop is none of the attempts that it remembers.
 */
export async function showSignInFailure({ code, correlationID, retryAfter }, settings) {
  const step = { step: "authorize", settings, isSignIn: true };
  if (code === "sign_in_loop") {
    await loadTexts("loop");
    return showProblem({
      code,
      title: t("loop.title"),
      explanation: { cause: t("loop.cause"), who: "user", remedy: t("loop.remedy") },
      retryAfter,
    }, step);
  }
  const { failure } = await get(`/api/${app}/sign-in-failure`).catch(() => ({}));
  return showProblem(failure ?? { code, detail: signInError(code), correlation_id: correlationID, retryAfter }, step);
}

/**
 * Shows that nothing came back from the provider's page, in the demo with the number of the error that `ended` the sign-in there, and
 * `time` if that was before. Returns the step's outcome, and the error that the app would print when the page is closed.
 */
export async function showUnreturned(ended, settings, time) {
  await loadTexts("problem");
  const number = ended && await import("../base/platform-numbers.js").then(({ explanationOf }) => explanationOf(ended.number));
  const code = number?.number ?? "cancelled";
  // The remedy is that of an app; a mission's trip, which has no settings, sends an app's redirect URI.
  const { client } = number?.who === "developer" && settings ? await source.story().catch(() => ({})) : {};
  if (client) number.remedy += ` ${t("problem.sent_uri", { uri: client.redirect_uri })}`;
  const printed = await showProblem({
    code,
    native: "cancelled",
    title: number?.cause ?? t("problem.no_return.title"),
    explanation: number ?? { cause: t("problem.no_return.cause") },
    correlation_id: ended?.correlationID,
    paste: number ? undefined : t("problem.no_return.paste"),
  }, { step: "unreturned", settings, time, isSignIn: true });
  return { code, printed };
}
