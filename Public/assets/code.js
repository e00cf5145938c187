// The code column: the tutorial's program, made from what was chosen, in which the lines of the present step are lit; and the
// request that a step stands for.

import { base, element, language, t } from "./page.js";
import { known, signOutChoice } from "./flow.js";
import { loadProgram } from "./msal-lines.js";
import { wholeText } from "./template.js";

const page = document.body.dataset.page;

/** What the native app alone has: how it shows the sign-in page, and how it hears of the end. Kept while the tab is open. */
const kept = `code:${page}`;
const own = JSON.parse(sessionStorage.getItem(kept) ?? "{}");
const choices = {
  web_view: ["default", "ephemeral", "authentication_session", ...(page === "macos" ? [] : ["safari"]), "wk_web_view"],
  completion: ["block", "async"],
};

const listing = Object.assign(element("pre", "listing"), { tabIndex: 0 });
const request = element("pre", "request");
const requestTitle = element("h3");
const requestPart = element("div", "request-part", requestTitle, request);
let application = null;

/** The demo's own tenant is no use to a native app: these are what its code names in its place. */
const demoAuthorities = {
  workforce: "https://login.microsoftonline.com/common", external: "https://contoso.ciamlogin.com/",
  b2c: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi",
};

/** A sign-in's settings as the server knows them; null where the form says what the next one asks for. */
let settings = null;
let shown = [];
let lit = "init";

let program;

/** Makes the panel's content. */
export async function fill(box) {
  program = await loadProgram(page);
  const { own: found, demo, apps = [] } = await known;
  application = demo && found ? { ...found, authority: demoAuthorities[found.kind] ?? found.authority } : found;
  listing.setAttribute("aria-label", t("panel.code"));
  requestPart.hidden = true;
  const copy = Object.assign(element("button", "small", t("code.copy")), { type: "button", id: "copy-code" });
  copy.addEventListener("click", () => copyAll(copy));
  const links = documentation();
  box.append(
    element("div", "code-settings", ...Object.entries(choices).map(select)),
    element("p", "code-tools", copy, links.chapter),
    requestPart, listing, element("p", "more", ...links.more),
  );
  if (page === "external") box.append(...workforceHalf(apps));
  document.addEventListener("input", ({ target }) => target.closest?.("#sign-in-options") && follow(null));
  document.addEventListener("change", ({ target }) => target.closest?.("#sign-out-options") && draw());
  document.addEventListener("reset", () => setTimeout(() => follow(null)));
  document.addEventListener("companion-step", ({ detail }) => show(detail));
  draw();
}

/** The chapter's other half has a screen that other pages show already: what differs, and where they are. */
function workforceHalf(apps) {
  const screens = apps.filter((each) => each.page === "ios" || each.page === "macos");
  return [
    element("p", "more", t("code.workforce")),
    element("p", "more", ...screens.map(({ id, title }) => Object.assign(element("a", "", title), { href: `${base}/${id}` }))),
  ];
}

/** Makes the listing again, because the form may have changed while the panel was closed. */
export const update = () => draw();

function select([name, values]) {
  const control = Object.assign(element("select"), { id: `code-${name}` });
  control.append(...values.map((value) => new Option(t(`code.${name}.${value}`), value)));
  control.value = own[name] ?? values[0];
  control.addEventListener("change", () => {
    own[name] = control.value;
    sessionStorage.setItem(kept, JSON.stringify(own));
    draw();
  });
  return element("label", "", t(`code.${name}`), control);
}

function follow(attempt) {
  settings = attempt;
  draw();
}

/** What the program is made from: the sign-in's settings, else what the form says. */
function choice() {
  const { kind = "workforce", authority = demoAuthorities.workforce, scopes = [], prompt } = application ?? {};
  const form = document.getElementById("sign-in-options");
  const typed = form ? Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()])) : {};
  const signoutFromBrowser = signOutChoice.get() === "browser";
  const usual = { kind, authority, scopes, webView: own.web_view, completion: own.completion, signoutFromBrowser };
  if (!settings) {
    return { ...usual, prompt: typed.prompt || (page === "external" ? prompt : "select_account"), loginHint: typed.login_hint, tenant: typed.tenant,
      domainHint: typed.domain_hint, claims: typed.claims, extraScopes: typed.scope?.split(/\s+/).filter(Boolean) };
  }
  return { ...usual, prompt: settings.prompt ?? "if_necessary", tenant: settings.tenant, domainHint: settings.domain_hint, claims: settings.claims,
    // Who it was for is not kept: the same name as in the form, else a place for one.
    loginHint: settings.login_hint ? typed.login_hint || "name@example.com" : null,
    extraScopes: settings.scopes.filter((scope) => !scopes.includes(scope)) };
}

function draw() {
  shown = program(choice());
  const runs = [];
  for (const { text, steps } of shown) {
    const key = steps.join(" ");
    if (runs.at(-1)?.key === key) runs.at(-1).text += `${text}\n`;
    else runs.push({ key, text: `${text}\n` });
  }
  listing.replaceChildren(...runs.map(({ key, text }) => {
    const run = element("code", "run", text);
    run.dataset.steps = key;
    return run;
  }));
  colour(listing);
  light();
}

/** Lights the lines of a step, which the listing then has in sight, and shows the step's request. */
function show({ step, settings: attempt, request: sent, title }) {
  lit = step;
  if (sent !== undefined) {
    requestPart.hidden = !sent;
    requestTitle.textContent = title ?? "";
    request.textContent = sent ?? "";
  }
  if (attempt !== undefined && JSON.stringify(attempt) !== JSON.stringify(settings)) return follow(attempt);
  light();
}

/** The steps that are a call of acquireTokenSilent. */
const silent = new Set(["cached", "refreshed", "silent"]);

function light() {
  let first = null;
  let last = null;
  for (const run of listing.children) {
    const isLit = run.dataset.steps.split(" ").includes(lit);
    run.classList.toggle("lit", isLit);
    if (isLit) {
      first ??= run;
      last = run;
    }
  }
  if (!first) return;
  const room = listing.clientHeight;
  const height = last.offsetTop + last.offsetHeight - first.offsetTop;
  // Of a silent call the function says more than the line that calls it, which is the first that is lit.
  const main = (silent.has(lit) && [...listing.querySelectorAll(".lit")].find((run) => /^\s*func /m.test(run.textContent))) || first;
  const top = height < room ? first.offsetTop - (room - height) / 2 : main.offsetTop - 8;
  listing.scrollTo({ top, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

async function copyAll(button) {
  try {
    await navigator.clipboard.writeText(wholeText(shown));
    button.textContent = t("common.copied");
  } catch {
    button.textContent = t("common.not_copied");
  }
  setTimeout(() => (button.textContent = t("code.copy")), 1500);
}

// MARK: Colours

// Swift's words in colour: strings, comments, keywords, and the names of types. They are ranges of text, and no elements.

const words = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(import|class|enum|static|let|var|func|override|super|self|init|try|await|async|throws|throw|do|catch|guard|else|if|return|in|case|nil|true|false|as)\b|(@\w+|#\w+)|\b([A-Z]\w+)\b/gm;
const kinds = ["note", "text", "word", "word", "name"];

/** Colours the program in an element, where the browser can. */
function colour(listing) {
  if (!CSS.highlights) return;
  CSS.highlights.clear();
  // Forced colours would make blocks of the ranges.
  if (matchMedia("(forced-colors: active)").matches) return;
  const found = Object.fromEntries(kinds.map((kind) => [kind, []]));
  for (const { firstChild: text } of listing.children) {
    for (const match of text.data.matchAll(words)) {
      const range = new StaticRange({ startContainer: text, startOffset: match.index, endContainer: text, endOffset: match.index + match[0].length });
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
  b2c: { chapter: "azure/active-directory-b2c/configure-authentication-sample-ios-app", sample: `${samples}/active-directory-b2c-ios-swift-native-msal` },
};

function out(label, address) {
  return Object.assign(element("a", "out", label), { href: address, target: "_blank", rel: "noopener noreferrer", referrerPolicy: "no-referrer" });
}

/** The links of the page's tutorial: its `chapter`, and `more`. */
function documentation() {
  const learn = (path) => `https://learn.microsoft.com/${locales[language] ?? "en-us"}/${path}`;
  const { chapter, sample } = chapters[page];
  const isMain = page === "ios" || page === "macos";
  const main = isMain ? [out(t("code.graph"), learn("graph/api/user-get")), out(t("code.chapter_workforce"), learn(signInChapter("workforce")))] : [];
  return {
    chapter: out(t("code.chapter"), learn(chapter)),
    more: [out(t("code.sample"), sample), out(t("code.errors"), learn("entra/msal/objc/error-handling-ios")), ...main],
  };
}
