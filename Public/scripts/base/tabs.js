// Tabs: one of several parts is shown. Left and right go to the next, as do Home and End to the first and last.

import { element } from "./page.js";

const chosen = {};

/** Tabs with a name for screen readers; each is { id, title, content }. Which one is shown is kept while the page is open. */
export function tabs(id, name, parts) {
  const list = element("div", "tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", name);
  const made = parts.map((part) => {
    const tab = Object.assign(element("button", "", part.title), { type: "button", id: `tab-${id}-${part.id}` });
    tab.setAttribute("role", "tab");
    const panel = Object.assign(element("div", "tab-panel", ...part.content), { id: `panel-${id}-${part.id}` });
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => choose(part.id));
    return { part, tab, panel };
  });
  function choose(wanted) {
    chosen[id] = wanted;
    for (const { part, tab, panel } of made) {
      const isChosen = part.id === wanted;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      panel.hidden = !isChosen;
    }
  }
  list.addEventListener("keydown", (event) => {
    const at = made.findIndex(({ tab }) => tab === event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    const { part, tab } = made.at(next % made.length);
    choose(part.id);
    tab.focus();
  });
  list.append(...made.map(({ tab }) => tab));
  choose(chosen[id] ?? parts[0].id);
  return [list, ...made.map(({ panel }) => panel)];
}
