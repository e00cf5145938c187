// The needs of a native app before MSAL works in it, in the order in which it is needed, with the reader's own values.

import { sentence, verdict } from "./authority.js";
import { fill as fillProject, numbers, projectsFor } from "./project.js";
import { blockCard, blocks, followForm, isFor, setup } from "./setup.js";
import { base, element, isShared, language, loadTexts, ofBrowser, t, withElements } from "../base/page.js";
import { cloudOf } from "../base/project.js";
import { tabs } from "../base/tabs.js";
import { isAlias, own, ownTenant, remember } from "../base/values.js";

const dated = await numbers();

if (ownTenant) {
  const note = document.getElementById("demo_url-note");
  note.textContent = ownTenant.startsWith("https:") ? t("setup.demo_own") : t("setup.demo_plain", { tenant: ownTenant });
}

const rest = document.getElementById("rest");

/** A part that few people come to: its module is loaded when the reader is near it, and then fills its place. */
function later(load) {
  const place = element("div", "later");
  let fill = null;
  let last = [];
  const observer = new IntersectionObserver(async (entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    ({ fill } = await load());
    fill(place, ...last);
  }, { rootMargin: "600px" });
  observer.observe(place);
  return (...values) => {
    last = values;
    fill?.(place, ...values);
    return place;
  };
}

const outOfDate = later(() => import("./dated.js"));

// MARK: Steps that can be ticked off: which of them are is kept in this browser, except on a shared device.

const doneKey = "native-done";

const done = new Set(isShared ? [] : ofBrowser.json(doneKey, []));
let onProgress = () => {};

/** Calls this after each step that is ticked off, or no longer. */
const followProgress = (follower) => (onProgress = follower);

function tick(name, isDone) {
  if (isDone) done.add(name);
  else done.delete(name);
  if (!isShared) ofBrowser.set(doneKey, JSON.stringify([...done]));
  onProgress();
}

/** Steps that are done for one kind of tenant say nothing about another. */
const nameOf = ({ id }, { kind, tenant }) => `${tenant}.${kind}.${id}`;

/** The number of these steps that are done. */
const progress = (steps, values) => steps.filter((step) => done.has(nameOf(step, values))).length;

/** The steps as a list, with the values in them. */
function stepList(steps, values) {
  const shown = { ...values, scopes: values.scopes[0] };
  const list = element(
    "ol",
    "steps",
    ...steps.map((step) => {
      const marked = Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, element("b", "", String(value))]));
      const box = Object.assign(element("input"), { type: "checkbox", checked: done.has(nameOf(step, values)) });
      box.addEventListener("change", () => tick(nameOf(step, values), box.checked));
      return element("li", "", element("label", "", box, element("span", "", ...withElements(t(`native.step.${step.id}`), marked))));
    }),
  );
  return list;
}

// MARK: Sections

function section(id, ...content) {
  const title = Object.assign(element("h2", "", t(`native.section.${id}`)), { id: `${id}-title` });
  const made = Object.assign(element("section", "card", title, ...content), { id });
  made.setAttribute("aria-labelledby", title.id);
  return made;
}

const steps = ({ steps: all }, values) => all.filter((step) => isFor(step, values));

const card = (block, isReady) =>
  blockCard({ ...block, title: t(`native.block.${block.id}`), note: t(`native.note.${block.id}`) }, isReady, "h3");

const day = (text) => new Date(text).toLocaleDateString(language, { dateStyle: "long", timeZone: "UTC" });

/** Ways of getting MSAL into the project, of which one is enough. */
function packages(found, isReady) {
  const names = ["swift", "pods", "carthage"];
  return tabs(
    "package",
    t("native.section.package"),
    names.map((id) => ({
      id,
      title: t(`setup.package.${id}`),
      content: [
        element("p", "note", t(`setup.package_note.${id}`, { ...dated, cocoapods_end: day(dated.cocoapods_end) })),
        ...found.filter(({ tab }) => tab === id).map((block) => card(block, isReady)),
      ],
    })),
  );
}

const out = (label, href) =>
  Object.assign(element("a", "out", label), { href, target: "_blank", rel: "noopener noreferrer", referrerPolicy: "no-referrer" });
const link = (label, href) => Object.assign(element("a", "", label), { href });

/** Where to go on. */
function help(values, isComplete) {
  const portal = cloudOf(URL.parse(values.authority)?.hostname ?? "")?.portal ?? "https://entra.microsoft.com/";
  const registration = `${portal}#view/Microsoft_AAD_RegisteredApps/ApplicationMenuBlade/~/Authentication/appId/${values.client_id}`;
  return element(
    "ul",
    "links",
    ...[
      link(t("setup.help.explain"), `${base}/paste`),
      isComplete && values.tenant === "mine" && values.kind !== "b2c" && out(t("setup.help.registration"), registration),
      out(t("setup.help.errors"), "https://learn.microsoft.com/entra/msal/objc/error-handling-ios"),
      out(t("setup.help.issues"), "https://github.com/AzureAD/microsoft-authentication-library-for-objc/issues"),
      out(t("setup.help.questions"), "https://stackoverflow.com/questions/tagged/msal"),
      out(t("setup.help.support"), "https://learn.microsoft.com/entra/identity-platform/developer-support-help-options"),
    ].filter(Boolean).map((each) => element("li", "", each)),
  );
}

/** The contents list, with what is done of each section. */
function contents(made, values) {
  const list = element("ol", "");
  const nav = element("nav", "contents", list);
  nav.setAttribute("aria-label", t("setup.contents"));
  const update = () =>
    list.replaceChildren(...made.map(({ id, todo }) => {
      const count = todo.length > 0 ? [element("small", "", t("setup.progress", { done: progress(todo, values), all: todo.length }))] : [];
      return element(
        "li",
        progress(todo, values) === todo.length && todo.length > 0 ? "done" : "",
        link(t(`native.section.${id}`), `#${id}`),
        ...count,
      );
    }));
  followProgress(update);
  update();
  return nav;
}

function sections(values, isComplete, hasIDs) {
  const found = blocks(values.platform, values);
  // Only these have what the tenant decides.
  const isReady = ({ section: id }) => (id === "code" ? isComplete : hasIDs);
  const guide = setup.sections.filter((each) => isFor(each, values)).map((each) => {
    const todo = steps(each, values);
    const own = found.filter((block) => block.section === each.id);
    const content = each.id === "package" ? packages(own, true) : own.map((block) => card(block, isReady(block)));
    return { id: each.id, todo, content: [...(todo.length > 0 ? [stepList(todo, values)] : []), ...content] };
  });
  return [
    ...guide,
    { id: "dated", todo: [], content: [outOfDate(values)] },
    { id: "help", todo: [], content: [help(values, isComplete)] },
  ];
}

function judgeAuthority({ tenant, kind, authority }) {
  const place = document.getElementById("authority-verdict");
  const field = document.getElementById("authority");
  if (tenant !== "mine" || kind === "b2c" || !authority) {
    place.textContent = "";
    place.className = "";
    return field.removeAttribute("aria-invalid");
  }
  const { level, isSound, text } = verdict(authority, kind);
  place.className = level;
  if (place.textContent !== text) place.textContent = text;
  if (isSound) field.removeAttribute("aria-invalid");
  else field.setAttribute("aria-invalid", "true");
}

const pasted = document.getElementById("configuration");
const taken = document.getElementById("taken");

pasted.addEventListener("input", async () => {
  if (!pasted.value.trim()) return taken.replaceChildren();
  const [{ readConfiguration }, { finding }] = await Promise.all([import("./config.js"), import("./lint-cards.js"), loadTexts("lint")]);
  const { values: found, seen } = readConfiguration(pasted.value);
  const { kind: _kind, ...values } = found;
  remember(found);
  const labels = (names) => names.map((name) => document.querySelector(`label[for="${name}"]`)?.textContent ?? name).join(", ");
  const names = Object.keys(values);
  const remarks = seen.map(({ level, rule, about, fields = [], ...more }) =>
    finding(level, about ? sentence(about) : t(`setup.seen.${rule}`, { ...more, fields: labels(fields) }))
  );
  taken.replaceChildren(names.length > 0 ? t("setup.taken", { fields: labels(names) }) : t("setup.nothing_taken"), ...remarks);
});

const place = document.getElementById("download");
let reading;

/** Marks the section that is read, in the contents, while the page scrolls. */
function followReading() {
  reading?.disconnect();
  reading = new IntersectionObserver((entries) => {
    const { target } = entries.find(({ isIntersecting }) => isIntersecting) ?? {};
    if (!target) return;
    for (const link of rest.querySelectorAll(".contents a")) {
      if (link.hash === `#${target.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-15% 0px -80%" });
  for (const section of rest.querySelectorAll(".blocks > section")) reading.observe(section);
}

/** The steps that are left for those who have downloaded the project; empty where there is none. */
function withProject(made, values) {
  if (projectsFor(values).length === 0) return "";
  const title = (id) => t(`native.section.${id}`);
  const step = made.find(({ id }) => id === "project").todo.findIndex(({ id }) => id === "team") + 1;
  return t("setup.with_project", { first: title(made[0].id), project: title("project"), step, run: title("run") });
}

/** Where each value is in Xcode: a menu's path, and the name in the tutorial's code. */
const inXcode = {
  bundle_id: ["General › Identity › Bundle Identifier"],
  client_id: ["", "kClientID"],
  redirect_uri: ["Info › URL Types", "kRedirectUri"],
  authority: ["", "kAuthority"],
  scopes: ["", "kScopes"],
};

/** The reader's values, and where each of them is. The demo has no admin center, and the B2C sample other names. */
function showWhere(values) {
  const place = document.getElementById("where");
  place.hidden = values.tenant !== "mine" || values.kind === "b2c";
  document.querySelector(".answers").classList.toggle("fewer", place.hidden);
  // Where accounts of several tenants sign in, no tenant's ID is in the authority: it follows from who may.
  const inEntra = (name) => (name === "authority" && isAlias(values.authority) ? "audience" : name);
  const label = (name) => document.querySelector(`label[for="${name}"]`)?.textContent ?? t(`setup.where.${name}`);
  const code = (text) => (text ? [element("code", "", text)] : []);
  const menu = (text) => (text ? [element("em", "", text), " "] : []);
  const row = ([name, [path, constant]]) =>
    element(
      "tr",
      "",
      element("th", "", label(name), element("br"), element("code", "", [values[name]].flat().join(" "))),
      element("td", "", ...menu(t(`setup.where.entra.${inEntra(name)}`))),
      // Only iOS returns to an app by its scheme.
      element("td", "", ...menu(name === "redirect_uri" && values.platform === "macos" ? "" : path), ...code(constant)),
    );
  const heads = [t("setup.where.value"), "Microsoft Entra", "Xcode"].map((each) => element("th", "", each));
  place.replaceChildren(
    place.firstElementChild,
    element("table", "where", element("thead", "", element("tr", "", ...heads)), element("tbody", "", ...Object.entries(inXcode).map(row))),
  );
}

followForm(({ values, isComplete, hasIDs }) => {
  showWhere(values);
  judgeAuthority(own());
  const made = sections({ ...dated, ...values }, isComplete, hasIDs);
  rest.replaceChildren(contents(made, values), element("div", "blocks", ...made.map(({ id, content }) => section(id, ...content))));
  document.getElementById("with-project").textContent = withProject(made, values);
  fillProject(place, { ...dated, ...values }, isComplete);
  document.querySelector("main").removeAttribute("data-loading");
  followReading();
});

// The sections came after the browser had looked for the one in the address.
function reveal(hash = location.hash) {
  const target = document.getElementById(hash.slice(1));
  if (!target) return;
  const fold = target.closest(".by-hand");
  if (fold) fold.open = true;
  target.scrollIntoView();
}

addEventListener("hashchange", () => reveal());
// A second press is no change of the address.
document.querySelector(".answers").addEventListener("click", ({ target }) => reveal(target.hash ?? ""));
reveal();
