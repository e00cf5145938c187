// The story of this session: each step as it happens, with its outcome, the lines of the tutorial and the request that it
// stands for, and the correlation id to find it by.

import { base, element, language, leaving, t, withElements } from "../base/page.js";
import { light, present as lit, signInError, source } from "./panels.js";

const page = document.body.dataset.page;

const empty = element("p", "empty");
const flows = element("div", "flows");
const legend = element("details", "legend");
const share = Object.assign(element("button", "primary small", t("timeline.share")), { type: "button", id: "share" });
/** The way through the steps: back, where one is, on. */
const way = element("nav", "way", wayTo(-1, "previous", "←"), element("span", "place"), wayTo(1, "next", "→"));

/** Makes the panel's content: who does what, and the room for the flows. */
export function fill(box) {
  legend.append(
    element("summary", "unfolds", t("timeline.legend")),
    role(t("timeline.app_does"), t("timeline.app")),
    role(t("timeline.msal_does"), t("timeline.msal")),
    role(t("timeline.server_does"), t("timeline.server")),
    element("p", "", Object.assign(element("a", "", t("timeline.calls")), { href: `${base}/native/map` })),
  );
  // There is room for it until something has happened.
  legend.open = true;
  way.hidden = true;
  way.children[1].role = "status";
  share.hidden = true;
  share.addEventListener("click", source.share);
  if (source.share) way.append(share);
  box.append(empty, way, flows, legend);
  // Until the first answer, or what kept it away, nothing stands there that would move.
  box.hidden = true;
  place = box;
  // In a field they move the caret, and what scrolls scrolls.
  document.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { target, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (!by || altKey || ctrlKey || metaKey || shiftKey || target.closest("input, select, textarea, [tabindex], [popover], dialog")) return;
    event.preventDefault();
    go(by);
  });
  // A step has ended where a token, an answer of the API or the end of a sign-out has come.
  new PerformanceObserver((list) => list.getEntries().some(({ name }) => /\/(token|me|sign-out)$/.test(name)) && update()).observe({
    type: "resource",
  });
}

const role = (sentence, name) => element("p", "", ...withElements(sentence, { name: element("strong", "", name) }));

/** The steps that are known, so that a new one arrives; null until the first answer. */
let known = null;
/** Those that are yet to arrive, the oldest first. */
let waiting = [];
/** The registration's client ID and redirect URI. */
let client;
/** The module of the steps' requests, which is loaded with the first step. */
let requests;
/** The steps that stand there: as long as they are the same, what is open in them stays so. */
let drawn = null;
/** The newest explanation of a failure. */
let explained;
/** The newest answer counts, whatever order they come in. */
let asked = 0;

/** The panel's content. */
let place;

/** Loads the steps again. The newest shows the panel: before it, what is open there may close, and would move the rest. */
export async function update() {
  const turn = asked + 1;
  try {
    await load();
  } finally {
    if (turn === asked) place.hidden = false;
  }
}

async function load() {
  const turn = ++asked;
  let answer = { events: [] };
  empty.textContent = t("timeline.nothing");
  if (!navigator.onLine) return;
  try {
    answer = await source.story();
  } catch (failure) {
    empty.textContent = failure.message;
  }
  if (answer.events.length > 0) [requests] = await Promise.all([import("./requests.js"), import("./drawing.js")]);
  if (turn !== asked || leaving.signal.aborted) return;
  client = answer.client;
  const found = requests?.withSettings(requests.flowsOf(answer.events, answer.others), answer.attempts) ?? [];
  const all = found.flat();
  const outline = all.map((event) => [key(event), Boolean(event.claims), Boolean(event.problem)]).join();
  if (outline === drawn) return;
  drawn = outline;
  const last = found.at(-1) ?? [];
  // After a trip to the provider the newest flow is what just happened.
  const fresh = known ? all.filter((event) => !known.has(key(event))) : isRecent(last.at(-1)) ? last : [];
  waiting.push(...fresh.map(key));
  known = new Set(all.map(key));
  const items = found.map((steps) => steps.map(step));
  flows.replaceChildren(
    ...items.map((steps, at) => element("section", "flow", ...flowHead(found[at]), element("ol", "", ...steps))).reverse(),
  );
  empty.hidden = found.length > 0;
  share.hidden = !answer.attempts?.length && !all.some(({ kind, problem }) => problem && ["authorize", "unreturned"].includes(kind));
  showPlace();
  if (fresh.length > 0 || answer.isRecorded) legend.open = false;
  if (answer.isRecorded && !present) {
    (flows.querySelector(".step:last-child:has(.outcome.bad)") ?? flows.querySelector(".step")).dispatchEvent(new Event("visit"));
  }
  next();
  const failed = all.findLast(({ problem }) => problem)?.problem;
  if (failed === explained) return;
  explained = failed;
  failed?.closest(".step:not(.waiting)")?.dispatchEvent(new Event("visit"));
  keepNote();
}

/** A mission that is done, or a replay, says so above the steps, and stays in sight when a step comes, or is explained. */
const keepNote = () => document.querySelector(".mission-line.done, .replay")?.scrollIntoView({ block: "nearest" });

/** The steps of each flow begin at 1: its head says when it was, what it was and what came of it. A case is one flow, and has no times. */
function flowHead(steps) {
  const [{ time }, { kind, outcome }] = [steps[0], steps.at(-1)];
  if (!time) return [];
  const has = (...kinds) => steps.some((step) => kinds.includes(step.kind));
  const what = has("sign_out") ? "sign_out" : has("authorize", "callback") ? "sign_in" : has("api", "challenge") ? "call" : "token";
  const isGood = requests.fine.has(outcome);
  const isUnderWay = isGood && ["authorize", "callback"].includes(kind);
  return [element(
    "h3",
    "flow-head",
    element("time", "", new Date(time).toLocaleTimeString(language, { hour12: false })),
    " ",
    t(`timeline.flow.${what}`),
    " ",
    ...(isUnderWay ? [] : [outcomeWord(isGood, outcome, kind)]),
  )];
}

/** One that has not come back is not finished, in the demo with the number of its error. */
const failedWord = (outcome, kind) =>
  kind !== "unreturned"
    ? t("timeline.failed", { code: outcome })
    : [t("timeline.unfinished"), outcome === "cancelled" ? null : outcome].filter(Boolean).join(": ");

const outcomeWord = (isGood, outcome, kind) =>
  element("span", isGood ? "outcome good" : "outcome bad", isGood ? t("timeline.done") : failedWord(outcome, kind));

const key = ({ time, number, step, outcome }) => `${time ?? number} ${step} ${outcome}`;

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
  // A button, or the form, may have taken the light from it.
  if (present !== item.dataset.key || !lit.outcome) choose(item, detail);
}

/** Makes a step the present one: its lines are lit, and beside them those of its flow that have come. */
function choose(item, detail) {
  for (const other of flows.querySelectorAll(".step.now")) other.classList.remove("now");
  item.classList.add("now");
  present = item.dataset.key;
  const flow = [...item.parentElement.querySelectorAll(".step:not(.waiting)")].map(({ dataset }) => dataset.lines);
  light({ ...detail, flow });
  showPlace();
}

// MARK: Back and on

function wayTo(by, name, arrow) {
  const button = Object.assign(element("button", "small", arrow), {
    type: "button",
    ariaLabel: t(`timeline.${name}`),
    title: t(`timeline.${name}`),
  });
  button.addEventListener("click", () => go(by));
  return button;
}

/** All steps that have come, the oldest first; the newest flow stands on top. */
const inOrder = () => [...flows.children].reverse().flatMap((flow) => [...flow.querySelectorAll(".step:not(.waiting)")]);

const isPresent = ({ dataset }) => dataset.key === present;

/** Goes so many steps on, or back; from no step to the newest flow's first. */
function go(by) {
  const steps = inOrder();
  const at = steps.findIndex(isPresent);
  const to = at >= 0 ? at + by : steps.indexOf(flows.querySelector(".step"));
  // Its flow's head, too, as far as there is room for both.
  if (steps[to]?.parentElement !== steps[at]?.parentElement) steps[to]?.closest(".flow").scrollIntoView({ block: "nearest" });
  steps[to]?.dispatchEvent(new Event("visit"));
}

/** Says which step of its flow is the present one, by its number there, and which ways there are; before that how many there are. */
function showPlace() {
  const steps = inOrder();
  const at = steps.findIndex(isPresent);
  const [back, place, on] = way.children;
  way.hidden = steps.length === 0;
  back.ariaDisabled = String(at === 0);
  on.ariaDisabled = String(at >= 0 && at === steps.length - 1);
  const flow = [...(steps[at] ?? flows.querySelector(".step"))?.parentElement.children ?? []];
  const count = flow.length;
  const text = at >= 0
    ? t("timeline.place", { number: flow.indexOf(steps[at]) + 1, count })
    : count === 1
    ? t("timeline.step_count_one")
    : t("timeline.step_count", { count });
  const name = at < 0 ? "" : steps[at].querySelector(".step-name").textContent;
  if (place.textContent !== text + name) place.replaceChildren(text, element("span", "visually-hidden", name));
}

/** A step as an item of its list, which opens to its time, its request and the ids to find it by. */
function step(event, _, flow) {
  const { kind, outcome, signIn, problem } = event;
  const good = requests.fine.has(outcome);
  const isOpen = good && kind === "authorize" && event === flow.at(-1);
  const title = t(`timeline.step.${kind}`);
  const button = Object.assign(element("button", "step-name unfolds", title), { type: "button", ariaExpanded: "false" });
  const head = element(
    "div",
    "step-head",
    button,
    " ",
    isOpen ? element("span", "unfinished", t("timeline.unfinished")) : outcomeWord(good, outcome, kind),
  );
  const details = requests.details(event, client);
  const parts = [head];
  if (problem) parts.push(problem);
  // The sentence for a failed sign-in says more than its code.
  else if (!good && ["callback", "unredeemed"].includes(kind)) parts.push(element("p", "bad", signInError(outcome)));
  parts.push(element("p", "", does(kind)));
  if (kind === "cached" && page !== "b2c") parts.push(element("p", "note", t("timeline.not_refreshed")));
  parts.push(details);
  const item = element("li", "step", ...parts);
  item.dataset.step = kind;
  item.dataset.lines = requests.lineStep(event, page);
  item.dataset.key = key(event);
  // A flow can go on after a refusal, and what the person cancelled is no fault.
  item.classList.toggle("failed", !good && outcome !== "cancelled" && event === flow.at(-1));
  item.classList.toggle("waiting", waiting.includes(item.dataset.key));
  item.classList.toggle("now", present === item.dataset.key);
  const browser = kind === "sign_out" ? Boolean(event.endpoint) : undefined;
  const detail = { step: kind, lines: item.dataset.lines, settings: signIn ?? null, name: title, outcome, browser };
  const open = (isUnfolded) => {
    for (const each of [problem, details]) each?.toggleAttribute("hidden", !isUnfolded);
    button.ariaExpanded = String(isUnfolded);
    opened[isUnfolded ? "add" : "delete"](item.dataset.key);
  };
  // The one that opens as it arrives has its room before that.
  open(opened.has(item.dataset.key) || item.dataset.key === waiting.at(-1));
  item.addEventListener("arrive", () => {
    choose(item, detail);
    closeNewest();
    newest = waiting.length === 0 ? item.dataset.key : null;
    if (!newest) return;
    open(true);
    if (problem) item.scrollIntoView({ block: "nearest" });
    keepNote();
  });
  item.addEventListener("close", () => open(false));
  item.addEventListener("visit", () => {
    look(item, detail);
    closeNewest();
    newest = item.dataset.key;
    open(true);
    // Of one that is too high, its beginning.
    for (const each of [item, head]) each.scrollIntoView({ block: "nearest" });
  });
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
/** The key of the step that is open because it came last, or was gone to; it closes when another one comes. */
let newest = null;
const closeNewest = () =>
  [...flows.querySelectorAll(".step")].find(({ dataset }) => dataset.key === newest)?.dispatchEvent(new Event("close"));

/** Where the pointer is: a step that scrolling brings below it is not looked at. */
let pointer = "";
const hasMoved = ({ screenX, screenY }) => pointer !== `${screenX} ${screenY}`;
document.addEventListener("mousemove", ({ screenX, screenY }) => (pointer = `${screenX} ${screenY}`), { passive: true });

function does(kind) {
  if (kind === "callback" && page === "macos") return t("timeline.does.callback_web_view");
  if (kind === "sign_out" && page === "b2c") return t("timeline.does.remove");
  return t(`timeline.does.${kind}`);
}
