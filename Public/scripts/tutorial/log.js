// The logging text view: every message stays, with its time; the latest is in sight.

import { copyWith, language, ofTab } from "../base/page.js";

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

// MARK: The trip to the provider

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

const copy = document.getElementById("copy-log");
copy.addEventListener("click", () => copyWith(copy, [...view.children].map((entry) => entry.textContent).join("\n")));

document.getElementById("clear-log").addEventListener("click", clearLog);
