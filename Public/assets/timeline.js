// What the server did in this session: its steps, their outcome, and the correlation id to find them by.

import { app, get } from "./api.js";
import { addPanel, addTable, element } from "./panel.js";

const { panel, box } = addPanel("timeline", "What the server did");
const empty = element("p", "empty", "Nothing yet in this session.");
box.append(empty);
const { table, body } = addTable(box, "Time", "Step", "Outcome", "Took", "Correlation id");

const fine = new Set(["ok", "cache", "refreshed"]);

function row({ time, step, outcome, duration_ms: duration, correlation_id: id }) {
  return element("tr", "",
    element("td", "", new Date(time).toLocaleTimeString([], { hour12: false })),
    element("td", "", step.replaceAll("_", " ")),
    element("td", fine.has(outcome) ? "good" : "bad", outcome),
    element("td", "number", duration == null ? "" : `${Math.round(duration)} ms`),
    element("td", "mono", id ?? ""),
  );
}

/** Loads the timeline again, when it is open. */
export async function updateTimeline() {
  if (!panel.open) return;
  let rows = [];
  try {
    const { events } = await get(`/api/${app}/events`);
    rows = events.map(row).reverse();
    empty.textContent = "Nothing yet in this session.";
  } catch (failure) {
    empty.textContent = failure.message;
  }
  body.replaceChildren(...rows);
  empty.hidden = rows.length > 0;
  table.hidden = rows.length === 0;
  box.scrollTop = 0;
}

table.hidden = true;
panel.addEventListener("toggle", updateTimeline);
