// The folded panels below an application's screen: sign-in options, claims, what the server did.

/** An element with a class and content. */
export function element(name, className = "", ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

const panels = document.getElementById("panels");

/** Adds a folded panel with this title; answers the panel and the box for its content. */
export function addPanel(id, title) {
  const box = element("div", "panel-box");
  box.id = `${id}-box`;
  Object.assign(box, { tabIndex: 0 });
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", title);
  const panel = element("details", "panel", element("summary", "", title), box);
  panel.id = id;
  panels.append(panel);
  panel.addEventListener("toggle", () => panel.open && panel.scrollIntoView({ block: "nearest" }));
  return { panel, box };
}

/** A table with these column titles, and the body to fill. */
export function addTable(box, ...titles) {
  const body = element("tbody");
  const head = element("tr", "", ...titles.map((title) => Object.assign(element("th", "", title), { scope: "col" })));
  const table = element("table", "", element("thead", "", head), body);
  box.append(table);
  return { table, body };
}
