// What a native app needs before MSAL works in it, in the order in which it is needed, with the reader's own values.

import { authorityBox, verdict } from "./native-authority.js";
import { blockCard, blocks, followForm, isFor, setup } from "./native-setup.js";
import { followProgress, progress, stepList } from "./native-steps.js";
import { base, element, t } from "./page.js";
import { tabs } from "./tabs.js";
import { own, remember } from "./values.js";

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

const project = later(() => import("./native-project.js"));
const dated = later(() => import("./native-dated.js"));

function section(id, ...content) {
  const title = Object.assign(element("h2", "", t(`native.section.${id}`)), { id: `${id}-title` });
  const made = Object.assign(element("section", "card", title, ...content), { id });
  made.setAttribute("aria-labelledby", title.id);
  return made;
}

const steps = ({ steps: all }, values) => all.filter((step) => isFor(step, values));

const card = (block, isReady) => blockCard({ ...block, title: t(`native.block.${block.id}`), note: t(`native.note.${block.id}`) }, isReady, "h3");

/** Ways of getting MSAL into the project, of which one is enough. */
function packages(found, isReady) {
  const names = ["swift", "pods", "carthage", "submodule"];
  return tabs("package", t("native.section.package"), names.map((id) => ({
    id, title: t(`setup.package.${id}`), content: [element("p", "note", t(`setup.package_note.${id}`)), ...found.filter(({ tab }) => tab === id).map((block) => card(block, isReady))],
  })));
}

const out = (label, href) => Object.assign(element("a", "out", label), { href, target: "_blank", rel: "noopener noreferrer", referrerPolicy: "no-referrer" });
const link = (label, href) => Object.assign(element("a", "", label), { href });

/** Where to go on. */
function help(values, isComplete) {
  const registration = `https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationMenuBlade/~/Authentication/appId/${values.client_id}`;
  return element("ul", "links", ...[
    link(t("setup.help.lint"), `${base}/native/lint`), link(t("setup.help.explain"), `${base}/native/explain`),
    isComplete && values.tenant === "mine" && values.kind !== "b2c" && out(t("setup.help.registration"), registration),
    out(t("setup.help.errors"), "https://learn.microsoft.com/entra/msal/objc/error-handling-ios"),
    out(t("setup.help.issues"), "https://github.com/AzureAD/microsoft-authentication-library-for-objc/issues"),
    out(t("setup.help.questions"), "https://stackoverflow.com/questions/tagged/msal"),
    out(t("setup.help.support"), "https://learn.microsoft.com/entra/identity-platform/developer-support-help-options"),
  ].filter(Boolean).map((each) => element("li", "", each)));
}

/** The contents list, with what is done of each section. */
function contents(made, values) {
  const list = element("ol", "");
  const nav = element("nav", "contents", list);
  nav.setAttribute("aria-label", t("setup.contents"));
  const update = () => list.replaceChildren(...made.map(({ id, todo }) => {
    const count = todo.length > 0 ? [element("small", "", t("setup.progress", { done: progress(todo, values), all: todo.length }))] : [];
    return element("li", progress(todo, values) === todo.length && todo.length > 0 ? "done" : "", link(t(`native.section.${id}`), `#${id}`), ...count);
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
    if (each.id === "code") content.push(Object.assign(element("h3", "whole", t("setup.whole_app")), { id: "whole" }), project(values, isComplete));
    return { id: each.id, todo, content: [...(todo.length > 0 ? [stepList(todo, values)] : []), ...content] };
  });
  const terminal = found.filter((block) => block.section === "terminal").map((block) => card(block, hasIDs));
  return [
    ...guide,
    { id: "check", todo: [], content: [authorityBox(values)] },
    { id: "dated", todo: [], content: [dated(values)] },
    ...(terminal.length > 0 ? [{ id: "terminal", todo: [], content: terminal }] : []),
    { id: "help", todo: [], content: [help(values, isComplete)] },
  ];
}

function judgeAuthority({ tenant, kind, authority }) {
  const place = document.getElementById("authority-verdict");
  const field = document.getElementById("authority");
  if (tenant !== "mine" || kind === "b2c" || !authority) {
    place.textContent = "";
    return field.removeAttribute("aria-invalid");
  }
  const { isAccepted, text } = verdict(authority, kind);
  place.className = isAccepted ? "" : "bad";
  if (place.textContent !== text) place.textContent = text;
  if (isAccepted) field.removeAttribute("aria-invalid");
  else field.setAttribute("aria-invalid", "true");
}

const pasted = document.getElementById("configuration");
const taken = document.getElementById("taken");

pasted.addEventListener("input", async () => {
  if (!pasted.value.trim()) return taken.replaceChildren();
  const { configuration } = await import("./native-config.js");
  const found = configuration(pasted.value);
  const { kind, ...values } = found;
  remember(found);
  const fields = Object.keys(values).map((name) => document.querySelector(`label[for="${name}"]`)?.textContent ?? name);
  taken.textContent = fields.length > 0 ? t("setup.taken", { fields: fields.join(", ") }) : t("setup.nothing_taken");
});

followForm(({ values, isComplete, hasIDs }) => {
  judgeAuthority(own());
  const made = sections(values, isComplete, hasIDs);
  rest.replaceChildren(contents(made, values), element("div", "blocks", ...made.map(({ id, content }) => section(id, ...content))));
});

// The sections came after the browser had looked for the one in the address.
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
