// The logging text view: every message stays, with its time; the latest is in sight.

import { language, t } from "./strings.js";

const view = document.getElementById("log");

/** Adds a message; `json` is shown pretty-printed after it. */
export function log(text, { bad = false, json } = {}) {
  const now = new Date();
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
  }
  view.append(entry);
  // The whole entry when it fits, otherwise its beginning.
  view.scrollTop = Math.min(view.scrollHeight, entry.offsetTop - view.offsetTop - 4);
}

export const logError = (text) => log(text, { bad: true });

export const clearLog = () => view.replaceChildren();

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
