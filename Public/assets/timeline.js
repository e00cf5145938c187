// What the server did in this session: its steps, their outcome, and the correlation id to find them by.

import { app, get } from "./api.js";

const panel = document.getElementById("timeline");
const box = document.getElementById("timeline-box");

const fine = new Set(["ok", "cache", "refreshed"]);

const cell = (text, className) => Object.assign(document.createElement("td"), { textContent: text, className });

function row({ time, step, outcome, duration_ms: duration, correlation_id: id }) {
  const line = document.createElement("tr");
  line.append(
    cell(new Date(time).toLocaleTimeString([], { hour12: false }), ""),
    cell(step.replaceAll("_", " "), ""),
    cell(outcome, fine.has(outcome) ? "good" : "bad"),
    cell(duration == null ? "" : `${Math.round(duration)} ms`, "number"),
    cell(id ?? "", "mono"),
  );
  return line;
}

/** Loads the timeline again, when it is open. */
export async function updateTimeline() {
  if (!panel.open) return;
  try {
    const { events } = await get(`/api/${app}/events`);
    const rows = events.map(row).reverse();
    document.getElementById("timeline-rows").replaceChildren(...rows);
    document.getElementById("timeline-empty").hidden = rows.length > 0;
    document.getElementById("timeline-table").hidden = rows.length === 0;
  } catch (failure) {
    const empty = document.getElementById("timeline-empty");
    empty.textContent = failure.message;
    empty.hidden = false;
  }
  box.scrollTop = 0;
}

panel.addEventListener("toggle", async () => {
  await updateTimeline();
  if (panel.open) panel.scrollIntoView({ block: "nearest" });
});
