// The team portal: loads the applications, shows the chosen one's account and the view of the chosen tab.

import { abandonTrip, Failure, get, leftError, loadApplications, onForeground, returnFocus, takeReturn } from "../base/api.js";
import { showDemoAccount } from "./demo.js";
import { element, t } from "../base/page.js";
import { choose, chosen, keep, kept, startForm } from "./form.js";
import { closeList, listed, refreshList, showAccount, showCurrent, startList } from "./list.js";
import { announce, button, explained, noReturn, run } from "./parts.js";

/** A view's module is loaded when it is first looked at; its `view` returns the content of the tab. */
const views = {
  account: () => import("./account.js"),
  tokens: () => import("./tokens.js"),
  api: () => import("./api.js"),
  attempts: () => import("./attempts.js"),
  health: () => import("./health.js"),
};
/** The one view that is about no registration; the list leads to it. */
const sessions = "sessions";
/** The content of the account's tab while nobody is signed in. */
const welcome = () => import("./welcome.js");
const tabs = Object.keys(views);
const names = [...tabs, sessions];
/** These are about the account that is signed in. */
const personal = ["account", "tokens", "api"];
const panelOf = (name) => document.getElementById(name);
const tabOf = (name) => document.getElementById(`tab-${name}`);

const state = document.getElementById("state");
const columns = document.getElementById("columns");
const who = document.getElementById("who");
const outcome = document.getElementById("outcome");
const result = document.getElementById("result");
/** It stands in the list, below the registrations. */
const sessionsButton = tabOf(sessions);

/** Every view is given this. `account` is undefined until the server has said it, null when none is signed in. */
const context = {
  apps: [],
  apis: [],
  application: null,
  account: undefined,
  mode: null,
  tokenDisplay: null,
  openAttempt: null,
  // The outcome of the case that this tab has left to replay.
  expected: null,
  open,
  refreshList,
  // The list may say more or less when an account is signed out.
  reload: () => Promise.all([reload(), refreshList().catch(() => {})]),
};

// MARK: The view

let tab = "account";
let turn = 0;
/** The newest request for the account that is under way; its answer draws the tab where no account was known. */
let asking = null;

const again = (work) => button(t("portal.try_again"), (pressed) => run(pressed, null, work));

/** Draws the view of the tab. A late answer for another application or tab is dropped. */
async function draw() {
  const panel = panelOf(tab);
  const hadFocus = panel.contains(document.activeElement);
  const whose = JSON.stringify([context.application.id, context.account?.id]);
  if (panel.dataset.whose !== whose) showLoading(panel);
  const mine = ++turn;
  const { application } = context;
  let content = [element("p", "empty", t("portal.nobody_yet", { title: context.application.title }))];
  try {
    const isNobody = personal.includes(tab) && !context.account;
    const load = tab === sessions ? () => import("./sessions.js") : !isNobody ? views[tab] : tab === "account" ? welcome : null;
    if (load) {
      const { view } = await load().catch(() => Promise.reject(new Failure(t("api.unreachable"))));
      // Meanwhile another application may have been chosen, to which nobody is signed in.
      if (mine !== turn || context.application !== application) return;
      content = [...(isNobody ? content : []), ...await view({ ...context })];
    }
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    content = [explained(failure, again(draw))];
  }
  if (mine !== turn) return;
  panel.dataset.whose = whose;
  panel.replaceChildren(...content);
  // The button that was pressed may be gone with the content.
  if (hadFocus && !panel.contains(document.activeElement)) panel.focus();
}

const showLoading = (panel) => panel.replaceChildren(element("p", "empty", t("portal.loading")));

function select(name) {
  tab = name;
  result.classList.toggle("alone", name === sessions);
  sessionsButton.ariaCurrent = String(name === sessions);
  for (const each of names) panelOf(each).hidden = each !== name;
  for (const each of tabs) {
    tabOf(each).setAttribute("aria-selected", String(each === name));
    tabOf(each).tabIndex = each === name ? 0 : -1;
  }
  showCurrent(name === sessions ? null : chosen().id);
  keep({ tab: name });
}

function open(name) {
  select(name);
  tabOf(name).focus();
  // Drawn twice, it would change under the person's hand.
  if (!asking || context.account !== undefined) return draw();
  turn += 1;
  showLoading(panelOf(name));
}

function addPanel(name, label, role) {
  const panel = Object.assign(element("div"), { id: name, role, tabIndex: 0 });
  panel.setAttribute("aria-labelledby", label.id);
  result.append(panel);
}

for (const [index, name] of tabs.entries()) {
  const made = button(t(`portal.tab.${name}`), () => open(name), "");
  Object.assign(made, { id: `tab-${name}`, role: "tab" });
  made.setAttribute("aria-controls", name);
  made.addEventListener("keydown", (event) => {
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(tabs.at(to % tabs.length));
  });
  document.getElementById("tabs").append(made);
  addPanel(name, made, "tabpanel");
}
addPanel(sessions, sessionsButton, "region");
sessionsButton.addEventListener("click", () => {
  open(sessions);
  closeList();
});

// MARK: The account

/** Loads the chosen application's account, then the view. With `onlyChanges` nothing happens when it is still the same. */
async function reload({ onlyChanges = false } = {}) {
  const application = chosen();
  if (context.application !== application) context.account = undefined;
  context.application = application;
  showDemoAccount(application.kind);
  document.getElementById("result-title").textContent = application.title;
  if (context.account === undefined) {
    who.className = "who";
    who.textContent = t("portal.loading");
  }
  let isDue;
  const mine = (asking = Symbol());
  try {
    const { account, needs_sign_in: needs } = await get(`/api/${application.id}/account`);
    if (application !== context.application) return;
    isDue = !onlyChanges || context.account === undefined || context.account?.id !== account?.id;
    context.account = account;
    who.className = account ? "who in" : "who";
    who.textContent = account ? t("portal.signed_in_as", { username: account.username }) : t("portal.nobody");
    showAccount(application.id, account?.username);
    signInName.data = account ? t("portal.sign_in_again") : firstSignIn;
    if (needs) who.append(` ${t("portal.needs_sign_in", { reason: needs })}`);
  } catch (failure) {
    if (application !== context.application) return;
    context.account = undefined;
    who.textContent = t("portal.unknown_account");
    return panelOf(tab).replaceChildren(explained(failure, again(reload)));
  } finally {
    if (asking === mine) asking = null;
  }
  if (isDue) await draw();
}

/** Opens the attempt of the sign-in that failed, whatever application is chosen; where it is not known, the newest of that application. */
async function showFailure({ code, correlationID }) {
  const { attempts } = await get("/api/attempts").catch(() => ({ attempts: [] }));
  const attempt = attempts.find(({ problem }) => problem && problem.correlation_id === correlationID) ??
    attempts.find((each) => each.app === chosen().id && each.problem);
  context.openAttempt = attempt?.id ?? null;
  if (attempt) select("attempts");
  if (attempt && attempt.app !== chosen().id && context.apps.some(({ id }) => id === attempt.app)) await choose(attempt.app);
  else await reload();
  // Without the attempt there is still what the address said.
  if (!attempt) outcome.replaceChildren(explained({ message: t("portal.sign_in_failed"), code, correlation_id: correlationID }));
  if (context.account) outcome.append(element("p", "", t("portal.still_signed_in", { username: context.account.username })));
  document.querySelector(".attempt [open] > summary")?.focus({ preventScroll: true });
}

// MARK: Start

const { began, expected, request, failure: failed, ended, isConsented, query } = takeReturn();
context.expected = expected;

/** The name of the button that signs in, which is another one beside an account. */
const signInName = document.getElementById("sign-in").firstChild;
const firstSignIn = signInName.data;

function say(text, ...more) {
  state.replaceChildren(element("p", "", text), ...more);
  state.hidden = !text;
}

async function start() {
  let known;
  try {
    known = await loadApplications();
  } catch (failure) {
    addEventListener("online", start, { once: true });
    columns.hidden = true;
    return say(failure.message, element("p", "buttons", again(start)));
  }
  const { mode, own, token_display: tokenDisplay } = known;
  const apps = listed(known);
  columns.hidden = apps.length === 0;
  if (columns.hidden) return say(t("portal.no_applications"));
  Object.assign(context, { apps, mode, tokenDisplay, apis: known.apis ?? [] });
  if (own) document.title = `${own.title} · Companion`;
  const asked = query.get("app");
  say(asked && !apps.some(({ id }) => id === asked) ? t("portal.unknown_application", { app: asked }) : "");
  startForm(apps, query, () => {
    outcome.replaceChildren();
    select(tab === sessions ? tabs[0] : tab);
    return reload();
  });
  // An example of a failure must not stand beside a real one.
  startList(() => (tab === "health" || (tab === "account" && !context.account)) && draw());
  // A tab may be pressed before the account is asked for.
  context.application = chosen();
  columns.hidden = false;
  delete columns.dataset.loading;
  returnFocus();
  await showReturn();
}

/** Shows the chosen application, and what a sign-in has brought when the browser has just come back from one. */
async function showReturn() {
  const last = query.get("tab") ?? kept().tab;
  // Who signs in beside the attempts wants to compare them.
  select(names.includes(last) && (failed || !began || last === "attempts") ? last : "account");
  await (failed ? showFailure(failed) : reload());
  const left = began && !failed ? ended ?? await leftError(request) : undefined;
  let number;
  if (isConsented) outcome.replaceChildren(element("p", "good", t("portal.consent_granted")));
  else if (began && !failed && (left || !context.account)) number = await showUnreturned(left);
  else if (began) announce(who.textContent);
  if (!expected || failed) return;
  outcome.prepend(element("p", "", t("panel.replayed", { expected, came: number ?? (context.account ? "ok" : "unfinished") })));
}

/** Says that nothing came back from the provider's page, in the demo with the error that `ended` the sign-in there; returns its number. */
async function showUnreturned(ended) {
  const table = ended && await import("../base/platform-numbers.js").catch(() => null);
  const explanation = await table?.explanationOf(ended.number).catch(() => undefined);
  const cause = t("portal.no_return");
  outcome.replaceChildren(
    explanation
      ? explained({ title: explanation.cause, explanation: { ...explanation, cause }, correlation_id: ended.correlationID })
      : noReturn(),
  );
  return explanation?.number;
}

onForeground(async ({ isRestored }) => {
  const { began, request } = isRestored ? abandonTrip() : { began: null };
  if (!context.application) return;
  await Promise.all([reload({ onlyChanges: true }), refreshList().catch(() => {})]);
  const left = began && await leftError(request);
  if (left || began && context.account === null) await showUnreturned(left);
});

await start();
