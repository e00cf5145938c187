// Why something failed, who can fix it and how, with the identifiers that support asks for, ready to copy.

import { app, get } from "./api.js";
import { countdown } from "./countdown.js";
import { element } from "./element.js";
import { t } from "./strings.js";

const box = document.getElementById("problem");

function line(term, value) {
  return value ? [element("dt", "", term), element("dd", "mono", value)] : [];
}

/** Shows what is known beyond the log's line; hides itself when that is nothing. */
export function showProblem({ title, explanation, action, correlation_id: correlationID, trace_id: traceID, timestamp, retryAfter }) {
  const consent = action?.kind === "admin_consent" ? action.url : null;
  box.hidden = !explanation && !consent && !retryAfter;
  if (box.hidden) return;
  const parts = [element("h2", "", title ?? t("problem.title"))];
  if (explanation) {
    parts.push(element("p", "", explanation.cause), element("p", "", element("strong", "", t(`problem.who.${explanation.who}`)), " ", explanation.remedy));
  }
  if (consent) {
    const link = Object.assign(element("a", "mono", consent), { href: consent });
    parts.push(element("p", "", t("problem.admin_consent"), " ", link));
  }
  if (retryAfter) parts.push(countdown(retryAfter));
  const details = [...line(t("problem.number"), explanation?.number), ...line(t("problem.correlation_id"), correlationID), ...line(t("problem.trace_id"), traceID), ...line(t("problem.time"), timestamp)];
  if (details.length > 0) parts.push(element("dl", "", ...details), copyButton([explanation?.number, explanation?.cause, consent, correlationID && `${t("problem.correlation_id")}: ${correlationID}`, traceID && `${t("problem.trace_id")}: ${traceID}`, timestamp]));
  box.replaceChildren(...parts);
  // What is to be done with the address must not stay out of sight on a phone.
  if (consent) box.scrollIntoView({ block: "nearest" });
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

/** The failed sign-in that the browser has just come back from. */
export async function showSignInFailure() {
  try {
    const { failure } = await get(`/api/${app}/sign-in-failure`);
    if (failure) showProblem(failure);
  } catch {
    // The log's line has said what is known.
  }
}
