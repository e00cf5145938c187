// Try next: missions, of the demo alone. Each says what will happen and why, sets it up for this session, and notices by itself
// when it is done. What it has set up ends with it, and when the page is left.

import { app, get, post } from "./api.js";
import { base, element, loadStyle, loadTexts, t } from "./page.js";
import { leave, signInAddress } from "./return-trip.js";

const has = (events, step, outcome) => events.some((event) => event.step === step && event.outcome === outcome);

/**
 * What the demo tenant is to do (`failure`) or what to sign in with (`signIn`), and how the session's steps since then show
 * that it has happened.
 */
const missions = [
  { id: "token_ends", failure: "token_ends", isDone: (events) => has(events, "token", "refreshed") && has(events, "api", "ok") },
  { id: "second_factor", failure: "second_factor", isDone: (events) => has(events, "token", "interaction_required") && has(events, "callback", "ok") },
  { id: "consent", signIn: { prompt: "consent" }, isDone: (events) => has(events, "callback", "ok") },
  { id: "cancel", signIn: { prompt: "consent" }, isDone: (events) => has(events, "callback", "cancelled") },
  { id: "administrator", signIn: { login_hint: "nevena@contoso.example" }, isDone: (events) => has(events, "callback", "admin_consent_required") },
  { id: "other_account", signIn: { prompt: "select_account" }, isDone: (events, accounts) => has(events, "callback", "ok") && accounts > 1 },
  { id: "provider_down", failure: "provider_down", isDone: (events) => has(events, "token", "provider_unavailable") },
  { id: "graph_throttles", failure: "graph_throttles", isDone: (events) => has(events, "api", "http_429") },
];

/** What is under way in this tab: the mission's id, and the time of the last step before it. */
const activeKey = `mission:${app}`;
/** Each has a mark of its own: two pages that write at the same time lose none. */
const doneKey = (id) => `mission:done:${id}`;
const lookEvery = 1000;

let active = JSON.parse(sessionStorage.getItem(activeKey) ?? "null");
let isArmed = false;
let looking;
let list, progress, note;

const done = () => new Set(missions.map(({ id }) => id).filter((id) => localStorage.getItem(doneKey(id))));

/** Makes the panel's content. */
export async function fill(box) {
  await Promise.all([loadTexts("missions"), loadStyle(`${base}/assets/missions.css`)]);
  progress = element("p", "mission-progress");
  note = element("p", "mission-note");
  note.setAttribute("role", "status");
  list = element("ol", "missions");
  box.append(element("p", "mission-lead", t("missions.lead")), progress, note, list);
  show(active?.id);
}

/** Goes on with what is under way, after a trip to the provider too. */
export async function update() {
  if (active) await look();
}

// MARK: What is shown

function show(opened) {
  const all = done();
  progress.textContent = t("missions.progress", { done: missions.filter(({ id }) => all.has(id)).length, all: missions.length });
  list.replaceChildren(...missions.map((mission) => entry(mission, all.has(mission.id), mission.id === opened)));
}

function entry(mission, isDone, isOpen) {
  const isActive = active?.id === mission.id;
  const text = (part) => t(`missions.${part}.${mission.id}`);
  const state = isActive ? t("missions.under_way") : isDone ? t("missions.done") : "";
  const details = element("details", "", element("summary", "", element("span", "mission-title", text("title")), element("span", "mission-state", state)));
  const act = Object.assign(element("button", "small", isActive ? t("missions.stop") : t("missions.start")), { type: "button" });
  act.addEventListener("click", () => (isActive ? stop() : start(mission)));
  // What to press counts from the start on.
  details.append(element("p", "", text("what")), ...(isActive ? [element("p", "mission-now", text("now"))] : []), element("p", "", act));
  details.open = isOpen;
  details.name = "mission";
  return element("li", isActive ? "mission active" : isDone ? "mission done" : "mission", details);
}

// MARK: What is under way

async function start(mission) {
  note.textContent = "";
  await stop();
  try {
    const [{ events }, { account }] = await Promise.all([get(`/api/${app}/events`), get(`/api/${app}/account`)]);
    if (mission.failure && !account) {
      note.textContent = t("missions.sign_in_first");
      return;
    }
    active = { id: mission.id, since: events.at(-1)?.time ?? "" };
    sessionStorage.setItem(activeKey, JSON.stringify(active));
    if (mission.signIn) return leave(signInAddress(mission.signIn), { began: "sign-in" });
    await arm(mission);
    show(mission.id);
    keepLooking();
  } catch (failure) {
    note.textContent = failure.message;
    await stop();
  }
}

async function stop() {
  clearInterval(looking);
  const isOver = active;
  active = null;
  sessionStorage.removeItem(activeKey);
  if (isArmed) await post("/api/demo/mission", { app, failure: null }).catch(() => {});
  isArmed = false;
  if (isOver) show(isOver.id);
}

async function arm({ failure }) {
  if (!failure || isArmed) return;
  await post("/api/demo/mission", { app, failure });
  isArmed = true;
}

function keepLooking() {
  clearInterval(looking);
  looking = setInterval(() => document.visibilityState === "visible" && look(), lookEvery);
}

/** Whether it has happened; until then it goes on. */
async function look() {
  const mine = active;
  const mission = missions.find(({ id }) => id === mine?.id);
  if (!mission) return;
  try {
    const [{ events }, { accounts }] = await Promise.all([get(`/api/${app}/events`), get(`/api/${app}/accounts`)]);
    if (mine !== active) return;
    if (mission.isDone(events.filter(({ time }) => time > mine.since), accounts.length)) return finish(mission);
    await arm(mission);
    keepLooking();
  } catch {
    // The page itself says what is wrong with the server.
  }
}

async function finish(mission) {
  localStorage.setItem(doneKey(mission.id), "1");
  await stop();
  const all = done();
  const next = missions.find(({ id }) => !all.has(id));
  note.textContent = next ? t("missions.well_done", { title: t(`missions.title.${mission.id}`) }) : t("missions.all_done");
  show(next?.id);
}

addEventListener("pagehide", () => {
  if (!isArmed) return;
  isArmed = false;
  const headers = { "X-Companion": "1", "Content-Type": "application/json" };
  fetch(`${base}/api/demo/mission`, { method: "POST", keepalive: true, headers, body: JSON.stringify({ app, failure: null }) }).catch(() => {});
});
addEventListener("pageshow", ({ persisted }) => persisted && look());
