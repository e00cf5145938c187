// What just happened in this session: each step with its outcome, the line of the tutorial that it stands for, and the
// correlation id to find it by.

import { app, get } from "./api.js";
import { element } from "./element.js";
import { lines } from "./msal-lines.js";
import { signInError } from "./sign-in-error.js";
import { language, loadTexts, t, withElements } from "./strings.js";

const page = lines[document.body.dataset.page] ? document.body.dataset.page : "ios";

const empty = element("p", "empty");
const flows = element("div", "flows");

/** Makes the panel's content: who does what, and the room for the flows. */
export async function fill(box) {
  await loadTexts("timeline");
  box.append(element("div", "legend",
    element("h2", "", t("timeline.legend")),
    role(t("timeline.app_does"), t("timeline.app")),
    role(t("timeline.msal_does"), t("timeline.msal")),
    role(t("timeline.server_does"), t("timeline.server")),
  ), empty, flows);
}

const role = (sentence, name) => element("p", "", ...withElements(sentence, { name: element("strong", "", name) }));

/** Loads the steps again. */
export async function update() {
  let found = [];
  empty.textContent = t("timeline.nothing");
  try {
    const { events } = await get(`/api/${app}/events`);
    found = grouped(events);
  } catch (failure) {
    empty.textContent = failure.message;
  }
  flows.replaceChildren(...found.reverse().map((steps) => element("ol", "flow", ...steps.map(step))));
  empty.hidden = found.length > 0;
}

const fine = new Set(["ok", "cache", "refreshed"]);

const longestPause = 3000; // milliseconds from one step of a flow to the next, unless the person is at the provider

/** The steps of each flow, oldest first: one press of a button, and what came of it. */
function grouped(events) {
  const flows = [];
  let previous;
  for (const event of events) {
    if (!previous || begins(event, previous)) flows.push([]);
    flows.at(-1).push(event);
    previous = event;
  }
  return flows;
}

function begins(event, previous) {
  if (event.step === "callback" || (event.attempt != null && event.attempt === previous.attempt)) return false;
  if (event.step === "sign_out" || previous.step === "sign_out") return true;
  if (Date.parse(event.time) - (event.duration_ms ?? 0) - Date.parse(previous.time) > longestPause) return true;
  // What failed is often mended within the same flow: by a sign-in, or by another token.
  if (!fine.has(previous.outcome)) return false;
  return event.step === "authorize" || previous.step === "api" || (event.step === "token" && previous.step === "token" && previous.attempt == null);
}

/** How a token came is a step of its own in the tutorial; what this page asks for only to show it, is none. */
function name({ step, outcome }, previous) {
  if (step !== "token") return step;
  if (outcome === "cache" && previous?.step === "token" && previous.outcome === "ok") return "shown";
  return { ok: "redeemed", cache: "cached", refreshed: "refreshed" }[outcome] ?? "silent";
}

function step(event, index, flow) {
  const { time, outcome, duration_ms: duration, endpoint, correlation_id: id } = event;
  const kind = name(event, flow[index - 1]);
  const good = fine.has(outcome);
  const facts = [
    Object.assign(element("time", "", new Date(time).toLocaleTimeString(language, { hour12: false })), { dateTime: time }),
    duration == null ? "" : ` · ${t("timeline.took", { milliseconds: Math.round(duration) })}`,
  ];
  const parts = [
    element("p", "step-head", element("strong", "", t(`timeline.step.${kind}`)), " ",
      element("span", good ? "outcome good" : "outcome bad", good ? t("timeline.done") : t("timeline.failed", { code: outcome }))),
    element("p", "step-facts", ...facts),
  ];
  // The sentence for a failed sign-in says more than its code.
  if (!good && kind === "callback") parts.push(element("p", "bad", signInError(outcome)));
  if (lines[page][kind]) parts.push(element("pre", "", element("code", "", lines[page][kind])));
  parts.push(element("p", "", does(kind)));
  const found = [...findable(t("timeline.endpoint"), endpoint), ...findable(t("timeline.correlation_id"), id)];
  if (found.length > 0) parts.push(element("dl", "", ...found));
  return element("li", "step", ...parts);
}

const findable = (term, value) => (value ? [element("dt", "", term), element("dd", "mono", value)] : []);

function does(kind) {
  if (kind === "callback" && page === "macos") return t("timeline.does.callback_web_view");
  if (kind === "sign_out" && page === "b2c") return t("timeline.does.remove");
  return t(`timeline.does.${kind}`);
}
