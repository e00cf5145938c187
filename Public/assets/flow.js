// What all application pages have in common: whose account is shown, interactive sign-in and what it brought, one flow
// at a time with its button busy, sign-out.

import { Failure, app, get, post } from "./api.js";
import { beginFlow, clearLog, keepLog, log, logError, restoreLog } from "./log.js";
import { abandonTrip, leave, leaveForSignOut, leaveNothing, loadApplications, onForeground, returnFocus, signInAddress, takeReturn } from "./return-trip.js";
import { t } from "./page.js";
import { addPanel, light, timeline } from "./panels.js";

/**
 * What the page knows. `account` is undefined until the server said, null when signed out. `failed` is the sign-in from which the tab has
 * come back without an account: the server remembers nothing of a browser before its first sign-in has begun.
 */
export const state = { account: undefined, device: null, failed: null };

let running = false;

/** What the main tutorial says of the account; its other chapters say less, or nothing. */
function sayAccount({ current, previous }) {
  if (current) log(`Found a signed in account ${current.username}. Updating data for that account...`);
  else if (!sayPrevious({ previous })) log("Account signed out. Updating UX");
}

/** Says that another application has signed the account out, if one has. */
export function sayPrevious({ previous }) {
  if (previous) log(`The account with username ${previous} has been signed out.`);
  return previous != null;
}

/** What a page has of its own. `contextText` is what its tutorial says when the application cannot be set up. */
let page = { show() {}, finishSignIn: async () => {}, sayAccount, contextText: "Unable to create Application Context", parametersText: "Could not acquire token:" };

// MARK: Panels

// They stand in this order. Where the server says that this is the demo:
if (["ios", "macos"].includes(document.body.dataset.page) && document.getElementById("demo").textContent) {
  addPanel("missions", t("panel.missions"), () => import("./missions.js"));
}
addPanel("options", t("panel.options"), () => import("./options.js"));
const claims = addPanel("claims", t("panel.claims"), async () => {
  const { fill, update } = await import("./claims.js");
  return { fill, update: () => update(state.account) };
});

/** What the person chose for the next sign-in: the fields that were filled in. */
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
  state.account = account;
  page.show(account);
}

/**
 * Loads the account and says so; with `onlyChanges` it is silent when it is still the one shown. With `isAside` it belongs to no
 * flow, and one that was started meanwhile knows better.
 */
export async function loadAccount({ onlyChanges = false, isAside = false } = {}) {
  let answer;
  if (!running) light({ step: "account" });
  try {
    if (!navigator.cookieEnabled) throw new Failure(t("app.no_cookies"));
    answer = await get(`/api/${app}/account`);
  } catch (failure) {
    logError(`Couldn't query current account with error: ${failure.message}`);
    throw failure;
  }
  if (isAside && running) return state.account;
  const { account: current, previous_account: noted } = answer;
  const before = state.account;
  const changed = before === undefined || before?.id !== current?.id;
  const isSaid = !before && localStorage.getItem(signedOutKey) !== null;
  if (current) localStorage.removeItem(signedOutKey);
  // A provider that signs somebody out ends the session as a whole: then only the page still knows who was here.
  const previous = isSaid ? null : noted ?? (state.device?.mode === "private" ? before?.username : null);
  // On a shared device the next person must not read what the one before left on the screen.
  if (changed && before && state.device?.mode === "shared") clearLog();
  if (changed || !onlyChanges) page.sayAccount({ current, previous });
  show(current);
  await showAccounts();
  await claims.update();
  return current;
}

const menu = document.getElementById("accounts");
menu.addEventListener("toggle", () => menu.open && showAccounts());

/** Brings the account menu up to date, which is loaded when somebody is signed in or looks into it. */
async function showAccounts() {
  if (!state.account && !menu.open && menu.childElementCount === 1) return;
  const accounts = await import("./accounts.js").catch(() => null);
  await accounts?.showAccounts({
    onSwitch: () => run(null, () => loadAccount()),
    onAdd: () => run(null, () => signIn(signInPath({ prompt: "select_account" }))),
  });
}

// MARK: Interactive sign-in

/** Where a sign-in starts, with what the person chose in the options. */
export const signInPath = (fields = {}) => signInAddress({ ...fields, ...checkedOptions() });

/** What MSAL could not make its objects of is said before anything is sent, as the tutorials do. Throws Failure. */
export function checkedOptions() {
  const wrong = document.querySelector("#sign-in-options :invalid");
  if (!wrong) return signInOptions();
  const failure = new Failure(wrong.name === "tenant" ? "Unable to create authority URL" : `${page.parametersText} ${wrong.validationMessage}`);
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
  return leave(address, { began: what });
}

/** Codes that say the same to the person as another one. */
const alike = {
  provider_rejected_request: "provider_rejected_client",
  provider_metadata_invalid: "provider_rejected_client",
  issuer_mismatch: "invalid_id_token",
  nonce_mismatch: "invalid_id_token",
};

/** Why an interactive sign-in failed, as a sentence. */
export const signInError = (code) => t(`sign_in.${alike[code] ?? code}`) || t("sign_in.unknown");

/** A failed interactive sign-in, from the code and correlation id with which the server came back. */
function explainSignIn({ code, correlationID }) {
  const ids = [code, correlationID && t("api.correlation_id", { id: correlationID })].filter(Boolean);
  return `${signInError(code)} (${ids.join(", ")})`;
}

/** What an interactive sign-in brought; returns whether the tab was away for one. */
async function finishSignIn() {
  const { began, failure: failed, isConsented, query } = takeReturn();
  restoreLog({ wasAway: began !== null });
  const current = await loadAccount();
  returnFocus();
  if (isConsented) log(t("app.admin_consented"));
  let failure = null;
  if (failed) {
    state.failed = { ...failed, time: new Date().toISOString() };
    failure = { code: failed.code, message: explainSignIn(failed) };
    await explain(({ showSignInFailure }) => showSignInFailure(failed));
  }
  await page.finishSignIn({ began, current, failure, isProfileEdited: query.get("profile") === "edited" });
  return began !== null;
}

/** The line of the tutorial with the token as the server lets it be shown, and what was not granted. */
export function sayToken(text, { token, declined_scopes: declined = [] }) {
  log(`${text} ${token ?? t("app.hidden_token")}`, { kept: `${text} …` });
  if (declined.length > 0) log(t("app.not_granted", { scopes: declined.join(", ") }));
}

/** A failed call: its text goes into the log, its explanation into the panel. */
export function say(text, failure) {
  logError(`${text}${failure.message}`);
  explain(({ showProblem }) => showProblem(failure));
}

/** Why the application's API refused, into the panel; the log has said what it answered. */
export const explainRefusal = (refusal) => explain(({ showProblem }) => showProblem({ api: refusal, retryAfter: refusal.retryAfter }));

/** A sign-in that failed, or that the person cancelled, which is no error. */
export const saySignIn = (text, failure) => (failure.code === "cancelled" ? log : logError)(`${text}: ${failure.message}`);

/** What explains problems is loaded with the first of them. Without it, the log has said what is known. */
const explain = (show) => import("./problem.js").then(show).catch(() => {});

// MARK: Sign-out

const signOutKey = `sign-out-choice:${location.pathname}`;

/**
 * Where Sign Out signs out: "app", or "browser" too. What the person wants lasts over the trip of a sign-in, while the tab is
 * open; on a shared device it is the browser.
 */
export const signOutChoice = {
  get: () => (state.device?.mode === "shared" ? "browser" : sessionStorage.getItem(signOutKey) ?? "app"),
  set: (choice) => sessionStorage.setItem(signOutKey, choice),
};

/** Signs out. Then it leaves for the provider's own sign-out page, if there is one. */
export async function signOut({ done, failed }) {
  const browser = signOutChoice.get() === "browser";
  try {
    const { redirect } = await post(`/auth/${app}/sign-out`, { browser });
    done();
    localStorage.setItem(signedOutKey, "yes");
    show(null);
    await Promise.all([claims.update(), showAccounts()]);
    if (redirect) return leaveForSignOut(redirect);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    failed(failure);
  }
}

// MARK: Buttons

/** Runs a flow with its button busy, after the page has loaded its account. Failures that a flow has logged end here. */
export async function run(button, flow) {
  if (running) return;
  running = true;
  beginFlow();
  if (button) light({ step: button.id, settings: null });
  document.getElementById("problem").hidden = true;
  button?.setAttribute("aria-busy", "true");
  try {
    await ready;
    await flow();
    timeline.update({ isClosedToo: true });
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  } finally {
    running = false;
    button?.removeAttribute("aria-busy");
  }
}

/** A disabled button would drop the keyboard's focus. */
export function enable(button, isEnabled, refuge) {
  if (!isEnabled && document.activeElement === button) refuge.focus();
  button.disabled = !isEnabled;
}

// MARK: Start

let begin;
/** The page's start; a press of a button waits for it. */
const ready = new Promise((resolve) => (begin = resolve));

/** The configured applications, with the page's own; empty when they could not be loaded. */
export const known = loadApplications().catch((failure) => {
  if (!(failure instanceof Failure)) throw failure;
  logError(`${page.contextText} ${failure.message}`);
  return {};
});

/** Starts the page: its title, the mode, whose account, and what a sign-in brought. */
export function start(own) {
  page = { ...page, ...own };
  onForeground(async ({ isRestored }) => {
    if (isRestored) {
      abandonTrip();
      running = false;
    }
    await ready;
    if (!running) await loadAccount({ onlyChanges: true, isAside: true }).catch(() => {});
  });
  begin((async () => {
    known.then(({ mode, own: application }) => {
      state.device = { mode };
      if (mode === "shared") leaveNothing();
      if (!application) return;
      document.title = `${application.title} · Companion`;
      page.configured?.(application);
    });
    const wasAway = await finishSignIn().catch(() => false);
    await known;
    await timeline.update({ isClosedToo: wasAway });
  })());
}
