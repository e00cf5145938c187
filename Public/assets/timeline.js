// What just happened in this session: each step as it happens, with its outcome, the lines of the tutorial and the request that it
// stands for, and the correlation id to find it by.

import { app, get } from "./api.js";
import { element } from "./element.js";
import { request } from "./step-request.js";
import { signInError } from "./sign-in-error.js";
import { language, loadTexts, t, withElements } from "./strings.js";

const page = document.body.dataset.page;

const empty = element("p", "empty");
const flows = element("div", "flows");

/** Makes the panel's content: who does what, and the room for the flows. */
export async function fill(box) {
  await Promise.all([loadTexts("timeline"), loadTexts("sign_in")]);
  box.append(element("details", "legend", element("summary", "", t("timeline.legend")),
    role(t("timeline.app_does"), t("timeline.app")),
    role(t("timeline.msal_does"), t("timeline.msal")),
    role(t("timeline.server_does"), t("timeline.server")),
  ), empty, flows);
  // A step has ended where a token, an answer of the API or the end of a sign-out has come.
  new PerformanceObserver((list) => list.getEntries().some(({ name }) => /\/(token|me|sign-out)$/.test(name)) && update()).observe({ type: "resource" });
}

const role = (sentence, name) => element("p", "", ...withElements(sentence, { name: element("strong", "", name) }));

/** The steps that have been shown, so that a new one arrives; null until the first answer, of which all is past. */
let known = null;
/** The newest answer counts, whatever order they come in. */
let asked = 0;

/** Loads the steps again. */
export async function update() {
  const turn = ++asked;
  let answer = { events: [], attempts: [] };
  empty.textContent = t("timeline.nothing");
  try {
    answer = await get(`/api/${app}/events`);
  } catch (failure) {
    empty.textContent = failure.message;
  }
  if (turn !== asked) return;
  const settings = new Map((answer.attempts ?? []).map(({ id, settings }) => [id, settings]));
  const found = grouped(answer.events);
  const isReturn = known === null && found.length > 0 && performance.now() < 10_000;
  const fresh = [];
  const lists = found.map((steps, index) => element("ol", "flow", ...steps.map((event, place) => {
    const shown = step(event, place, steps, settings.get(event.attempt));
    // After a trip to the provider the newest flow is what just happened, and arrives.
    const isNew = known ? !known.has(key(event)) : isReturn && index === found.length - 1;
    if (isNew) fresh.push(shown);
    return shown.item;
  })));
  flows.replaceChildren(...lists.reverse());
  empty.hidden = found.length > 0;
  if (known || isReturn) arrive(fresh);
  known = new Set(answer.events.map(key));
}

const key = ({ time, step, outcome }) => `${time} ${step} ${outcome}`;

const pace = 450; // milliseconds from one step that arrives to the next
let arriving = [];

/** Steps arrive one after the other, each with its lines lit; at once for those who want no motion. */
function arrive(steps) {
  for (const timer of arriving) clearTimeout(timer);
  arriving = [];
  const wait = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : pace;
  steps.forEach(({ item, tell }, index) => {
    item.classList.add("waiting");
    arriving.push(setTimeout(() => {
      item.classList.replace("waiting", "arriving");
      choose(item, tell);
    }, index * wait));
  });
}

/** Makes a step the present one: its lines are lit, its request is shown. */
function choose(item, tell) {
  for (const other of flows.querySelectorAll(".step.now")) other.classList.remove("now");
  item.classList.add("now");
  tell();
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

/** The step of the program: what edits a profile has lines of its own. */
const lineStep = (kind, attempt) => (attempt?.policy === "edit_profile" && ["authorize", "redeemed"].includes(kind) ? "edit_profile" : kind);

/** A step as an item of its list, and `tell`, which has its lines lit and its request shown. */
function step(event, index, flow, attempt) {
  const { time, outcome, duration_ms: duration, endpoint, correlation_id: id } = event;
  const kind = name(event, flow[index - 1]);
  const good = fine.has(outcome);
  const title = t(`timeline.step.${kind}`);
  const sent = request(kind, event, attempt);
  const facts = [
    Object.assign(element("time", "", new Date(time).toLocaleTimeString(language, { hour12: false })), { dateTime: time }),
    duration == null ? "" : ` · ${t("timeline.took", { milliseconds: Math.round(duration) })}`,
  ];
  const button = Object.assign(element("button", "step-name", title), { type: "button" });
  button.setAttribute("aria-expanded", "false");
  const details = element("div", "step-request", element("pre", "", sent ?? ""));
  details.hidden = true;
  const parts = [
    element("div", "step-head", button, " ",
      element("span", good ? "outcome good" : "outcome bad", good ? t("timeline.done") : t("timeline.failed", { code: outcome }))),
    element("p", "step-facts", ...facts),
  ];
  // The sentence for a failed sign-in says more than its code.
  if (!good && kind === "callback") parts.push(element("p", "bad", signInError(outcome)));
  parts.push(element("p", "", does(kind)));
  if (sent) parts.push(details);
  const found = [...findable(t("timeline.endpoint"), endpoint), ...findable(t("timeline.correlation_id"), id)];
  if (found.length > 0) parts.push(element("dl", "", ...found));
  const item = element("li", "step", ...parts);
  item.dataset.step = kind;
  const tell = () => document.dispatchEvent(new CustomEvent("companion-step", {
    detail: { step: lineStep(kind, attempt), settings: attempt ?? null, request: sent, title: t("timeline.request", { step: title }), outcome },
  }));
  item.addEventListener("mouseenter", () => choose(item, tell));
  item.addEventListener("focusin", () => choose(item, tell));
  button.addEventListener("click", () => {
    choose(item, tell);
    details.hidden = !details.hidden;
    button.setAttribute("aria-expanded", String(!details.hidden));
  });
  return { item, tell };
}

const findable = (term, value) => (value ? [element("dt", "", term), element("dd", "mono", value)] : []);

function does(kind) {
  if (kind === "callback" && page === "macos") return t("timeline.does.callback_web_view");
  if (kind === "sign_out" && page === "b2c") return t("timeline.does.remove");
  return t(`timeline.does.${kind}`);
}
