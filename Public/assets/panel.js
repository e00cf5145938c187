// The folded panels beside an application's screen: what just happened, sign-in options, claims.

import { base } from "./base.js";
import { element, loadStyle } from "./element.js";
import { t } from "./strings.js";

const panels = document.getElementById("panels");

/** Which panels this tab has open on this page, so that they still are when it comes back from the provider's pages. */
const kept = `panels:${location.pathname}`;
const opened = new Set(JSON.parse(sessionStorage.getItem(kept) ?? "[]"));

/** Where there is room for three columns, what just happened and the code are always open. */
const isWide = matchMedia("(min-width: 1100px)");

/**
 * Adds a folded panel with this title; returns the panel, the box for its content, and `update`.
 *
 * `load` imports the module of the panel's content when it is first opened: the module's `fill(box)` makes the content, its
 * `update()` brings it up to date, at each opening and whenever the page calls the panel's own `update`.
 * With `isColumn` the panel is a column of its own where there is room for it, and then cannot be folded.
 */
export function addPanel(id, title, load, { isColumn = false } = {}) {
  const box = element("div", "panel-box");
  box.id = `${id}-box`;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", title);
  const summary = element("summary", "", title);
  const panel = element("details", "panel", summary, box);
  panel.id = id;
  panels.append(panel);

  let loading;
  async function update() {
    if (!panel.open) return;
    await loadStyle(`${base}/assets/panel.css`);
    if (!load) return;
    loading ??= load().then(async (module) => {
      box.replaceChildren();
      await module.fill(box);
      return module;
    });
    try {
      await (await loading).update?.();
    } catch {
      loading = undefined;
      box.replaceChildren(element("p", "empty", t("app.panel_failed")));
    }
  }

  const isPinned = () => isColumn && isWide.matches;
  panel.addEventListener("toggle", () => {
    if (!isPinned()) {
      opened[panel.open ? "add" : "delete"](id);
      sessionStorage.setItem(kept, JSON.stringify([...opened]));
      if (panel.open) panel.scrollIntoView({ block: "nearest" });
    }
    update();
  });
  summary.addEventListener("click", (event) => isPinned() && event.preventDefault());
  panel.open = isPinned() || opened.has(id);
  isWide.addEventListener("change", () => (panel.open ||= isPinned()));
  return { panel, box, update };
}
