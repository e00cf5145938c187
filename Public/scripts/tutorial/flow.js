// All application pages have this in common: whose account is shown, interactive sign-in and what it brought, one flow
// at a time with its button busy, sign-out.

import {
  abandonTrip,
  app,
  Failure,
  get,
  keepEnd,
  keptEnd,
  leave,
  leaveForSignOut,
  leftError,
  loadApplications,
  onForeground,
  postSignOut,
  returnFocus,
  signInAddress,
  takeReturn,
  tellOtherTabs,
} from "../base/api.js";
import { element, hasCookies, ofBrowser, ofTab, t } from "../base/page.js";
import {
  addPanel,
  beginFlow,
  clearLog,
  forgetAccount,
  hideLog,
  keepLog,
  light,
  log,
  logError,
  restoreLog,
  showStory,
  signInError,
  source,
  timeline,
} from "./panels.js";

/**
 * The page's knowledge. `account` is undefined until the server said, null when signed out. `failures` are the steps that have failed, each
 * with its explanation as `problem`.
 */
export const state = { account: undefined, device: null, /** @type {any[]} */ failures: [] };

let running = false;
/** Whether no flow goes on, nor what follows a trip to the provider. */
let isOver = false;

/** The main tutorial's words about the account; its other chapters say less, or nothing. */
function sayAccount({ current, previous }) {
  if (current) log(`Found a signed in account ${current.username}. Updating data for that account...`, { ofAccount: true });
  else if (!sayPrevious({ previous })) log("Account signed out. Updating UX");
}

/** Says that another application has signed the account out, if one has. */
export function sayPrevious({ previous }) {
  if (previous) log(`The account with username ${previous} has been signed out.`);
  return previous != null;
}

/**
 * A page's own things. `contextText` is what its tutorial says when the application cannot be set up.
 * @type {any}
 */
let page = {
  show() {},
  finishSignIn: async () => {},
  sayAccount,
  contextText: "Unable to create Application Context",
  parametersText: "Could not acquire token:",
};

// MARK: Panels

/** The mission that is under way in this tab; see missions.js. */
export const missionKey = `mission:${app}`;

let missions;
// They stand in this order. Where the server says that this is the demo:
if (["ios", "macos"].includes(document.body.dataset.page) && document.getElementById("demo").textContent) {
  missions = addPanel("missions", t("panel.missions"), () => import("./missions.js"));
  // The list of them is folded while one is under way.
  if (ofTab.get(missionKey)) missions.update({ isClosedToo: true });
}
addPanel("options", t("panel.options"), () => import("./options.js"));
const claims = addPanel("claims", t("panel.claims"), async () => {
  const { fill, update } = await import("./claims.js");
  return { fill, update: () => update(state.account) };
});

/** The person's choice for the next sign-in: the fields that were filled in. */
function signInOptions() {
  const form = document.getElementById("sign-in-options");
  if (!form) return {};
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value));
}

// MARK: Account

/** That this page has signed the account out itself, and said so then; nothing about the person. */
const signedOutKey = `signed-out:${location.pathname}`;

/** Shows an account, or with null that none is signed in. */
export function show(account) {
  // The next person must not read of the one before.
  if (state.account?.id !== account?.id) {
    state.failures = [];
    document.getElementById("said").textContent = "";
  }
  state.account = account;
  page.show(account);
  missions?.update();
}

/**
 * Loads the account and says so; with `onlyChanges` it is silent when it is still the one shown. With `isAside` it belongs to no
 * flow, and one that was started meanwhile knows better.
 */
export async function loadAccount({ onlyChanges = false, isAside = false } = {}) {
  let answer;
  if (!running) light({ step: "account" });
  try {
    if (!hasCookies()) throw new Failure(t("app.no_cookies"));
    answer = await get(`/api/${app}/account`);
  } catch (failure) {
    logError(`Couldn't query current account with error: ${failure.message}`);
    throw failure;
  }
  if (isAside && running) return state.account;
  const { account: current, previous_account: noted } = answer;
  const before = state.account;
  const changed = before === undefined || before?.id !== current?.id;
  const isSaid = !before && ofBrowser.get(signedOutKey) !== null;
  if (current) ofBrowser.remove(signedOutKey);
  // A provider that signs somebody out ends the session as a whole: then only the page still knows who was here.
  const previous = isSaid ? null : noted ?? (state.device?.mode === "private" ? before?.username : null);
  // On a shared device the next person must not read what the one before left on the screen.
  if (changed && before && state.device?.mode === "shared") clearLog();
  // Another tab, or the provider, has signed it out.
  else if (changed && before && (isAside || !current)) forgetAccount();
  if (changed || !onlyChanges) page.sayAccount({ current, previous });
  if (changed && current?.provider_keeps_session) log(t("panel.provider_keeps_session"));
  show(current);
  await showAccounts();
  await claims.update();
  if (changed && isAside) timeline.update();
  return current;
}

// MARK: Story

/** The time of the last step of the flows that are over. */
let overSince = "";

/**
 * Gives the steps their explanations. One that the server does not remember, because it has begun nothing, or remembers nothing of a
 * browser before its first sign-in has begun, follows those that came before.
 */
function addFailures(events) {
  for (const failure of state.failures.toReversed()) {
    const { outcome, correlation_id: id, problem } = failure;
    const isUnreturned = failure.step === "unreturned";
    const own = !isUnreturned &&
      events.findLast((event) => event.outcome === outcome && (!id || event.correlation_id === id) && !event.problem);
    if (own) {
      own.problem = problem;
      continue;
    }
    // The clock may be behind the server's.
    failure.time ??= [new Date().toISOString(), events.at(-1)?.time ?? ""].sort()[1];
    const { time, settings } = failure;
    const before = events.findLastIndex((event) => event.time <= time);
    const last = isUnreturned ? lastOfSignIn(events.slice(0, before + 1)) : -1;
    if (events[last]?.step === "authorize") events.splice(last + 1, 0, failure);
    else events.splice(before + 1, 0, ...(isUnreturned ? [{ step: "authorize", outcome: "ok", time, settings }] : []), failure);
  }
}

/** The place of the newest step that begins or ends a sign-in; another tab may have called the API since. */
const lastOfSignIn = (events) => events.findLastIndex(({ step }) => ["authorize", "callback", "unreturned", "sign_out"].includes(step));

/** The sign-ins that tabs of this browser have come back from, by the server's numbers, each with a mark of its tab. */
const claimsKey = `attempts:${app}`;
const tab = ofTab.get("tab") ?? String(Math.random());
ofTab.set("tab", tab);
/** Those of which this tab does not tell. */
let others = [];
/** Whether the tab has just come back from one, which is the newest in the story. */
let isBack = false;

function claim(events) {
  const attempt = events[lastOfSignIn(events)]?.attempt;
  if (attempt == null) return;
  const before = ofBrowser.json(claimsKey, []).filter(([id]) => id !== attempt);
  ofBrowser.set(claimsKey, JSON.stringify([...before, [attempt, tab]].slice(-20)));
}

/** The sign-ins of other tabs; none where this one has none itself, and tells the session's. */
function ofOtherTabs(events) {
  const claims = ofBrowser.json(claimsKey, []);
  const hasOwn = events.some(({ attempt }) => claims.some(([id, by]) => id === attempt && by === tab));
  return hasOwn ? claims.filter(([, by]) => by !== tab).map(([id]) => id) : [];
}

/** The steps as the server remembers them. In the demo, the one that brought the account's ID token has its claims when its flow is over. */
async function loadStory() {
  const answer = await get(`/api/${app}/events`);
  if (isOver) overSince = answer.events.at(-1)?.time;
  if (isBack) claim(answer.events);
  isBack = false;
  answer.others = others = ofOtherTabs(answer.events);
  addFailures(answer.events);
  const { demo, mode, token_display: display } = await known;
  if (demo && mode === "private" && display !== "hidden" && state.account && overSince) {
    await import("./claims.js").then(({ addClaims }) => addClaims(answer.events, state.account, overSince)).catch(() => {});
  }
  return answer;
}

let isFirst = true;
let first;
/** All who ask before the first answer share it, and nobody asks before it is known who is signed in. */
const story = () => (isFirst ? first ??= settled.then(loadStory).finally(() => (isFirst = false)) : loadStory());

/** Opens the newest sign-in as a case; of one that did not come back, only the page knows the error's number, or that it was at all. */
async function share() {
  try {
    const [{ attempts }, { own }, { attemptOf, openCase }] = await Promise.all([
      get("/api/attempts"),
      known,
      import("../base/open-case.js"),
    ]);
    const failed = state.failures.findLast(({ step }) => ["authorize", "unreturned"].includes(step));
    const attempt = attempts.find((each) => each.app === app && !others.includes(each.id)) ?? attemptOf(failed, own);
    const number = state.failures.findLast(({ step }) => step === "unreturned")?.number;
    await openCase(attempt.outcome ? attempt : { ...attempt, problem: { code: "unfinished", explanation: { number } } }, own);
  } catch (failure) {
    logError(failure.message);
  }
}

const menu = document.getElementById("accounts");
menu.addEventListener("toggle", () => menu.open && showAccounts());

/** Brings the account menu up to date, which is loaded when somebody is signed in or looks into it. */
async function showAccounts() {
  if (!state.account && !menu.open && menu.childElementCount === 1) return;
  const accounts = await import("./accounts.js").catch(() => null);
  await accounts?.showAccounts({
    known,
    run: (flow) => run(null, flow),
    onSwitch: ({ isGone }) => {
      if (isGone) forgetAccount();
      return loadAccount();
    },
    onAdd: (button) => run(button, () => signIn(signInPath({ prompt: "select_account" }))),
  });
}

// MARK: Interactive sign-in

/** Where a sign-in starts, with what the person chose in the options. */
export const signInPath = (fields = {}) => signInAddress({ ...fields, ...checkedOptions() });

/** Input of which MSAL could not make its objects is refused before anything is sent, as the tutorials do. Throws Failure. */
export function checkedOptions() {
  const wrong = document.querySelector("#sign-in-options :invalid");
  if (!wrong) return signInOptions();
  const failure = new Failure(
    wrong.name === "tenant" ? "Unable to create authority URL" : `${page.parametersText} ${wrong.validationMessage}`,
  );
  logError(failure.message);
  throw failure;
}

/**
 * Leaves the page for an interactive sign-in; `what` is given back to the page when it comes back. One that nobody pressed
 * a button for says so: the server stops a page that goes there again and again by itself.
 */
export function signIn(url, what = "sign-in", { isAutomatic = false } = {}) {
  const address = new URL(url, location.origin);
  if (isAutomatic) address.searchParams.set("automatic", "1");
  // On a shared device what somebody else may have left on the screen is not kept.
  keepLog({ onlyOfFlow: state.device?.mode !== "private" });
  keepAsked(address);
  return leave(address, { began: what });
}

/** The settings of the sign-in for which this tab has left; nothing about the person. */
const askedKey = `asked:${location.pathname}`;

function keepAsked(address) {
  const { scope = "", login_hint, ...asked } = Object.fromEntries(address.searchParams);
  const scopes = scope.split(/\s+/).filter(Boolean);
  ofTab.set(askedKey, JSON.stringify({ ...asked, scopes, login_hint: Boolean(login_hint) }));
}

/** A failed interactive sign-in, from the code and correlation id with which the server came back. */
function explainSignIn({ code, correlationID }, sentence = signInError(code)) {
  const ids = [code, correlationID && t("api.correlation_id", { id: correlationID })].filter(Boolean);
  return ids.length > 0 ? `${sentence} (${ids.join(", ")})` : sentence;
}

/** The trip of a mission from which the provider leads nobody back. */
export const noReturn = "no-return";

/** Whether the sign-in for which the tab has left has come back, here or in another tab. Where the story cannot be read, it may have. */
async function cameBack(began) {
  if (began === noReturn) return false;
  const { events } = await story().catch(() => ({ events: null }));
  if (events === null) return true;
  const last = events[lastOfSignIn(events)] ?? { step: "unreturned" };
  // The server remembers nothing of a browser before its first sign-in has come back.
  if (last.step === "unreturned") return state.account !== null;
  // The clocks of two servers may differ.
  return last.step !== "authorize" || events.some(({ step, attempt }) => step !== "authorize" && attempt === last.attempt);
}

/** A sign-in that has not come back, as an app sees it when the provider's page is closed. */
async function unreturned(ended, settings) {
  /** @type {any} */
  let shown = { code: "cancelled" };
  if (ended) keepEnd({ ended, settings, time: new Date().toISOString() });
  await explain(async ({ showUnreturned }) => (shown = await showUnreturned(ended, settings)));
  const said = { code: ended && shown.code, correlationID: ended?.correlationID };
  return { ...shown, message: explainSignIn(said, t("sign_in.no_return")) };
}

/** Says above the story that it is a case's replay, and beside what was expected what came. */
function sayReplay(expected, failure) {
  const { step, number } = failure ? state.failures.at(-1) ?? {} : {};
  const came = number ?? (step === "unreturned" ? "unfinished" : failure?.code) ?? "ok";
  document.querySelector(".happened").before(element("p", "panel replay", t("panel.replayed", { expected, came })));
  // On a phone the app's screen would stand before it.
  showStory();
}

/** Takes what an interactive sign-in brought; returns whether the tab was away for one. */
async function finishSignIn() {
  const { began, expected, request, failure: failed, ended, isConsented, query } = takeReturn();
  const asked = ofTab.json(askedKey);
  ofTab.remove(askedKey);
  isBack = began !== null;
  restoreLog({ wasAway: isBack });
  const current = await loadAccount().finally(settle);
  returnFocus();
  if (isConsented) log(t("app.admin_consented"));
  let failure = null;
  if (failed) {
    const settings = asked && { prompt: asked.login_hint ? null : (await known).own?.prompt, ...asked };
    const printed = await explain(({ showSignInFailure }) => showSignInFailure(failed, settings));
    failure = { code: failed.code, message: explainSignIn(failed), printed };
  } else if (began !== null && (ended || !(await cameBack(began)))) failure = await unreturned(ended ?? await leftError(request), asked);
  const kept = began === null && keptEnd();
  if (expected) sayReplay(expected, failure);
  if (kept) await explain(({ showUnreturned }) => showUnreturned(kept.ended, kept.settings, kept.time));
  await page.finishSignIn({ began, current, failure, isProfileEdited: query.get("profile") === "edited" });
  return began !== null;
}

/** The line of the tutorial with the token as the server lets it be shown, and what was not granted. */
export function sayToken(text, { token, declined_scopes: declined = [] }) {
  log(`${text} ${token ?? t("app.hidden_token")}`, { kept: `${text} …`, ofAccount: true });
  if (declined.length > 0) log(t("app.not_granted", { scopes: declined.join(", ") }));
}

/** A failed call: its text goes into the log, with the error that the app would print if MSAL made the call, and its explanation into its step. */
export function say(text, failure, { step = "token" } = {}) {
  logError(`${text}${failure.message}`);
  explain(({ showProblem }) => showProblem(failure, { step })).then((printed) => printed && step !== "api" && logError(printed));
}

/** Explains in its step why the application's API refused; the log has said what it answered. */
export const explainRefusal = (refusal) =>
  explain(({ showProblem }) => showProblem({ api: refusal, retryAfter: refusal.retryAfter }, { step: "api" }));

/** A sign-in that failed, or that the person cancelled, which is no error. */
export function saySignIn(text, { code, message, printed }) {
  // The error that the app would print comes after the sentence that says what it means.
  for (const line of [`${text}: ${message}`, printed].filter(Boolean)) log(line, { bad: code !== "cancelled" });
}

/** The module that explains problems is loaded with the first of them. Without it, the log has said what is known. */
const explain = (show) => import("./problem.js").then(show).catch(() => {});

// MARK: Sign-out

const signOutKey = `sign-out-choice:${location.pathname}`;

/**
 * Where Sign Out signs out: "app", or "browser" too. What the person wants lasts over the trip of a sign-in, while the tab is
 * open; on a shared device it is the browser.
 */
export const signOutChoice = {
  get: () => (state.device?.mode === "shared" ? "browser" : ofTab.get(signOutKey) ?? "app"),
  set: (choice) => ofTab.set(signOutKey, choice),
};

/** Signs out. Then it leaves for the provider's own sign-out page, if there is one. */
export async function signOut({ done, failed }) {
  const browser = signOutChoice.get() === "browser";
  try {
    const { redirect, provider_keeps_session: isKept } = await postSignOut(`/auth/${app}/sign-out`, { browser });
    forgetAccount();
    // A page that was restored may have been asking whose log it is.
    hideLog(false);
    done();
    if (isKept) log(t("panel.provider_keeps_session"));
    ofBrowser.set(signedOutKey, "yes");
    show(null);
    tellOtherTabs();
    await Promise.all([claims.update(), showAccounts()]);
    if (redirect) return leaveForSignOut(redirect);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    failed(failure);
  }
}

// MARK: Buttons

/**
 * Runs a flow with its button busy, after the page has loaded its account; one without a button of the app's has all of them busy.
 * Failures that a flow has logged end here.
 */
export async function run(button, flow) {
  if (running) return;
  running = true;
  beginFlow();
  if (button) light({ step: button.id, settings: null });
  document.querySelector(".failure")?.replaceChildren();
  document.querySelector(".replay")?.remove();
  document.querySelector("#views .news")?.classList.remove("news");
  const busy = button ? [button] : document.querySelectorAll(".action");
  for (const each of busy) each.setAttribute("aria-busy", "true");
  try {
    await ready;
    isOver = false;
    await flow();
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return;
  } finally {
    running = false;
    isOver = true;
    for (const each of busy) each.removeAttribute("aria-busy");
  }
  timeline.update({ isClosedToo: true });
}

/** A disabled button would drop the keyboard's focus. */
export function enable(button, isEnabled, refuge) {
  if (!isEnabled && document.activeElement === button) refuge.focus();
  button.disabled = !isEnabled;
}

// MARK: Start

let begin;
/** The page's start; a press of a button waits for it. */
export const ready = new Promise((resolve) => (begin = resolve));

let settle;
const settled = new Promise((resolve) => (settle = resolve));

/** The configured applications, with the page's own; empty when they could not be loaded. */
export const known = loadApplications().catch((failure) => {
  if (!(failure instanceof Failure)) throw failure;
  logError(`${page.contextText} ${failure.message}`);
  return {};
});

Object.assign(source, { story, share, known, signOutChoice });

// A link can lead to the claims or the missions, of this page too.
function followLink() {
  const [, name] = /^#(claims|mission)(?:s|=\w+)?$/.exec(location.hash) ?? [];
  const panel = name && document.getElementById(name === "claims" ? name : "missions");
  if (!panel) return;
  showStory();
  panel.open = true;
  panel.scrollIntoView({ block: "nearest" });
}
followLink();
addEventListener("hashchange", followLink);

/** Starts the page: its title, the mode, whose account, and what a sign-in brought. */
export function start(own) {
  page = { ...page, ...own };
  onForeground(async ({ isRestored }) => {
    const { began, request } = isRestored ? abandonTrip() : { began: null };
    isBack ||= began !== null;
    if (isRestored) {
      running = false;
      hideLog(true);
    }
    await ready;
    if (!running) await loadAccount({ onlyChanges: true, isAside: true }).catch(() => isRestored && forgetAccount());
    hideLog(false);
    if (began !== null && !running && !(await cameBack(began))) {
      const failure = await unreturned(await leftError(request), ofTab.json(askedKey));
      page.finishSignIn({ began, current: state.account, failure, isProfileEdited: false });
    }
  });
  begin((async () => {
    known.then(({ mode, own: application }) => {
      state.device = { mode };
      if (!application) return;
      document.title = `${application.title} · Companion`;
      page.configured?.(application);
    });
    const wasAway = await finishSignIn().catch(() => false);
    await known;
    isOver = true;
    await timeline.update({ isClosedToo: wasAway });
  })());
}
