// The logging text view: every message stays, with its time; the latest is in sight.

import { language, t } from "./page.js";

const view = document.getElementById("log");

/** What the log says, as a trip to the provider may keep it: time, text, whether it is bad, JSON. */
let said = [];
/** How many messages there were when the present flow began. */
let before = 0;

/**
 * Adds a message; `json` is shown after it, with `isFolded` closed. `kept` is what stays of a message that a trip to the provider
 * must not write down, as one with a token.
 */
export function log(text, { bad = false, json, isFolded = false, kept = text } = {}) {
  add(new Date(), text, { bad, json, isFolded });
  said.push({ time: Date.now(), text: kept, bad, json, isFolded });
}

function add(now, text, { bad, json, isFolded }) {
  const time = document.createElement("time");
  time.dateTime = now.toISOString();
  time.textContent = now.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  const entry = document.createElement("p");
  entry.append(time, " ", text);
  if (bad) entry.className = "bad";
  if (json !== undefined) {
    const code = document.createElement("code");
    code.textContent = JSON.stringify(json, null, 2);
    entry.append(code);
    import("./json-text.js").then(async ({ jsonText }) => code.replaceWith(await jsonText(json, { isFolded }))).catch(() => {});
  }
  view.append(entry);
  // The whole entry when it fits, otherwise its beginning.
  view.scrollTop = Math.min(view.scrollHeight, entry.offsetTop - view.offsetTop - 4);
}

export const logError = (text) => log(text, { bad: true });

export function clearLog() {
  view.replaceChildren();
  said = [];
  before = 0;
}

// MARK: The trip to the provider

/** A press of a button begins here. */
export const beginFlow = () => (before = said.length);

const maxKept = 50;

const keptKey = `said:${location.pathname}`;

/** Has the tab remember the log while it is at the provider; with `onlyOfFlow` what was said since the button was pressed. */
export const keepLog = ({ onlyOfFlow }) => sessionStorage.setItem(keptKey, JSON.stringify(said.slice(onlyOfFlow ? before : -maxKept)));

/** Shows again what was said before the tab left; if it was not away, forgets it. */
export function restoreLog({ wasAway }) {
  const kept = JSON.parse(sessionStorage.getItem(keptKey) ?? "[]");
  sessionStorage.removeItem(keptKey);
  if (!wasAway) return;
  for (const { time, text, ...rest } of kept) add(new Date(time), text, rest);
  said = kept;
}

const copy = document.getElementById("copy-log");

copy.addEventListener("click", async () => {
  const lines = [...view.children].map((entry) => entry.textContent);
  try {
    await navigator.clipboard.writeText(lines.join("\n"));
    copy.textContent = t("common.copied");
  } catch {
    copy.textContent = t("common.not_copied");
  }
  setTimeout(() => (copy.textContent = t("log.copy")), 1500);
});

document.getElementById("clear-log").addEventListener("click", clearLog);
