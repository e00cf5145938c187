// The scrubber: a case step by step, with the wire, the request, the answer, the Swift, and what the token proves.

import { NoCase, ofFragment, readCase } from "./case.js";
import { get } from "./api.js";
import { base, element, t } from "./page.js";
import { request } from "./steps.js";

const paste = document.getElementById("paste");
const place = document.getElementById("found");

/** The call of MSAL, or of the system, that a step represents in an app. */
const swift = {
  authorize: "let parameters = MSALInteractiveTokenParameters(\n  scopes: scopes, webviewParameters: webviewParameters)\napplication.acquireToken(with: parameters) { result, error in",
  callback: "func scene(_ scene: UIScene, openURLContexts contexts: Set<UIOpenURLContext>) {\n  MSALPublicClientApplication.handleMSALResponse(\n    url, sourceApplication: source)",
  token: "let token = result.accessToken\n// or, without a page:\napplication.acquireTokenSilent(with: silentParameters) { result, error in",
  api: 'request.setValue("Bearer \\(token)", forHTTPHeaderField: "Authorization")\nlet (data, response) = try await URLSession.shared.data(for: request)',
  sign_out: "application.signout(with: account, signoutParameters: parameters) { success, error in",
};
const parties = { authorize: "app → browser → platform", callback: "platform → browser → app", token: "app → platform", api: "app → API", sign_out: "app → browser → platform" };
const endpoints = { authorize: "https://authority/oauth2/v2.0/authorize", callback: "https://redirect-uri/", token: "https://authority/oauth2/v2.0/token", api: "https://api/", sign_out: "https://authority/oauth2/v2.0/logout" };
const kindsOfRequest = { token: "redeemed" };
const fine = ["ok", "cache", "refreshed"];

const block = (name, ...content) => element("section", "card", element("h2", "", t(`case.${name}`)), ...content);
const code = (text) => Object.assign(element("pre", "mono", text), { tabIndex: 0 });

function answer({ outcome, status, ms }, number) {
  const isGood = fine.includes(outcome);
  const words = [status && `HTTP ${status}`, outcome, !isGood && number, ms != null && `${ms} ms`].filter(Boolean).join(" · ");
  return [element("p", isGood ? "good" : "bad", words), ...(isGood ? [] : [element("p", "", t(`sign_in.${outcome}`) || t("sign_in.unknown"))])];
}

function claims(all) {
  const names = Object.entries(all);
  return names.length === 0 ? element("p", "quiet", t("case.no_claims")) : element("ul", "", ...names.map(([name, type]) => element("li", "", element("code", "", name), ` ${type}`)));
}

function show(found) {
  const { settings, steps, outcome } = found;
  let at = 0;
  const list = element("ol", "scrubber");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", t("case.steps"));
  list.tabIndex = 0;
  const items = steps.map(({ step, outcome: came }, index) => {
    const item = element("li", fine.includes(came) ? "" : "bad", t(`portal.step.${step}`));
    item.id = `step-${index}`;
    item.setAttribute("role", "option");
    item.addEventListener("click", () => go(index));
    return item;
  });
  list.append(...items);
  const panels = element("div", "panels");
  panels.setAttribute("aria-live", "polite");
  const position = element("p", "quiet");
  function go(index) {
    at = Math.max(0, Math.min(steps.length - 1, index));
    for (const [each, item] of items.entries()) item.setAttribute("aria-selected", String(each === at));
    list.setAttribute("aria-activedescendant", `step-${at}`);
    const step = steps[at];
    position.textContent = t("case.position", { step: at + 1, all: steps.length });
    const sent = request(kindsOfRequest[step.step] ?? step.step, { endpoint: endpoints[step.step], outcome: step.outcome }, { prompt: settings.prompt, scopes: settings.scopes, login_hint: settings.given.includes("login_hint") });
    panels.replaceChildren(
      block("wire", element("p", "", parties[step.step])), block("request", code(sent ?? t("case.nothing_sent"))),
      block("answer", ...answer(step, outcome.number)), block("swift", code(swift[step.step])),
      ...(step.step === "token" ? [block("proves", claims(found.claims))] : []));
  }
  list.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  const facts = [
    [t("case.kind"), found.kind], [t("case.outcome"), [outcome.code, outcome.number].filter(Boolean).join(" · ")], [t("case.prompt"), settings.prompt],
    [t("case.scopes"), settings.scopes.join(" ")], [t("case.given"), settings.given.join(", ") || t("case.none")],
  ];
  place.replaceChildren(
    element("p", "notice", t("case.somebodys")),
    element("dl", "facts", ...facts.flatMap(([term, value]) => [element("dt", "", term), element("dd", "", value)])),
    ...(steps.length > 0 ? [element("p", "quiet", t("case.keys")), list, position, panels] : [element("p", "", t("case.no_steps"))]),
  );
  if (steps.length > 0) {
    const failed = steps.findIndex(({ outcome: came }) => !fine.includes(came));
    go(failed < 0 ? 0 : failed);
  }
}

/** In the demo, this browser's next sign-in fails like the case. */
async function offerReplay({ kind, replay, settings }) {
  if (!replay) return;
  const { demo, apps } = await get("/api/apps").catch(() => ({ demo: false }));
  if (!demo) return;
  const own = apps.filter((each) => each.kind === kind && each.page !== "kiosk");
  const chosen = own.find(({ page }) => page === "portal") ?? own[0];
  if (!chosen) return;
  const query = new URLSearchParams({ replay: replay.kind, return_to: `${base}/${chosen.id}`, ...(settings.prompt === "none" ? {} : { prompt: settings.prompt }) });
  const link = Object.assign(element("a", "button", t("case.replay")), { href: `${base}/auth/${chosen.id}/sign-in?${query}` });
  place.append(element("p", "buttons", link, element("span", "quiet", ` ${t("case.replay_note")}`)));
}

function read() {
  const text = paste.value.trim();
  if (!text) return place.replaceChildren();
  try {
    const found = readCase(text);
    show(found);
    offerReplay(found);
  } catch (error) {
    if (!(error instanceof NoCase)) throw error;
    place.replaceChildren(element("section", "card", element("p", "bad", t(`case.error.${error.reason}`, { place: error.place }))));
  }
}

/** A link's case is shown as text too, so that it can be saved. */
function readLink() {
  const text = ofFragment(location.hash);
  if (text === null) return;
  paste.value = text;
  read();
}

paste.addEventListener("input", read);
document.getElementById("file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  if (!file) return;
  // What is larger is no case; it is not read into the page.
  paste.value = file.size > 65536 ? " ".repeat(9000) + "x" : await file.text();
  read();
});
addEventListener("hashchange", readLink);
readLink();
