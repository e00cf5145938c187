// The code column: the tutorial's program, made from what was chosen, in which the lines of the present step are lit; and the
// request that a step stands for.

import { element } from "./element.js";
import { known } from "./flow.js";
import { wholeText } from "./msal-lines-parts.js";
import { documentation } from "./links.js";
import { colour } from "./swift-text.js";
import { language, loadTexts, t } from "./strings.js";

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
  const loading = page === "b2c" ? import("./msal-lines-b2c.js") : import("./msal-lines.js");
  await loadTexts("code");
  ({ program } = await loading);
  const { own: found, demo } = await known;
  application = demo && found ? { ...found, authority: demoAuthorities[found.kind] ?? found.authority } : found;
  listing.setAttribute("aria-label", t("panel.code"));
  requestPart.hidden = true;
  const copy = Object.assign(element("button", "small", t("code.copy")), { type: "button", id: "copy-code" });
  copy.addEventListener("click", () => copyAll(copy));
  const links = documentation(page, language);
  box.append(
    element("div", "code-settings", ...Object.entries(choices).map(select)),
    element("p", "code-tools", copy, links.chapter),
    requestPart, listing, element("p", "more", ...links.more),
  );
  document.addEventListener("input", ({ target }) => target.closest?.("#sign-in-options") && follow(null));
  document.addEventListener("reset", () => setTimeout(() => follow(null)));
  document.addEventListener("companion-step", ({ detail }) => show(detail));
  draw();
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
  const usual = { kind, authority, scopes, webView: own.web_view, completion: own.completion };
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
  shown = program(page, choice());
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
  const top = first.offsetTop - (height < room ? (room - height) / 2 : 8);
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
