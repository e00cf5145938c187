// The tutorial's whole app as an Xcode project with the reader's values: to read, part by part, and to download.

import { button, copyButton } from "../base/buttons.js";
import { blockCard } from "./setup.js";
import { element, loadFile, loadJSON, loadTexts, t } from "../base/page.js";
import { data, fillTemplate, holds, isUnknown, swiftList, wholeText, wordsFor } from "../base/project.js";
import { tabs } from "../base/tabs.js";

/** The projects: { id, kind, platform, style }, of which style is scene, app_delegate, swiftui, async or native. */
export const projects = data.projects.map(({ id, set }) => ({
  id,
  set,
  kind: set.find((each) => ["workforce", "external", "b2c"].includes(each)),
  platform: set.includes("macos") ? "macos" : "ios",
  style: ["native", "async", "swiftui", "app_delegate"].find((each) => set.includes(each)) ?? "scene",
}));

let read;
/** The claims of pages and projects about the outside world: each with its source, and the day on which to look again. */
export const claims = () => (read ??= loadJSON(new URL("../../data/dated.json", import.meta.url)));

/** The numbers in them by name, such as MSAL's newest version as `msal`. */
export const numbers = async () => Object.assign({}, ...(await claims()).facts.map(({ values }) => values));

const templates = new Map();
function template(name) {
  if (!templates.has(name)) templates.set(name, loadFile(new URL(`../../projects/${name}`, import.meta.url)));
  return templates.get(name);
}

/** The name of the project for an app: the last part of its bundle ID, as a type is written, and App. */
export function projectName(bundleID) {
  const last = bundleID.split(".").at(-1);
  if (!/^[A-Za-z][A-Za-z0-9-]{0,49}$/.test(last)) return data.name;
  const name = last.split("-").map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
  return /.App$/.test(name) ? name : `${name}App`;
}

/** Names that choose parts of a project: its words, and with the demo's tenant those of the demo. */
const namesOf = (id, tenant) => [...projects.find((each) => each.id === id).set, ...(tenant === "demo" ? ["demo"] : [])];

/** The files of a project, as projects.json has them. */
export const filesOf = (id, { tenant }) => data.files.filter((file) => holds(file.if, new Set(namesOf(id, tenant))));

/** The project's files, { path, text }. `values` are those of `filled()` in values.js. */
export async function projectFiles(id, { scopes, tenant, ...texts }) {
  const { kind } = projects.find((each) => each.id === id);
  const [dated] = await Promise.all([numbers(), loadTexts("project")]);
  const values = {
    ...dated,
    ...texts,
    name: projectName(texts.bundle_id),
    ...wordsFor(namesOf(id, tenant)),
    scopes: swiftList(scopes),
    signout_from_browser: "false",
    known_authority: isUnknown(kind, texts.authority) && "yes",
  };
  return Promise.all(
    filesOf(id, { tenant }).map(async ({ path, format, template: name }) => {
      const lines = fillTemplate(await template(name), { format, values, t: (key) => t(`project.${key}`) });
      return { path: path.replace("{name}", values.name), lines, text: wholeText(lines) };
    }),
  );
}

/** The project as a zip archive, with all of its files in one folder. */
export async function projectZip(id, values) {
  const [{ zip }, files] = await Promise.all([import("../base/zip.js"), projectFiles(id, values)]);
  return zip(files.map(({ path, text }) => ({ path: `${projectName(values.bundle_id)}/${path}`, text })));
}

// MARK: The card

/** The app's style; it is kept while the page is open. */
let style = "scene";

async function save(pressed, said, id, values) {
  pressed.setAttribute("aria-busy", "true");
  try {
    const name = projectName(values.bundle_id);
    const href = URL.createObjectURL(await projectZip(id, values));
    Object.assign(element("a"), { href, download: `${name}.zip` }).click();
    said.textContent = t("setup.download_made", { name });
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

/** The one thing that nobody can put into the project: the tenant has to know its redirect URI. The demo's does. */
function registration({ bundle_id, redirect_uri: address }) {
  const copy = copyButton(t("native.copy"), () => address);
  copy.setAttribute("aria-label", `${t("native.copy")}: ${address}`);
  return [element("p", "note", t("project.registration", { bundle_id })), element("p", "", element("code", "", address), " ", copy)];
}

/** The projects for an app with these values. */
export const projectsFor = (values) => projects.filter(({ kind, platform }) => kind === values.kind && platform === values.platform);

/** Fills the place with the project for an app with these values. Its files are fetched for those who read or download them. */
export function fill(place, values, isComplete) {
  const fitting = projectsFor(values);
  if (fitting.length === 0) return place.replaceChildren(element("p", "note", t("setup.no_project")));
  const { id, style: made } = fitting.find((each) => each.style === style) ?? fitting[0];
  style = made;
  const said = Object.assign(element("p"), { role: "status" });
  const download = button(t("setup.download"), (pressed) => save(pressed, said, id, values), "primary");
  download.disabled = !isComplete;
  const more = element("details", "", element("summary", "", t("setup.project_files", { count: filesOf(id, values).length })));
  more.append(element("p", "note", t("setup.project_checked")));
  more.addEventListener("toggle", async () => more.append(...(await parts(id, values))), { once: true });
  more.open = place.querySelector("details")?.open === true;
  place.classList.add("project");
  place.replaceChildren(
    element("p", "note", t("setup.project_note"), " ", t("project.not_opened")),
    ...(fitting.length > 1 ? [choice(fitting, () => fill(place, values, isComplete))] : []),
    element("p", "", download),
    said,
    ...(isComplete ? [] : [element("p", "note", t("setup.download_needs"))]),
    ...(isComplete && values.tenant === "mine" ? registration(values) : []),
    more,
  );
}
