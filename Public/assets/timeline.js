// What just happened in this session: each step as it happens, with its outcome, the lines of the tutorial and the request that it
// stands for, and the correlation id to find it by.

import { app, get } from "./api.js";
import { signInError, state } from "./flow.js";
import { base, element, hangingLines, language, t, withElements } from "./page.js";
import { light } from "./panels.js";
import { fine, request } from "./steps.js";

const page = document.body.dataset.page;

const empty = element("p", "empty");
const flows = element("div", "flows");
const legend = element("details", "legend");

/** Makes the panel's content: who does what, and the room for the flows. */
export function fill(box) {
  legend.append(element("summary", "unfolds", t("timeline.legend")),
    role(t("timeline.app_does"), t("timeline.app")),
    role(t("timeline.msal_does"), t("timeline.msal")),
    role(t("timeline.server_does"), t("timeline.server")),
    element("p", "", Object.assign(element("a", "", t("timeline.calls")), { href: `${base}/native/map` })));
  // There is room for it until something has happened.
  legend.open = true;
  box.append(empty, flows, legend);
  // A step has ended where a token, an answer of the API or the end of a sign-out has come.
  new PerformanceObserver((list) => list.getEntries().some(({ name }) => /\/(token|me|sign-out)$/.test(name)) && update()).observe({ type: "resource" });
}

const role = (sentence, name) => element("p", "", ...withElements(sentence, { name: element("strong", "", name) }));

/** The steps that are known, so that a new one arrives; null until the first answer. */
let known = null;
/** Those that are yet to arrive, the oldest first. */
let waiting = [];
/** The newest answer counts, whatever order they come in. */
let asked = 0;

/** Loads the steps again. */
export async function update() {
  const turn = ++asked;
  let answer = { events: [], attempts: [] };
  empty.textContent = t("timeline.nothing");
  if (!navigator.onLine) return;
  try {
    answer = await get(`/api/${app}/events`);
  } catch (failure) {
    empty.textContent = failure.message;
  }
  if (turn !== asked) return;
  if (answer.events.length === 0 && state.failed) answer.events = [unrecorded(state.failed)];
  const settings = new Map((answer.attempts ?? []).map(({ id, settings }) => [id, settings]));
  const found = grouped(answer.events).map(named).filter((steps) => steps.length > 0);
  const all = found.flat();
  const last = found.at(-1) ?? [];
  // After a trip to the provider the newest flow is what just happened.
  const fresh = known ? all.filter((event) => !known.has(key(event))) : isRecent(last.at(-1)) ? last : [];
  waiting.push(...fresh.map(key));
  known = new Set(all.map(key));
  const items = found.map((steps) => steps.map((event) => step(event, settings.get(event.attempt))));
  flows.replaceChildren(...items.map((steps) => element("ol", "flow", ...steps)).reverse());
  empty.hidden = found.length > 0;
  if (fresh.length > 0) legend.open = false;
  next();
}

/** The step of a sign-in of which the server has no record. */
const unrecorded = ({ time, code, correlationID }) => ({ time, step: "authorize", outcome: code, correlation_id: correlationID });

const key = ({ time, step, outcome }) => `${time} ${step} ${outcome}`;

const isRecent = (event) => event !== undefined && Date.now() - Date.parse(event.time) < 15_000;

// MARK: Arriving

const pace = 450; // milliseconds from one step that arrives to the next
const patience = 20; // tries until the steps arrive although the code is not there yet
let ticking = null;
/** The key of the present step. */
let present = null;

/** The next step arrives: its lines are lit; the last one opens. Without motion all arrive at once. */
function next(tries = 0) {
  if (waiting.length === 0 || ticking) return;
  // The code beside it is loaded at the same time.
  const code = document.getElementById("code");
  if (code.checkVisibility() && !code.querySelector(".run") && tries < patience) {
    setTimeout(next, 100, tries + 1);
    return;
  }
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const arrived of isStill ? waiting.splice(0) : [waiting.shift()]) {
    const item = [...flows.querySelectorAll(".step")].find(({ dataset }) => dataset.key === arrived);
    item?.classList.replace("waiting", "arriving");
    item?.dispatchEvent(new Event("arrive"));
  }
  ticking = setTimeout(() => {
    ticking = null;
    next();
  }, pace);
}

/** The person looks at a step: what was yet to arrive is there, and takes the light from it no more. */
function look(item, detail) {
  waiting = [];
  for (const late of flows.querySelectorAll(".step.waiting")) late.classList.remove("waiting");
  if (present !== item.dataset.key) choose(item, detail);
}

/** Makes a step the present one: its lines are lit, and beside them those of its flow that have come. */
function choose(item, detail) {
  for (const other of flows.querySelectorAll(".step.now")) other.classList.remove("now");
  item.classList.add("now");
  present = item.dataset.key;
  const flow = [...item.parentElement.querySelectorAll(".step:not(.waiting)")].map(({ dataset }) => dataset.lines);
  light({ ...detail, flow });
}

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
  if (event.step === "sign_out" || ["sign_out", "authorize"].includes(previous.step)) return true;
  if (Date.parse(event.time) - (event.duration_ms ?? 0) - Date.parse(previous.time) > longestPause) return true;
  // What failed is often mended within the same flow: by a sign-in, or by another token for the API that refused this one.
  if (!fine.has(previous.outcome)) return event.step === "token" && !["claims_challenge", "http_401"].includes(previous.outcome);
  return event.step === "authorize" || previous.step === "api" || (event.step === "token" && previous.step === "token" && previous.attempt == null);
}

/** The steps of a flow by their names. What this page asks for only to show it is none of the tutorial's, which has it already. */
const named = (flow) => flow.map((event, place) => ({ ...event, kind: name(event, flow[place - 1]) })).filter(({ kind }) => kind !== "shown");

/** How a token came is a step of its own in the tutorial. */
function name({ step, outcome, attempt }, previous) {
  if (step === "api" && ["claims_challenge", "interaction_required"].includes(outcome)) return "challenge";
  if (step !== "token") return step;
  // A code is redeemed for a sign-in, right after the browser has come back.
  if (!fine.has(outcome) && (attempt != null || previous?.step === "callback")) return "unredeemed";
  if (outcome === "cache" && previous?.step === "token" && previous.outcome === "ok") return "shown";
  return { ok: "redeemed", cache: "cached", refreshed: "refreshed" }[outcome] ?? "silent";
}

/** The step of the program: what edits a profile has lines of its own. */
const lineStep = (kind, attempt) => (attempt?.policy === "edit_profile" && ["authorize", "redeemed", "unredeemed"].includes(kind) ? "edit_profile" : kind);

/** A step as an item of its list, which opens to its time, its request and the ids to find it by. */
function step(event, attempt) {
  const { kind, time, outcome, duration_ms: duration, endpoint, correlation_id: id } = event;
  const good = fine.has(outcome);
  const title = t(`timeline.step.${kind}`);
  const sent = request(kind, event, attempt);
  const took = duration == null ? "" : ` · ${t("timeline.took", { milliseconds: Math.round(duration) })}`;
  const button = Object.assign(element("button", "step-name unfolds", title), { type: "button", ariaExpanded: "false" });
  const head = element("div", "step-head", button, " ",
    element("span", good ? "outcome good" : "outcome bad", good ? t("timeline.done") : t("timeline.failed", { code: outcome })));
  const details = element("div", "step-request",
    ...(sent ? [Object.assign(element("pre", "request"), { ariaLabel: t("timeline.request", { step: title }) })] : []),
    element("dl", "",
      ...findable(t("timeline.time"), Object.assign(element("time", "", new Date(time).toLocaleTimeString(language, { hour12: false })), { dateTime: time }), took),
      ...findable(t("timeline.endpoint"), endpoint), ...findable(t("timeline.correlation_id"), id)));
  if (sent) details.firstChild.append(...hangingLines(sent));
  const parts = [head];
  // The sentence for a failed sign-in says more than its code.
  if (!good && ["callback", "unredeemed"].includes(kind)) parts.push(element("p", "bad", signInError(outcome)));
  parts.push(element("p", "", does(kind)));
  if (kind === "cached" && page !== "b2c") parts.push(element("p", "note", t("timeline.not_refreshed")));
  parts.push(details);
  const item = element("li", "step", ...parts);
  item.dataset.step = kind;
  item.dataset.lines = lineStep(kind, attempt);
  item.dataset.key = key(event);
  item.classList.toggle("waiting", waiting.includes(item.dataset.key));
  item.classList.toggle("now", present === item.dataset.key);
  const detail = { step: item.dataset.lines, settings: attempt ?? null, name: title, outcome };
  const open = (isOpen) => {
    details.hidden = !isOpen;
    button.ariaExpanded = String(isOpen);
    opened[isOpen ? "add" : "delete"](item.dataset.key);
  };
  open(opened.has(item.dataset.key));
  item.addEventListener("arrive", () => {
    choose(item, detail);
    for (const other of flows.querySelectorAll(".step")) if (other.dataset.key === newest) other.dispatchEvent(new Event("close"));
    newest = waiting.length === 0 ? item.dataset.key : null;
    if (newest) open(true);
  });
  item.addEventListener("close", () => open(false));
  item.addEventListener("mouseenter", (event) => hasMoved(event) && look(item, detail));
  item.addEventListener("focusin", () => look(item, detail));
  head.addEventListener("click", () => {
    if (newest === item.dataset.key) newest = null;
    open(details.hidden);
  });
  return item;
}

/** The keys of the steps that are open. */
const opened = new Set();
/** The key of the step that is open because it came last; it closes when another one comes. */
let newest = null;

/** Where the pointer is: a step that scrolling brings below it is not looked at. */
let pointer = "";
const hasMoved = ({ screenX, screenY }) => pointer !== `${screenX} ${screenY}`;
document.addEventListener("mousemove", ({ screenX, screenY }) => (pointer = `${screenX} ${screenY}`), { passive: true });

const findable = (term, value, more = "") => (value ? [element("dt", "", term), " ", element("dd", "mono", value, more)] : []);

function does(kind) {
  if (kind === "callback" && page === "macos") return t("timeline.does.callback_web_view");
  if (kind === "sign_out" && page === "b2c") return t("timeline.does.remove");
  return t(`timeline.does.${kind}`);
}
