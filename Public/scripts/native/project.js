// The tutorial's whole app as an Xcode project with the reader's values: to read, part by part, and to download.

import { button } from "../base/buttons.js";
import { blockCard } from "./setup.js";
import { element, t } from "../base/page.js";
import { filesOf, projectFiles, projectName, projects, projectZip } from "../base/project.js";
import { tabs } from "../base/tabs.js";

/** The app's style; it is kept while the page is open. */
let style = "scene";

async function save(pressed, id, values) {
  pressed.setAttribute("aria-busy", "true");
  try {
    const href = URL.createObjectURL(await projectZip(id, values));
    Object.assign(element("a"), { href, download: `${projectName(values.bundle_id)}.zip` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  } finally {
    pressed.removeAttribute("aria-busy");
  }
}

function choice(fitting, redraw) {
  const select = Object.assign(element("select"), { id: "style" });
  select.append(...fitting.map((each) => new Option(t(`setup.style.${each.style}`), each.style)));
  select.value = style;
  select.addEventListener("change", () => {
    style = select.value;
    redraw();
    document.getElementById("style")?.focus();
  });
  return element("p", "style", Object.assign(element("label", "", t("setup.style")), { htmlFor: "style" }), select);
}

/** The files to read, part by part. */
async function parts(id, values) {
  const made = (await projectFiles(id, values)).map(({ path, text }, index) => ({
    id: String(index),
    title: path.split("/").at(-1),
    content: [blockCard({ title: path, text }, true, "h3")],
  }));
  const shown = Math.max(made.findIndex(({ title }) => title.startsWith("ViewController")), 0);
  return tabs(`project-${id}`, t("native.section.code"), [made[shown], ...made.filter((_, index) => index !== shown)]);
}

/** Fills the place with the project for an app with these values. Its files are fetched for those who read or download them. */
export function fill(place, values, isComplete) {
  const fitting = projects.filter(({ kind, platform }) => kind === values.kind && platform === values.platform);
  if (fitting.length === 0) return place.replaceChildren(element("p", "note", t("setup.no_project")));
  const { id, style: made } = fitting.find((each) => each.style === style) ?? fitting[0];
  style = made;
  const download = button(t("setup.download"), (pressed) => save(pressed, id, values), "primary");
  download.disabled = !isComplete;
  const more = element("details", "", element("summary", "", t("setup.project_files", { count: filesOf(id, values).length })));
  more.addEventListener("toggle", async () => more.append(...(await parts(id, values))), { once: true });
  more.open = place.querySelector("details")?.open === true;
  place.classList.add("project");
  place.replaceChildren(
    element("p", "note", t("setup.project_note")),
    ...(fitting.length > 1 ? [choice(fitting, () => fill(place, values, isComplete))] : []),
    element("p", "", download),
    ...(isComplete ? [] : [element("p", "note", t("setup.download_needs"))]),
    more,
  );
}
