// The tutorial app's flow, for the iOS and the macOS page: the account on load and in the foreground;
// Call Microsoft Graph API; Sign Out; Get device info (iOS).

import { Failure, app, explainSignIn, get, getMe, post, signInURL } from "./api.js";
import { showDemoNote } from "./demo.js";
import { clearLog, log, logError } from "./log.js";
import { updateTimeline } from "./timeline.js";

const username = document.getElementById("username");
const callGraphButton = document.getElementById("call-graph");
const signOutButton = document.getElementById("sign-out");
const deviceInfoButton = document.getElementById("device-info");

/** The account that the page shows: undefined until the server said, null when signed out. */
let account;
/** One flow at a time: a second press while the first one runs does nothing. */
let running = false;
let device = null;

// MARK: Account

function show(current) {
  account = current;
  username.textContent = current?.username ?? "Signed out";
  username.title = current?.username ?? "";
  // A disabled button would drop the keyboard's focus.
  if (!current && document.activeElement === signOutButton) callGraphButton.focus();
  signOutButton.disabled = !current;
}

/** Loads the account and says so; with `onlyChanges` it is silent when it is still the one shown. */
async function loadAccount({ onlyChanges = false } = {}) {
  let answer;
  try {
    if (!navigator.cookieEnabled) throw new Failure("This browser keeps no cookies for this site. Allow them and reload the page.");
    answer = await get(`/api/${app}/account`);
  } catch (failure) {
    logError(`Couldn't query current account with error: ${failure.message}`);
    throw failure;
  }
  // A flow that was started meanwhile knows better.
  if (onlyChanges && running) return account;
  const { account: current, previous_account: previous } = answer;
  const changed = account === undefined || account?.id !== current?.id;
  // On a shared device nobody reads what the person before them left on the screen.
  if (changed && account && device?.mode === "shared") clearLog();
  if (changed || !onlyChanges) {
    if (current) log(`Found a signed in account ${current.username}. Updating data for that account...`);
    else if (previous) log(`The account with username ${previous} has been signed out.`);
    else log("Account signed out. Updating UX");
  }
  show(current);
  return current;
}

/** The tab came to the foreground: another tab may have signed in or out. */
async function enterForeground() {
  if (document.visibilityState !== "visible") return;
  await ready;
  if (!running) await loadAccount({ onlyChanges: true }).catch(() => {});
}

// MARK: Call Microsoft Graph API

/** Remembers over the trip to the provider that this tab began a sign-in; holds nothing about the person. */
const signInBegun = `sign-in:${app}`;

/** Leaves the page for an interactive sign-in. */
function signIn(url) {
  sessionStorage.setItem(signInBegun, "1");
  return go(url);
}

/** Leaves the page; the button stays busy until it is gone. */
function go(url) {
  location.assign(url);
  return new Promise(() => {});
}

async function callGraph() {
  const current = await loadAccount();
  if (!current) return signIn(signInURL);
  let token;
  try {
    token = await post(`/api/${app}/token`);
  } catch (failure) {
    if (failure.signInURL) return signIn(failure.signInURL);
    return logError(`Could not acquire token silently: ${failure.message}`);
  }
  sayToken("Refreshed Access token is", token);
  await showMe({ interactive: true });
}

function sayToken(text, { token }) {
  log(`${text} ${token ?? "(hidden)"}`);
}

/** Calls Graph; an answer that only a new sign-in can settle starts one, unless one was just made. */
async function showMe({ interactive }) {
  try {
    log("Result from Graph: ", { json: await getMe() });
  } catch (failure) {
    if (interactive && failure.signInURL) return signIn(failure.signInURL);
    logError(failure.code === "not_json" ? failure.message : `Couldn't get graph result: ${failure.message}`);
  }
}

/** What an interactive sign-in brought. The server puts an error into the page's address, from which it is taken out again. */
async function finishSignIn() {
  const answer = new URLSearchParams(location.search);
  if (location.search) history.replaceState(null, "", location.pathname);
  const current = await loadAccount();
  const began = sessionStorage.getItem(signInBegun) !== null;
  sessionStorage.removeItem(signInBegun);
  if (answer.has("sign_in_error")) {
    return logError(`Could not acquire token: ${explainSignIn(answer.get("sign_in_error"), answer.get("correlation_id"))}`);
  }
  if (!began) return;
  if (!current) return logError("Could not acquire token: No result returned");
  try {
    sayToken("Access token is", await post(`/api/${app}/token`));
  } catch (failure) {
    return logError(`Could not acquire token: ${failure.message}`);
  }
  await showMe({ interactive: false });
}

// MARK: Sign Out, Get device info

async function signOut() {
  try {
    const { redirect } = await post(`/auth/${app}/sign-out`, { browser: device?.mode === "shared" });
    log("Sign out completed successfully");
    show(null);
    if (redirect) return go(redirect);
  } catch (failure) {
    logError(`Couldn't sign out account with error: ${failure.message}`);
  }
}

async function getDeviceInfo() {
  try {
    device = await get("/api/device");
    log(`Received device info. Device is in the ${device.mode} mode.`);
  } catch (failure) {
    logError(`Device info not returned. Error: ${failure.message}`);
  }
}

// MARK: Buttons

/** Runs a flow with its button busy, after the page has loaded its account. Failures that a flow has told end here. */
async function run(button, flow) {
  if (running) return;
  running = true;
  button.setAttribute("aria-busy", "true");
  try {
    await ready;
    await flow();
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
  } finally {
    settle(button);
  }
  await updateTimeline();
}

function settle(button) {
  running = false;
  button.removeAttribute("aria-busy");
}

callGraphButton.addEventListener("click", () => run(callGraphButton, callGraph));
signOutButton.addEventListener("click", () => run(signOutButton, signOut));
deviceInfoButton?.addEventListener("click", () => run(deviceInfoButton, getDeviceInfo));

document.addEventListener("visibilitychange", enterForeground);
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  // Back from the sign-in page by the browser's Back button: the page is as it was left, busy.
  sessionStorage.removeItem(signInBegun);
  for (const button of [callGraphButton, signOutButton, deviceInfoButton]) if (button) settle(button);
  enterForeground();
});

/** The page's start: its title, the mode, and whose account; a press of a button waits for it. */
const ready = (async () => {
  const known = get("/api/apps").then(({ apps, mode, demo }) => {
    device = { mode };
    if (demo) showDemoNote();
    const title = apps.find(({ id }) => id === app)?.title;
    if (!title) return;
    document.title = `${title} · Companion`;
    document.querySelector("h1").textContent = title;
  }).catch(() => {});
  await finishSignIn().catch(() => {});
  await known;
})();
