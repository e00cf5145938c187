import { update } from "./control.js";

const live = document.getElementById("live");
const count = document.getElementById("count");
const pause = document.getElementById("pause");
const log = document.getElementById("log");
const joined = document.getElementById("joined");
const guid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** The parts of each client's list, twenty requests each, that are shown below the first. */
const unfolded = new Map();
let paused = false;
let asking = false;

/** Puts the log's lines below the newest request with their correlation ID. A line without one continues the line before. */
function join() {
  for (const old of live.querySelectorAll(".log")) old.remove();
  const rows = new Map();
  for (const row of live.querySelectorAll("tr[data-correlation]")) {
    const id = row.dataset.correlation;
    if (id && !rows.has(id)) rows.set(id, { row, lines: [] });
  }
  const lines = log.value.split("\n").filter((line) => line.trim());
  let place;
  for (const line of lines) {
    const id = line.match(guid)?.map((each) => each.toLowerCase()).find((each) => rows.has(each));
    if (id) place = rows.get(id);
    else if (line.includes("TID=")) place = undefined;
    place?.lines.push(line);
  }
  let found = 0;
  for (const { row, lines } of rows.values()) {
    if (lines.length === 0) continue;
    found += lines.length;
    const cell = Object.assign(document.createElement("td"), { colSpan: row.cells.length });
    cell.append(Object.assign(document.createElement("pre"), { textContent: lines.join("\n") }));
    const added = Object.assign(document.createElement("tr"), { className: "log" });
    added.append(cell);
    row.after(added);
    if (row.closest("details")) row.closest("details").open = true;
  }
  const text = lines.length === 0 ? "" : joined.dataset.text.replace("%1", found).replace("%2", lines.length);
  if (joined.textContent !== text) joined.textContent = text;
  unfold();
}

/** Shows the older requests that somebody wants, or that the log is about. */
function unfold() {
  for (const button of live.querySelectorAll(".older")) {
    const parts = older(button);
    const count = Math.max(unfolded.get(button.id) ?? 0, parts.findLastIndex((part) => part.querySelector(".log")) + 1);
    for (const [index, part] of parts.entries()) part.classList.toggle("shown", index < count);
    button.hidden = count >= parts.length;
  }
}

const older = (button) => [...button.parentElement.querySelector("table").tBodies].slice(1);

async function refresh() {
  if (paused || asking || document.hidden) return;
  asking = true;
  try {
    const query = new URLSearchParams(location.search);
    for (const name of ["done", "refused"]) query.delete(name);
    query.set("after", live.dataset.mark);
    query.set("ui_locales", document.documentElement.lang);
    const answer = await fetch(`/control?${query}`, { headers: { Accept: "text/html" } });
    if (answer.status !== 200) return;
    const text = await answer.text();
    // A pause may have begun meanwhile.
    if (paused) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.getElementById("live");
    const focused = document.activeElement?.id;
    const isOpen = live.querySelector("#unnamed")?.open;
    live.replaceChildren(...fresh.childNodes);
    if (isOpen) live.querySelector("#unnamed").open = true;
    live.dataset.mark = fresh.dataset.mark;
    count.textContent = page.getElementById("count").textContent;
    join();
    // A failure on demand may be over.
    update(page);
    if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
  } catch {
    // The tenant has stopped, or is starting again. The next second shows it.
  } finally {
    asking = false;
  }
}

pause.addEventListener("click", () => {
  paused = !paused;
  [pause.textContent, pause.dataset.other] = [pause.dataset.other, pause.textContent];
});
live.addEventListener("click", ({ target }) => {
  if (!target.matches(".older")) return;
  const next = older(target).findIndex((part) => !part.matches(".shown"));
  unfolded.set(target.id, next + 1);
  unfold();
  if (target.hidden) older(target)[next].querySelector("a").focus({ preventScroll: true });
});
log.addEventListener("input", join);
setInterval(refresh, 1000);
