// The tutorial's whole app as an Xcode project with the reader's values: to read, part by part, and to download.

import { button } from "./buttons.js";
import { blockCard } from "./native-setup.js";
import { element, t } from "./page.js";
import { projectFiles, projectZip, projects } from "./project.js";
import { tabs } from "./tabs.js";

/** How the app is written; kept while the page is open. */
let style = "scene";

let drawn = 0;

const quoted = (text) => (/^[\w.,:/@-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

/** The command that makes the same project. */
function command({ kind, platform, tenant, bundle_id: bundleID, client_id: clientID, authority, scopes, api, edit_policy: editPolicy }) {
  const own = [
    ["--client-id", clientID], ["--authority", authority], ...scopes.map((scope) => ["--scope", scope]),
    ...(kind === "workforce" ? [] : [["--api", api]]), ...(kind === "b2c" ? [["--edit-policy", editPolicy]] : []),
  ];
  const options = [["--project", "TutorialApp"], ["--platform", platform], ["--kind", kind], ["--style", style], ["--bundle-id", bundleID], ...(tenant === "demo" ? [["--demo"]] : own)];
  return `companion native ${options.map(([name, value]) => (value === undefined ? name : `${name} ${quoted(value)}`)).join(" ")}`;
}

async function save(pressed, id, values) {
  pressed.setAttribute("aria-busy", "true");
  try {
    const href = URL.createObjectURL(await projectZip(id, values));
    Object.assign(element("a"), { href, download: "TutorialApp.zip" }).click();
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

/** Fills the place with the project for an app with these values. */
export async function fill(place, values, isComplete) {
  const turn = ++drawn;
  const fitting = projects.filter(({ kind, platform }) => kind === values.kind && platform === values.platform);
  if (fitting.length === 0) return place.replaceChildren(element("p", "note", t("setup.no_project")));
  const { id, style: made } = fitting.find((each) => each.style === style) ?? fitting[0];
  style = made;
  const files = await projectFiles(id, values);
  // Values that were typed meanwhile have a drawing of their own.
  if (turn !== drawn) return;
  const download = button(t("setup.download"), (pressed) => save(pressed, id, values), "primary");
  download.disabled = !isComplete;
  const parts = files.map(({ path, text }, index) => ({
    id: String(index), title: path.split("/").at(-1), content: [blockCard({ title: path, text }, true, "h3")],
  }));
  const shown = parts.findIndex(({ title }) => title.startsWith("ViewController"));
  const more = element("details", "", element("summary", "", t("setup.project_files", { count: files.length })), ...tabs(`project-${id}`, t("native.section.code"), [parts[Math.max(shown, 0)], ...parts.filter((_, index) => index !== Math.max(shown, 0))]));
  more.open = place.querySelector("details")?.open === true;
  const terminal = blockCard({ title: t("native.block.native_command"), note: t("setup.project_command"), text: command({ ...values }) }, isComplete, "h3");
  place.classList.add("project");
  place.replaceChildren(
    element("p", "note", t("setup.project_note")), ...(fitting.length > 1 ? [choice(fitting, () => fill(place, values, isComplete))] : []),
    element("p", "", download), more, terminal,
  );
}
