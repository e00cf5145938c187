// The code: the tutorial's program, made from what was chosen, in which the lines of a flow are lit, and most of all those of its
// present step.

import { base, copyWith, element, hangingLines, language, ofTab, t } from "../base/page.js";
import { light as tell, present, source } from "./panels.js";
import { loadProgram, wholeText } from "../base/project.js";
import { filled, followValues, own, remember } from "../base/values.js";

const page = document.body.dataset.page;

/** The native app alone chooses how it shows the sign-in page, and how it hears of the end. Kept while the tab is open. */
const keptKey = `code:${page}`;
const kept = ofTab.json(keptKey, {});
const choices = {
  web_view: ["default", "ephemeral", "authentication_session", ...(page === "macos" ? [] : ["safari"]), "wk_web_view"],
  completion: ["block", "async"],
};

/** Which of the reader's values the page is about. */
const here = { kind: { external: "external", b2c: "b2c" }[page] ?? "workforce", platform: page === "macos" ? "macos" : "ios" };
const fields = ["bundle_id", "client_id", ...(page === "b2c" ? ["host", "tenant_name", "sign_in_policy", "edit_policy"] : ["authority"])];

const listing = Object.assign(element("pre", "listing"), { tabIndex: 0 });
let application = null;
let isDemo = false;

/** A sign-in's settings as the server knows them; null where the form says what the next one asks for. */
let settings = null;
let shown = [];
/** The choice that it was made from. */
let drawn;

let program;

/** Makes the panel's content. */
export async function fill(box) {
  program = await loadProgram(page);
  const { own: found, demo, apps = [] } = await source.known;
  [application, isDemo] = [found, Boolean(demo)];
  listing.setAttribute("aria-label", t("panel.code"));
  const copy = Object.assign(element("button", "small", t("code.copy")), { type: "button", id: "copy-code" });
  copy.addEventListener("click", () => copyWith(copy, wholeText(shown)));
  const settingsPart = element("div", "code-settings", ...(valuesFit() ? reader() : []), ...Object.entries(choices).map(select));
  const values = Object.assign(element("button", "unfolds", t("code.settings")), {
    type: "button",
    id: "code-values",
    ariaExpanded: "false",
  });
  settingsPart.hidden = true;
  values.addEventListener("click", () => {
    settingsPart.hidden = !settingsPart.hidden;
    values.ariaExpanded = String(!settingsPart.hidden);
  });
  const more = element("details", "more", element("summary", "unfolds", t("code.more")), element("p", "", ...documentation()));
  if (page === "external") more.append(...workforceHalf(apps));
  const legend = Object.assign(element("p", "", t("code.differs")), { id: "code-legend" });
  box.append(element("p", "code-tools", values, copy), settingsPart, legend, listing, more);
  document.addEventListener("input", ({ target }) => target.closest?.("#sign-in-options") && followForm());
  document.addEventListener("change", ({ target }) => target.closest?.("#sign-out-options") && followForm());
  document.addEventListener("reset", () => setTimeout(followForm));
  document.addEventListener("companion-step", follow);
  settings = present.settings ?? null;
  followValues(() => draw());
}

/** The chapter's other half has a screen that other pages show already: what differs, and where they are. */
function workforceHalf(apps) {
  const screens = apps.filter((each) => each.page === "ios" || each.page === "macos");
  return [
    element("p", "", t("code.workforce")),
    element("p", "", ...screens.map(({ id, title }) => Object.assign(element("a", "", title), { href: `${base}/${id}` }))),
  ];
}

/** Makes the listing again, because the form may have changed while the code was not shown. */
export const update = () => draw();

function select([name, values]) {
  const control = Object.assign(element("select"), { id: `code-${name}` });
  control.append(...values.map((value) => new Option(t(`code.${name}.${value}`), value)));
  control.value = kept[name] ?? values[0];
  control.addEventListener("change", () => {
    kept[name] = control.value;
    ofTab.set(keptKey, JSON.stringify(kept));
    draw();
  });
  return element("label", "", t(`code.${name}`), control);
}

/** The reader's values are for the page's own kind of tenant. */
const valuesFit = () => !application || application.kind === here.kind;

/** The fields of the reader's values: which tenant, and what is the app's own. */
function reader() {
  const tenant = Object.assign(element("select"), { id: "value-tenant" });
  tenant.append(...["mine", "demo"].map((value) => new Option(t(`code.value.tenant.${value}`), value)));
  tenant.addEventListener("change", () => remember({ tenant: tenant.value }));
  const inputs = Object.fromEntries(fields.map((name) => {
    const input = Object.assign(element("input", "mono"), {
      id: `value-${name}`,
      autocomplete: "off",
      spellcheck: false,
      autocapitalize: "none",
    });
    input.addEventListener("input", () => remember({ [name]: input.value.trim() }, here));
    return [name, input];
  }));
  const labelled = (name, control) => element("label", "", t(`code.value.${name}`), control);
  const labels = fields.map((name) => labelled(name, inputs[name]));
  followValues(() => {
    const values = own(here);
    tenant.value = values.tenant;
    fields.forEach((name, index) => {
      // A field in which somebody types is not touched.
      if (document.activeElement !== inputs[name]) inputs[name].value = values[name];
      // The demo's tenant has all but the bundle ID.
      labels[index].hidden = values.tenant === "demo" && name !== "bundle_id";
    });
  });
  const more = Object.assign(element("a", "", t("code.value.more")), { href: `${base}/native` });
  return [labelled("tenant", tenant), ...labels, element("p", "set-up", more)];
}

/** The app's own values are the reader's, which until they are complete give way to those of this server's application. */
function app() {
  const values = filled(here);
  const found = {
    kind: here.kind,
    authority: values.authority,
    scopes: values.scopes,
    api: values.api || undefined,
    clientID: values.client_id,
    bundleID: values.bundle_id,
    knownAuthority: values.known_authority,
    graph: values.graph,
    editPolicy: values.edit_policy,
  };
  const isOfServer = application && (!valuesFit() || (!isDemo && values.tenant === "mine" && !values.isComplete));
  if (!isOfServer) return found;
  const { kind, authority, scopes } = application;
  return { ...found, kind, authority, scopes, knownAuthority: false };
}

/** The code is that of the next sign-in, in which no line is one of what has happened. */
const followForm = () => tell({ step: present.outcome ? null : present.step, settings: null });

/** Lights the lines of the present step, in the code with the settings of its sign-in. */
function follow() {
  if (present.settings !== undefined) settings = present.settings;
  if (JSON.stringify(choice()) === drawn) light();
  else draw();
}

/** The program is made from the sign-in's settings, else from the form. */
function choice() {
  const form = document.getElementById("sign-in-options");
  const typed = form ? Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()])) : {};
  const signoutFromBrowser = present.browser ?? source.signOutChoice?.get() === "browser";
  const usual = { ...app(), webView: kept.web_view, completion: kept.completion, signoutFromBrowser };
  const { prompt, scopes } = application ?? usual;
  if (!settings) {
    return {
      ...usual,
      prompt: typed.prompt || (page === "external" ? prompt : "select_account"),
      loginHint: typed.login_hint,
      tenant: typed.tenant,
      domainHint: typed.domain_hint,
      claims: typed.claims,
      extraScopes: typed.scope?.split(/\s+/).filter(Boolean),
    };
  }
  return {
    ...usual,
    prompt: settings.prompt ?? "if_necessary",
    tenant: settings.tenant,
    domainHint: settings.domain_hint,
    claims: settings.claims,
    // Who it was for is not kept.
    loginHint: settings.login_hint ? "name@example.com" : null,
    extraScopes: settings.scopes.filter((scope) => !scopes.includes(scope)),
  };
}

function draw() {
  const chosen = choice();
  drawn = JSON.stringify(chosen);
  shown = program(chosen);
  listing.replaceChildren(...hangingLines(shown.map(({ text }) => text).join("\n"), "line run"));
  shown.forEach(({ steps, own }, index) => {
    listing.children[index].dataset.steps = steps.join(" ");
    if (own) mark(listing.children[index], own, shown[index - 1]?.own);
  });
  document.getElementById("code-legend").hidden = !listing.querySelector(".own");
  colour(listing);
  light();
}

/** Marks a line that is not the tutorial's. The first of those with one reason says it when asked. */
function mark(run, reason, before) {
  run.classList.add("own");
  if (reason === before) return;
  const button = Object.assign(element("button"), {
    type: "button",
    title: t("code.own"),
    ariaLabel: t("code.own"),
    ariaExpanded: "false",
  });
  button.addEventListener("click", () => {
    const isOpen = button.ariaExpanded === "true";
    button.ariaExpanded = String(!isOpen);
    if (isOpen) button.nextElementSibling.remove();
    else button.after(element("span", "why", t(`code.own.${reason}`)));
  });
  run.append(button);
}

/** The steps that are a call of acquireTokenSilent. */
const silent = new Set(["cached", "refreshed", "silent", "silent_failed"]);

const stepsOf = (run) => run.dataset.steps.split(" ");

/** Lights the lines of the present step, less those of the other steps of its flow, which have their numbers beside them. */
function light() {
  const { step, lines = step, flow } = present;
  let before = "";
  for (const run of listing.children) {
    const steps = stepsOf(run);
    const numbers = (flow ?? []).flatMap((each, index) => (steps.includes(each) ? [index + 1] : [])).join(" ");
    run.classList.toggle("lit", steps.includes(lines));
    run.classList.toggle("passed", numbers !== "");
    if (numbers && numbers !== before) run.dataset.number = numbers;
    else delete run.dataset.number;
    // Once for each function.
    if (numbers || !run.textContent.trim()) before = numbers;
  }
  bringIntoSight(lines, flow?.find((each) => silent.has(each)));
}

/** Where the lines of a step are. Of a silent call the function says more than the line that calls it. */
function place(step) {
  const runs = [...listing.children].filter((run) => stepsOf(run).includes(step));
  const first = (silent.has(step) && runs.find((run) => /^\s*func /.test(run.textContent))) || runs[0];
  return first && { top: first.offsetTop, bottom: runs.at(-1).offsetTop + runs.at(-1).offsetHeight };
}

/** Has a step's lines in sight; and those of its flow's silent call, which is where MSAL decides, before all others. */
function bringIntoSight(step, silentStep) {
  const wanted = place(step);
  if (!wanted) return;
  const main = (silentStep && place(silentStep)) ?? wanted;
  const top = Math.min(wanted.top, main.top);
  const height = Math.max(wanted.bottom, main.bottom) - top;
  const room = listing.clientHeight;
  listing.scrollTo({
    top: height < room ? top - (room - height) / 2 : main.top - 8,
    behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
  });
}

// MARK: Colours

// Swift's words in colour: strings, comments, keywords, and the names of types. They are ranges of text, and no elements.

const words =
  /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(import|class|enum|static|let|var|func|override|super|self|init|try|await|async|throws|throw|do|catch|guard|else|if|return|in|case|nil|true|false|as)\b|(@\w+|#\w+)|\b([A-Z]\w+)\b/gm;
const kinds = ["note", "text", "word", "word", "name"];

/** Colours the program in an element, where the browser can. */
function colour(listing) {
  if (!CSS.highlights) return;
  CSS.highlights.clear();
  // Forced colours would make blocks of the ranges.
  if (matchMedia("(forced-colors: active)").matches) return;
  const found = Object.fromEntries(kinds.map((kind) => [kind, []]));
  for (const { childNodes: [, text] } of listing.children) {
    for (const match of text.data.matchAll(words)) {
      const range = new StaticRange({
        startContainer: text,
        startOffset: match.index,
        endContainer: text,
        endOffset: match.index + match[0].length,
      });
      found[kinds[match.slice(1).findIndex(Boolean)]].push(range);
    }
  }
  for (const [kind, ranges] of Object.entries(found)) CSS.highlights.set(`swift-${kind}`, new Highlight(...ranges));
}

// MARK: Links

// They open in a tab of their own, and do not say from where.

/** Microsoft Learn's names for our languages. */
const locales = { en: "en-us", ja: "ja-jp", "pt-BR": "pt-br", "pt-PT": "pt-pt", sv: "sv-se", "zh-Hans": "zh-cn" };

const samples = "https://github.com/Azure-Samples";
/** The sign-in chapter, of which Learn shows either half. */
const signInChapter = (half) => `entra/identity-platform/tutorial-mobile-app-ios-swift-sign-in?pivots=${half}`;

const chapters = {
  ios: { chapter: "entra/identity-platform/tutorial-v2-ios", sample: `${samples}/ms-identity-mobile-apple-swift-objc` },
  macos: { chapter: "entra/identity-platform/tutorial-v2-ios", sample: `${samples}/ms-identity-macOS-swift-objc` },
  external: { chapter: signInChapter("external"), sample: `${samples}/ms-identity-ciam-browser-delegated-ios-sample` },
  b2c: {
    chapter: "azure/active-directory-b2c/configure-authentication-sample-ios-app",
    sample: `${samples}/active-directory-b2c-ios-swift-native-msal`,
  },
};

function out(label, address) {
  return Object.assign(element("a", "out", label), {
    href: address,
    target: "_blank",
    rel: "noopener noreferrer",
    referrerPolicy: "no-referrer",
  });
}

/** The links of the page's tutorial, its chapter first. */
function documentation() {
  const learn = (path) => `https://learn.microsoft.com/${locales[language] ?? "en-us"}/${path}`;
  const { chapter, sample } = chapters[page];
  const isMain = page === "ios" || page === "macos";
  const main = isMain
    ? [out(t("code.graph"), learn("graph/api/user-get")), out(t("code.chapter_workforce"), learn(signInChapter("workforce")))]
    : [];
  const outOfDate = Object.assign(element("a", "", t("code.out_of_date")), { href: `${base}/native#dated` });
  return [
    out(t("code.chapter"), learn(chapter)),
    outOfDate,
    out(t("code.sample"), sample),
    out(t("code.errors"), learn("entra/msal/objc/error-handling-ios")),
    ...main,
  ];
}
