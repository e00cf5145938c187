// Try next: missions, of the demo alone. Each says what will happen, why, and what to press; sets it up for this session; notices by
// itself when it is done; and leaves one sentence to remember. What it has set up ends with it, and when the page is left.

import { app, get, leave, post, signInAddress } from "../base/api.js";
import { announce } from "../base/buttons.js";
import { base, copyWith, element, loadStyle, loadTexts, ofBrowser, ofTab, t } from "../base/page.js";
import { filled, own, remember } from "../base/values.js";
import { known, missionKey, noReturn, ready, state } from "./flow.js";
import { isNarrow, showStory } from "./panels.js";

const platform = document.body.dataset.page;

/** Whether these steps are among the session's, in this order. */
function happened(events, ...wanted) {
  let place = 0;
  for (const { step, outcome } of events) if (`${step} ${outcome}` === wanted[place]) place += 1;
  return place === wanted.length;
}

/** The demo tenant's list of requests. */
const seen = (query) => get(`/api/demo/mission?${new URLSearchParams(query)}`);

/** The file check's finding since the mission about the keychain began. */
const fileKey = "mission:keychain";

/**
 * A mission says what the demo is to fail with (`failure`), what to sign in with (`signIn`), or what else to `begin` with, of which the result is kept
 * while the mission is under way; and how the session's steps since then, or what else there is to `see`, show that it has happened.
 * Where nobody has signed in, all that do not begin otherwise begin with that. `stage` names what to press once that differs.
 * @type {any[]}
 */
export const missions = [
  { id: "token_ends", failure: "token_ends", isDone: ({ events }) => happened(events, "token refreshed", "api ok") },
  {
    id: "second_factor",
    failure: "second_factor",
    stage: ({ events }) => happened(events, "api claims_challenge") ? "challenged" : undefined,
    isDone: ({ events }) => happened(events, "api claims_challenge", "callback ok"),
  },
  { id: "consent", signIn: { prompt: "consent" }, isDone: ({ events }) => happened(events, "callback ok") },
  { id: "cancel", signIn: { prompt: "consent" }, isDone: ({ events }) => happened(events, "callback cancelled") },
  {
    id: "administrator",
    signIn: { login_hint: "nevena@contoso.example" },
    isDone: ({ events }) => happened(events, "callback admin_consent_required"),
  },
  {
    id: "other_account",
    signIn: { prompt: "select_account" },
    stage: () => "add_account",
    isDone: ({ events, accounts }) => happened(events, "callback ok") && accounts > 1,
  },
  { id: "provider_down", failure: "provider_down", isDone: ({ events }) => happened(events, "token provider_unavailable") },
  { id: "graph_throttles", failure: "graph_throttles", isDone: ({ events }) => happened(events, "api http_429", "api ok") },
  { id: "revoked", failure: "revoked", isDone: ({ events }) => happened(events, "token interaction_required", "callback ok") },
  { id: "permission", failure: "permission", isDone: ({ events }) => happened(events, "token provider_rejected_client") },
  {
    id: "redirect_uri",
    begin: () => post("/api/demo/mission", { app, failure: "redirect_uri" }),
    see: ({ request }) => seen({ request }),
    isDone: ({ errors }) => errors.includes("AADSTS50011"),
  },
  {
    id: "native_app",
    begin: () => seen({}),
    see: ({ count }) => seen({ after: count }),
    isDone: ({ signed_in: signedIn }) => signedIn,
    more: nativeApp,
  },
  {
    id: "keychain",
    begin: async () => ofBrowser.set(fileKey, "begun"),
    end: () => ofBrowser.remove(fileKey),
    isDone: () => ofBrowser.get(fileKey) === "right",
    more: keychain,
  },
  { id: "first_sign_in", isDone: () => document.querySelector("#timeline .step[data-step=authorize] .parameters[open]") !== null },
];

/** Each has a mark of its own: two pages that write at the same time lose none. */
const doneKey = (id) => `mission:done:${id}`;
const lookEvery = 1000;
/** The server has to ask the demo tenant, so that this is not done often. */
const seeEvery = 3000;

/** The mission that is under way in this tab: its id, the time of the last step before it, and what it began with. */
let active = ofTab.json(missionKey);
/** The failure that the demo may have: from the moment that it is asked to. */
let armed = null;
/** The part of it that has been reached, if that has a text of its own. */
let stage;
let lastAsked = Promise.resolve();
let looking;
/** The mission that has just been done. */
let finished = null;
let list, progress, note;
const panel = document.getElementById("missions");
/**
 * The mission that is under way, above the steps; with one column it is there whatever is shown, because its text says what to press.
 * Once it is done, what is worth remembering, until the list is opened.
 */
const line = element("section", "mission-line");
/** The demo tenant's origin. */
let tenant;

const done = () => new Set(missions.map(({ id }) => id).filter((id) => ofBrowser.get(doneKey(id))));
const title = ({ id }) => t(`missions.title.${id}`);
/** Says what to press next, which depends on who is signed in and on what has happened. */
function now(mission) {
  const { id } = mission;
  const isActive = active?.id === id;
  const text = t(`missions.now.${(isActive && stage) || id}`);
  const isFirst = !isActive && state.account === null && !mission.begin && !mission.signIn?.login_hint;
  return isFirst ? t("missions.signed_out", { next: text }) : text;
}

/** Makes the panel's content. */
export async function fill(box) {
  const [{ demo_control_url: control }] = await Promise.all([
    known,
    loadTexts("missions"),
    loadStyle(`${base}/assets/styles/missions.css`),
  ]);
  tenant = new URL(control).origin;
  progress = element("p", "mission-progress");
  note = element("p", "mission-note");
  note.setAttribute("role", "status");
  list = element("ol", "missions");
  box.append(element("p", "mission-lead", t("missions.lead")), progress, list);
  line.setAttribute("aria-label", t("missions.under_way"));
  placeLine();
  isNarrow.addEventListener("change", placeLine);
  panel.addEventListener("toggle", () => {
    if (!panel.open) return;
    finished = null;
    showLine();
  });
  // A link can name one of them.
  show(active?.id ?? linked());
  addEventListener("hashchange", () => missions.filter(({ id }) => id === linked()).forEach(open));
}

const linked = () => /^#mission=(\w+)$/.exec(location.hash)?.[1];

/** Goes on with what is under way, after a trip to the provider too: the calls with which that ends are not to meet the failure. */
export async function update() {
  await ready;
  sayNow();
  if (active) await look();
}

// MARK: What is shown

/** Outside of what scrolls, where there is room. */
function placeLine() {
  if (isNarrow.matches && !finished) document.getElementById("views").before(line);
  else document.querySelector(".happened").before(line);
}

function show(opened) {
  const all = done();
  progress.textContent = t("missions.progress", { done: missions.filter(({ id }) => all.has(id)).length, all: missions.length });
  list.replaceChildren(...missions.map((mission) => entry(mission, all, mission.id === opened)));
  showLine();
}

/** Says again what to press; all else stays as it is, and has the focus. */
function sayNow() {
  // A page that comes back may look before its list is made.
  if (!list) return;
  for (const mission of missions) {
    const entry = list.querySelector(`[data-mission=${mission.id}]`);
    const text = entry.querySelector(".mission-now");
    if (text.textContent === now(mission)) continue;
    text.textContent = now(mission);
    if (entry.open) bringInSight(entry);
  }
  const mission = missions.find(({ id }) => id === active?.id);
  if (!mission || line.querySelector("p")?.lastChild.textContent === now(mission)) return;
  const hadFocus = line.contains(document.activeElement);
  showLine();
  if (hadFocus) line.querySelector("button").focus();
}

function showLine() {
  const mission = missions.find(({ id }) => id === active?.id);
  line.hidden = !mission && !finished;
  line.classList.toggle("done", Boolean(finished));
  if (mission) {
    line.replaceChildren(
      element("p", "", element("strong", "", title(mission)), " ", now(mission)),
      button(t("missions.stop"), () => end(mission)),
    );
  } else if (finished) {
    const next = nextOf(finished, done());
    line.replaceChildren(
      element("p", "", element("strong", "", next ? t("missions.well_done", { title: title(finished) }) : t("missions.all_done"))),
      element("p", "", ...worthRemembering(finished)),
      ...(next ? [button(t("missions.next", { title: title(next) }), () => open(next))] : []),
    );
  }
  placeLine();
}

/** The next one that is not done, and after the last of them those before it. */
const nextOf = (mission, all) => {
  const place = missions.indexOf(mission);
  return [...missions.slice(place), ...missions.slice(0, place)].find(({ id }) => !all.has(id));
};

const worthRemembering = ({ id }) => [element("strong", "", t("missions.to_remember")), " ", t(`missions.remember.${id}`)];

function entry(mission, all, isOpen) {
  const { id } = mission;
  const isActive = active?.id === id;
  const isDone = all.has(id);
  const state = isActive ? t("missions.under_way") : isDone ? t("missions.done") : "";
  const details = element(
    "details",
    "",
    element("summary", "", element("span", "mission-title", title(mission)), element("span", "mission-state", state)),
  );
  details.append(
    element("p", "", t(`missions.what.${id}`)),
    element("p", "mission-now", now(mission)),
    ...(mission.more?.() ?? []),
  );
  const buttons = element(
    "p",
    "mission-buttons",
    button(isActive ? t("missions.stop") : t("missions.start"), () => (isActive ? end(mission) : start(mission))),
  );
  details.append(buttons);
  if (isDone && !isActive) {
    details.append(element("p", "mission-remember", ...worthRemembering(mission)));
    const next = nextOf(mission, all);
    if (next) buttons.append(" ", button(t("missions.next", { title: title(next) }), () => open(next)));
  }
  details.open = isOpen;
  details.name = "mission";
  details.dataset.mission = id;
  details.addEventListener("toggle", () => details.open && bringInSight(details));
  return element("li", isActive ? "mission active" : isDone ? "mission done" : "mission", details);
}

/** Says something about a mission, where the person has pressed a button of it. */
function say(mission, text) {
  const entry = list.querySelector(`[data-mission=${mission.id}]`);
  entry.querySelector(".mission-buttons").before(note);
  note.textContent = text;
  bringInSight(entry);
}

/** Brings a mission in sight, and what has been said about it. */
function bringInSight(entry) {
  for (const each of [entry, ...entry.querySelectorAll(".mission-note:not(:empty)")]) each.scrollIntoView({ block: "nearest" });
}

function button(label, act) {
  const made = Object.assign(element("button", "small", label), { type: "button" });
  made.addEventListener("click", act);
  return made;
}

function open({ id }) {
  panel.open = true;
  const details = list.querySelector(`[data-mission=${id}]`);
  details.open = true;
  details.querySelector("summary").focus();
}

function link(label, href, onPress) {
  const made = Object.assign(element("a", "", label), { href });
  made.addEventListener("click", () => onPress?.());
  return made;
}

const code = (text) => Object.assign(element("pre", "mono", text), { lang: "en" });

/** The reader's own app at the demo's tenant. MSAL accepts no plain http. */
function nativeApp() {
  const isSecure = tenant.startsWith("https:");
  const bundleID = own().bundle_id || "com.contoso.tasks";
  return [
    element("p", isSecure ? "" : "mission-plain", isSecure ? t("missions.native.secure") : t("missions.native.plain")),
    code(`companion demo --https --native ${bundleID}`),
    element(
      "p",
      "mission-links",
      link(
        t("missions.native.setup"),
        `${base}/native`,
        () => remember({ tenant: "demo", kind: "workforce", platform, bundle_id: bundleID, ...(isSecure ? { demo_url: tenant } : {}) }),
      ),
      link(t("missions.native.requests"), `${tenant}/clients`),
    ),
  ];
}

const entitlements = {
  ios: "<key>com.apple.developer.associated-domains</key>\n    <array>\n        <string>webcredentials:contoso.com</string>\n    </array>",
  macos: "<key>com.apple.security.app-sandbox</key>\n    <true/>\n    <key>com.apple.security.network.client</key>\n    <true/>",
};

/** A file that lacks MSAL's keychain group, to paste into the file check, which needs to know the app. */
function keychain() {
  const file = `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0">\n<dict>\n    ${entitlements[platform]}\n</dict>\n</plist>`;
  const fillIn = () => {
    remember({ platform });
    if (!filled().isComplete) remember({ tenant: "demo", kind: "workforce", bundle_id: own().bundle_id || "com.contoso.tasks" });
  };
  const copy = button(t("missions.keychain.copy"), () => copyWith(copy, file));
  return [
    code('Error Domain=NSOSStatusErrorDomain Code=-34018 "errSecMissingEntitlement"'),
    code(file),
    element("p", "mission-links", copy, link(t("missions.keychain.check"), `${base}/paste`, fillIn)),
  ];
}

// MARK: What is under way

async function start(mission) {
  note.textContent = "";
  await stop();
  try {
    const [{ events }, { account }] = await Promise.all([get(`/api/${app}/events`), get(`/api/${app}/account`)]);
    const { location: away, ...begun } = (await mission.begin?.()) ?? {};
    finished = null;
    active = { ...begun, id: mission.id, since: events.at(-1)?.time ?? "" };
    ofTab.set(missionKey, JSON.stringify(active));
    panel.open = false;
    // A failure is set up when the person is back.
    const signIn = mission.signIn ?? (mission.begin || account ? null : {});
    if (signIn) return leave(signInAddress(signIn), { began: "sign-in" });
    // Nothing comes back from there but the person.
    if (away) return leave(away, { began: noReturn, request: active.request });
    if (!(await arm(mission))) return;
    show(mission.id);
    line.querySelector("button").focus();
    keepLooking(mission);
  } catch (failure) {
    await stop();
    say(mission, failure.message);
  }
}

async function stop() {
  clearInterval(looking);
  const isOver = active;
  active = stage = null;
  ofTab.remove(missionKey);
  missions.find(({ id }) => id === isOver?.id)?.end?.();
  if (armed) {
    armed = null;
    await fail(null).catch(() => {});
  }
  if (!isOver) return;
  show(isOver.id);
  panel.open = !finished;
}

/** Stops a mission because the person wants so. */
async function end(mission) {
  await stop();
  open(mission);
}

/** Asks the demo to fail, or to stop that, in the order of the calls: what undoes a failure never overtakes it. */
function fail(failure) {
  const asked = lastAsked.then(() => post("/api/demo/mission", { app, failure }));
  lastAsked = asked.catch(() => {});
  return asked;
}

/** Sets up the failure of the mission that is under way; returns whether it still is. */
async function arm({ failure }) {
  const mine = active;
  if (failure && armed !== failure) {
    armed = failure;
    try {
      await fail(failure);
    } catch (error) {
      if (mine !== active) return false;
      armed = null;
      throw error;
    }
  }
  return mine === active;
}

function keepLooking({ see }) {
  clearInterval(looking);
  looking = setInterval(() => document.visibilityState === "visible" && look(), see ? seeEvery : lookEvery);
}

/** Whether it has happened; until then it goes on. */
async function look() {
  const mine = active;
  const mission = missions.find(({ id }) => id === mine?.id);
  if (!mission) return;
  try {
    const [{ events }, { accounts }, more] = await Promise.all([
      get(`/api/${app}/events`),
      get(`/api/${app}/accounts`),
      mission.see?.(mine),
    ]);
    if (mine !== active) return;
    const found = { events: events.filter(({ time }) => time > mine.since), accounts: accounts.length, ...more };
    if (mission.isDone(found)) return finish(mission);
    stage = mission.stage?.(found);
    sayNow();
    if (mission.failure && accounts.length === 0) {
      await stop();
      return say(mission, t("missions.sign_in_first"));
    }
    if (await arm(mission)) keepLooking(mission);
  } catch {
    // The page itself says what is wrong with the server.
  }
}

async function finish(mission) {
  ofBrowser.set(doneKey(mission.id), "1");
  finished = mission;
  await stop();
  showStory();
  line.scrollIntoView({ block: "nearest" });
  announce([...line.querySelectorAll("p")].map(({ textContent }) => textContent).join(" "));
}

addEventListener("pagehide", () => {
  if (!armed) return;
  armed = null;
  const headers = { "X-Companion": "1", "Content-Type": "application/json" };
  fetch(`${base}/api/demo/mission`, { method: "POST", keepalive: true, headers, body: JSON.stringify({ app, failure: null }) }).catch(
    () => {},
  );
});
addEventListener("pageshow", ({ persisted }) => persisted && look());
