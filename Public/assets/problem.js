// Why something failed, who can mend it and how, with the identifiers that support asks for, ready to copy.

import { app, get } from "./api.js";
import { element } from "./panel.js";

const box = document.getElementById("problem");

const who = { user: "You can mend this", administrator: "An administrator of your organization can mend this", operator: "The operator of this server can mend this" };

function line(term, value) {
  return value ? [element("dt", "", term), element("dd", "mono", value)] : [];
}

/** Shows what is known beyond the log's line; hides itself when that is nothing. */
export function showProblem({ title, explanation, action, correlation_id: correlationID, trace_id: traceID, timestamp, retryAfter }) {
  const consent = action?.kind === "admin_consent" ? action.url : null;
  box.hidden = !explanation && !consent && !retryAfter;
  if (box.hidden) return;
  const parts = [element("h2", "", title ?? "What happened")];
  if (explanation) {
    parts.push(element("p", "", explanation.cause), element("p", "", element("strong", "", `${who[explanation.who]}: `), explanation.remedy));
  }
  if (consent) {
    const link = Object.assign(element("a", "mono", consent), { href: consent });
    parts.push(element("p", "", "Give this address to an administrator, or open it if you are one: ", link));
  }
  if (retryAfter) parts.push(countdown(retryAfter));
  const details = [...line("Number", explanation?.number), ...line("Correlation id", correlationID), ...line("Trace id", traceID), ...line("Time", timestamp)];
  if (details.length > 0) parts.push(element("dl", "", ...details), copyButton([explanation?.number, explanation?.cause, consent, correlationID && `correlation id ${correlationID}`, traceID && `trace id ${traceID}`, timestamp]));
  box.replaceChildren(...parts);
  // What is to be done with the address must not stay out of sight on a phone.
  if (consent) box.scrollIntoView({ block: "nearest" });
}

function copyButton(lines) {
  const button = Object.assign(element("button", "small", "Copy for support"), { type: "button" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(lines.filter(Boolean).join("\n"));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => (button.textContent = "Copy for support"), 1500);
  });
  return element("p", "", button);
}

function countdown(seconds) {
  const text = element("p");
  const until = Date.now() + seconds * 1000;
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    text.textContent = left > 0 ? `You can try again in ${left} s.` : "You can try again now.";
    if (left > 0 && text.isConnected) setTimeout(tick, 1000);
  };
  setTimeout(tick);
  return text;
}

export function clearProblem() {
  box.hidden = true;
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
