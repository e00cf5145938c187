// The parts of a tutorial's page: the log on the screen; beside the screen the story and the code, which are columns where there is room,
// else views that a bar leads to; and the panels that fold.

import { copyWith, element, language, ofTab, t } from "../base/page.js";

const stage = document.querySelector(".stage");
const bar = [...document.querySelectorAll("#views button")];

/** Three columns; with two the story and the code take turns; with one they rise over the screen. The styles have the same widths. */
const isWide = matchMedia("(min-width: 1240px)");
export const isNarrow = matchMedia("(max-width: 767px)");

// MARK: Views

/** The view of this tab on this page, so that it still is there when it comes back from the provider's pages. */
const viewKey = `view:${location.pathname}`;

const isShown = (name) =>
  isWide.matches || (stage.dataset.view === "app" ? !isNarrow.matches && name === "story" : stage.dataset.view === name);

function mark() {
  // With two columns the screen is always there, and the story is what stands beside it.
  const view = !isNarrow.matches && stage.dataset.view === "app" ? "story" : stage.dataset.view;
  for (const button of bar) {
    button.setAttribute("aria-pressed", String(button.dataset.view === view));
    if (button.dataset.view === view) button.classList.remove("news");
  }
}

/** Brings a view beside the screen, or over it: "app" is the screen alone. */
export function showView(name) {
  stage.dataset.view = name;
  ofTab.set(viewKey, name);
  mark();
  for (const each of [timeline, code]) each.update();
}

for (const button of bar) {
  // Where it rises over the screen, the same button brings it down again.
  button.addEventListener(
    "click",
    () => showView(isNarrow.matches && stage.dataset.view === button.dataset.view ? "app" : button.dataset.view),
  );
}

document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !isNarrow.matches || stage.dataset.view === "app") return;
  const button = bar.find(({ dataset }) => dataset.view === stage.dataset.view);
  showView("app");
  button.focus();
});

export const showStory = () => isShown("story") || showView("story");

// MARK: Steps

/**
 * The page's own, of which the story and the code tell: `story` loads the steps, `share` opens them as a case, `known` has the
 * application, and `signOutChoice` says where it signs out.
 */
export const source = {};

/** Codes that say the same to the person as another one. */
const alike = {
  provider_rejected_request: "provider_rejected_client",
  provider_metadata_invalid: "provider_rejected_client",
  issuer_mismatch: "invalid_id_token",
  nonce_mismatch: "invalid_id_token",
};

/** The reason why an interactive sign-in failed, as a sentence. */
export const signInError = (code) => t(`sign_in.${alike[code] ?? code}`) || t("sign_in.unknown");

/** The step, or the button, whose lines are lit in the code beside the screen; see code.js. */
export let present = { step: "init" };

export function light(detail) {
  present = detail;
  if (detail.outcome && !isShown("story")) bar.find(({ dataset }) => dataset.view === "story").classList.add("news");
  document.dispatchEvent(new CustomEvent("companion-step", { detail }));
}

// MARK: Content

/**
 * Returns what fills a box, and brings it up to date: `load` imports the module of its content when it is first shown, the module's
 * `fill(box)` makes the content, and its `update()` brings it up to date.
 */
function filling(box, load, isVisible) {
  let loading;
  let updating;
  /** With `isClosedToo` its content is there before it is opened. */
  return async function update({ isClosedToo = false } = {}) {
    if (!isVisible() && !isClosedToo) return;
    loading ??= load().then(async (module) => {
      box.replaceChildren();
      await module.fill(box);
      return module;
    });
    // All who ask while the module loads share one update.
    updating ??= loading.then((module) => {
      updating = undefined;
      return module.update?.();
    });
    try {
      await updating;
    } catch {
      loading = updating = undefined;
      box.replaceChildren(element("p", "empty", t("app.panel_failed")));
    }
  };
}

const column = (id, name, load) => ({ update: filling(document.getElementById(`${id}-box`), load, () => isShown(name)) });

export const timeline = column("timeline", "story", () => import("./timeline.js"));
export const code = column("code", "code", () => import("./code.js"));

/** Which panels this tab has open on this page. */
const openedKey = `panels:${location.pathname}`;
const opened = new Set(ofTab.json(openedKey, []));

/** Adds a folded panel with this title, above the steps; returns its `update`. */
export function addPanel(id, title, load) {
  const box = element("div", "panel-box");
  box.id = `${id}-box`;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", title);
  const panel = element("details", "panel", element("summary", "", title), box);
  panel.id = id;
  document.getElementById("panels").append(panel);
  const update = filling(box, load, () => panel.open);
  panel.addEventListener("toggle", () => {
    // One that was open when the page was left must not scroll away what a link leads to.
    if (panel.open && !opened.has(id)) panel.scrollIntoView({ block: "nearest" });
    opened[panel.open ? "add" : "delete"](id);
    ofTab.set(openedKey, JSON.stringify([...opened]));
    update();
  });
  panel.open = opened.has(id);
  return { update };
}

// MARK: The log

// Every message stays, with its time; the latest is in sight. The page of a case has no screen, and so no log.

const view = document.getElementById("log");

/** The log's messages, as a trip to the provider may keep them: time, text, whether it is bad, JSON, whether it is an account's. */
let said = [];
/** The number of messages when the present flow began. */
let before = 0;

/**
 * Adds a message; `json` is shown after it, with `isFolded` closed. `kept` is what stays of a message that a trip to the provider
 * must not write down, as one with a token. One that is `ofAccount` goes when the account is signed out.
 */
export function log(text, { bad = false, json = undefined, isFolded = false, kept = text, ofAccount = false } = {}) {
  add(new Date(), text, { bad, json, isFolded, ofAccount });
  said.push({ time: Date.now(), text: kept, bad, json, isFolded, ofAccount });
}

function add(now, text, { bad, json, isFolded, ofAccount }) {
  const time = document.createElement("time");
  time.dateTime = now.toISOString();
  time.textContent = now.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  const entry = document.createElement("p");
  entry.append(time, " ", text);
  if (bad) entry.className = "bad";
  if (ofAccount) entry.dataset.ofAccount = "";
  if (json !== undefined) {
    const code = document.createElement("code");
    code.textContent = JSON.stringify(json, null, 2);
    entry.append(code);
    const draw = async ({ jsonText }) => {
      code.replaceWith(await jsonText(json, { isFolded }));
      if (view.lastChild === entry) bringInSight();
    };
    import("../base/json-text.js").then(draw).catch(() => {});
  }
  view.append(entry);
  bringInSight();
}

/** Shows the latest entry, whole when it fits and otherwise its beginning; of those before it as many as have room, none of them cut. */
export function bringInSight() {
  view.style.paddingBottom = "";
  const lowest = view.scrollHeight - view.clientHeight;
  const tops = [...view.children].map(({ offsetTop }) => Math.max(0, offsetTop - view.offsetTop - 4));
  const top = tops.find((each) => each >= lowest) ?? tops.at(-1);
  if (top > lowest) view.style.paddingBottom = `${parseFloat(getComputedStyle(view).paddingBottom) + top - lowest}px`;
  view.scrollTop = top;
}

export const logError = (text) => log(text, { bad: true });

/** Takes away the messages with something of the account that was signed in. */
export function forgetAccount() {
  for (const entry of view.querySelectorAll("[data-of-account]")) entry.remove();
  before -= said.slice(0, before).filter(({ ofAccount }) => ofAccount).length;
  said = said.filter(({ ofAccount }) => !ofAccount);
}

/** Hides the log of a page that was restored, until it is known whose it is. */
export const hideLog = (isHidden) => (view.style.visibility = isHidden ? "hidden" : "");

export function clearLog() {
  view.replaceChildren();
  view.style.paddingBottom = "";
  said = [];
  before = 0;
}

/** A press of a button begins here. */
export const beginFlow = () => (before = said.length);

const maxKept = 50;

const keptKey = `said:${location.pathname}`;

/** Has the tab remember the log while it is at the provider; with `onlyOfFlow` what was said since the button was pressed. */
export const keepLog = ({ onlyOfFlow }) => ofTab.set(keptKey, JSON.stringify(said.slice(onlyOfFlow ? before : -maxKept)));

/** Shows again what was said before the tab left; if it was not away, forgets it. */
export function restoreLog({ wasAway }) {
  const kept = ofTab.json(keptKey, []);
  ofTab.remove(keptKey);
  if (!wasAway) return;
  for (const { time, text, ...rest } of kept) add(new Date(time), text, rest);
  said = kept;
}

if (view) {
  const copy = document.getElementById("copy-log");
  copy.addEventListener("click", () => copyWith(copy, [...view.children].map((entry) => entry.textContent).join("\n")));
  document.getElementById("clear-log").addEventListener("click", clearLog);
}

// MARK: Start

const panels = document.getElementById("panels");

/** At another width other views are shown. On a phone the steps come first. */
function follow() {
  panels.parentElement[isNarrow.matches ? "append" : "prepend"](panels);
  mark();
  for (const each of [timeline, code]) each.update();
}

// The page of a case loads this late, and may have been emptied meanwhile.
if (stage) {
  stage.dataset.view = ofTab.get(viewKey) ?? stage.dataset.view;
  for (const query of [isWide, isNarrow]) query.addEventListener("change", follow);
  follow();
}
