// Why something failed, who can fix it and how, with the identifiers that support asks for, ready to copy.

import { app, get } from "./api.js";
import { countdown } from "./countdown.js";
import { element, loadTexts, t } from "./page.js";
import { nativeError } from "./msal-errors.js";
import { run, signIn, signInError } from "./flow.js";

const box = document.getElementById("problem");

function line(term, value) {
  return value ? [element("dt", "", term), " ", element("dd", "mono", value)] : [];
}

/** What an API's refusal means to someone who learns to call one, as title and explanation; nothing where that is not known. */
async function explainAPI({ status, requestID }) {
  const kind = { 403: "forbidden", 404: "missing", 429: "throttled" }[status] ?? (status >= 500 ? "down" : null);
  if (!kind) return {};
  await loadTexts("refusal");
  const who = { forbidden: "administrator", missing: "operator" }[kind] ?? "user";
  return { title: t(`refusal.${kind}.title`), explanation: { number: `HTTP ${status}`, cause: t(`refusal.${kind}.cause`), who, remedy: t(`refusal.${kind}.remedy`) }, requestID };
}

/**
 * Shows what is known beyond the log's line; hides itself when that is nothing, unless it `isSignIn`. What the person cancelled is shown
 * calmly.
 */
export async function showProblem(problem, { isSignIn = false } = {}) {
  await loadTexts("problem");
  const { code, title, explanation, action, correlation_id: correlationID, trace_id: traceID, timestamp, retryAfter, requestID } =
    problem.api ? { ...problem, ...(await explainAPI(problem.api)) } : problem;
  const consent = action?.kind === "admin_consent" ? action.url : null;
  const isCalm = code === "cancelled";
  const again = action?.kind === "sign_in" && !isCalm ? ownAddress(action.url) : null;
  // What the API itself says, MSAL never hears of.
  const msal = problem.api ? null : native(nativeError(code));
  box.hidden = !isSignIn && !explanation && !consent && !retryAfter && !again && !msal;
  if (box.hidden) return;
  box.classList.toggle("calm", isCalm);
  const parts = [element("h2", "", title ?? t("problem.title"))];
  if (explanation) {
    parts.push(element("p", "", explanation.cause), element("p", "", element("strong", "", t(`problem.who.${explanation.who}`)), " ", explanation.remedy));
  }
  if (!explanation && !consent && problem.detail) parts.push(element("p", "", problem.detail));
  if (consent) {
    const link = Object.assign(element("a", "mono", consent), { href: consent });
    parts.push(element("p", "", t("problem.admin_consent"), " ", link));
  }
  if (retryAfter) parts.push(countdown(retryAfter));
  if (again) parts.push(signInButton(again));
  const details = [
    [t("problem.number"), explanation?.number], ["MSAL", msal], [t("problem.correlation_id"), correlationID], [t("problem.trace_id"), traceID],
    [t("problem.request_id"), requestID], [t("problem.time"), timestamp],
  ].filter(([, value]) => value);
  if (details.length > 0) parts.push(element("dl", "", ...details.flatMap(([term, value]) => line(term, value))));
  if (details.length > 0 && !isCalm) parts.push(copyButton([explanation?.cause, consent, ...details.map((each) => each.join(": "))]));
  box.replaceChildren(...parts);
  // What is to be done with the address must not stay out of sight on a phone.
  if (consent) box.scrollIntoView({ block: "nearest" });
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

function signInButton(address) {
  const button = Object.assign(element("button", "small", t("app.sign_in_again")), { type: "button", id: "sign-in-again" });
  button.addEventListener("click", () => run(button, () => signIn(address)));
  return element("p", "", button);
}

function copyButton(lines) {
  const button = Object.assign(element("button", "small", t("problem.copy")), { type: "button" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(lines.filter(Boolean).join("\n"));
      button.textContent = t("common.copied");
    } catch {
      button.textContent = t("common.not_copied");
    }
    setTimeout(() => (button.textContent = t("problem.copy")), 1500);
  });
  return element("p", "", button);
}

/**
 * Shows the failed sign-in that the browser has just come back from, with what its address said where the server knows no more: it
 * remembers nothing of a browser before its first sign-in has begun. The end of a loop is none of the attempts that it remembers.
 */
export async function showSignInFailure({ code, correlationID, retryAfter }) {
  if (code === "sign_in_loop") {
    await loadTexts("loop");
    return showProblem({ code, title: t("loop.title"), explanation: { cause: t("loop.cause"), who: "user", remedy: t("loop.remedy") }, retryAfter });
  }
  const { failure } = await get(`/api/${app}/sign-in-failure`).catch(() => ({}));
  await showProblem(failure ?? { code, detail: signInError(code), correlation_id: correlationID, retryAfter }, { isSignIn: true });
}
