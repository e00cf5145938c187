// The tutorial app's flow, for the iOS and the macOS page: Call Microsoft Graph API; Sign Out; Get device info (iOS).

import { app, get, getMe, post } from "../base/api.js";
import { enable, loadAccount, run, say, saySignIn, sayToken, signIn, signInPath, signOut, start, state } from "./flow.js";
import { log, logError } from "./panels.js";
import { hasCookies } from "../base/page.js";

const username = document.getElementById("username");
const callGraphButton = document.getElementById("call-graph");
const signOutButton = document.getElementById("sign-out");
const deviceInfoButton = document.getElementById("device-info");

function show(account) {
  username.textContent = account?.username ?? "Signed out";
  username.title = account?.username ?? "";
  enable(signOutButton, account !== null, callGraphButton);
}

/** With a hint, the sign-in does not ask which account. */
async function callGraph(hint) {
  const current = await loadAccount();
  if (!current) return signIn(signInPath(hint ? { login_hint: hint } : { prompt: "select_account" }));
  let token;
  try {
    token = await post(`/api/${app}/token`);
  } catch (failure) {
    if (failure.signInURL) return signIn(failure.signInURL);
    return say("Could not acquire token silently: ", failure);
  }
  sayToken("Refreshed Access token is", token);
  await showMe({ interactive: true });
}

/** Calls Graph; an answer that only a new sign-in can settle starts one, unless one was just made. */
async function showMe({ interactive }) {
  try {
    log("Result from Graph: ", { json: await getMe(), ofAccount: true });
  } catch (failure) {
    if (interactive && failure.signInURL) return signIn(failure.signInURL);
    if (failure.code === "not_json") return logError(failure.message);
    say("Couldn't get graph result: ", failure, { step: "api" });
  }
}

async function finishSignIn({ began, current, failure }) {
  if (failure) return saySignIn("Could not acquire token", failure);
  if (!began) return;
  if (!current) return logError("Could not acquire token: No result returned");
  try {
    sayToken("Access token is", await post(`/api/${app}/token`));
  } catch (failure) {
    return say("Could not acquire token: ", failure);
  }
  await showMe({ interactive: false });
}

// MARK: Device information: what MSAL's has as extra information, a browser knows of itself

/** Whether the browser can say anything of where it runs. What is older, or not on a secure page, cannot. */
const isAvailable = navigator.storage?.estimate !== undefined;

/** The browser's own name and version, where it says one, else what it sends with each request. */
function browserName() {
  // Chromium's own list has one name that is made up, so that nobody relies on the list.
  const brand = navigator.userAgentData?.brands.findLast(({ brand }) => !/not.?a.?brand/i.test(brand));
  return brand ? `${brand.brand} ${brand.version}` : navigator.userAgent;
}

const megabytes = (bytes) => Math.round(bytes / 1_000_000);

/** Facts of the browser, and of the server's configuration for this device, as they are shown. */
async function deviceInformation({ mode, session_idle_seconds: idle }) {
  const { usage, quota } = await navigator.storage.estimate();
  return {
    browser: browserName(),
    platform: navigator.userAgentData?.platform || navigator.platform,
    secure_context: isSecureContext,
    storage: {
      cookies: hasCookies(),
      persistent: await navigator.storage.persisted(),
      used_mb: megabytes(usage),
      quota_mb: megabytes(quota),
    },
    mode: { device: mode, set_by: "server configuration", session_ends_after_idle_seconds: idle },
    not_in_a_browser: ["broker app", "keychain shared by apps", "managed shared device mode"],
  };
}

async function getDeviceInfo() {
  if (!isAvailable) return logError("Running on older iOS. GetDeviceInformation API is unavailable.");
  try {
    state.device = await get("/api/device");
    log(`Received device info. Device is in the ${state.device.mode} mode.`, {
      json: await deviceInformation(state.device),
      isFolded: true,
    });
  } catch (failure) {
    logError(`Device info not returned. Error: ${failure.message}`);
  }
}

// MARK: Buttons

callGraphButton.addEventListener("click", () => run(callGraphButton, () => callGraph()));
signOutButton.addEventListener("click", () =>
  run(signOutButton, () =>
    signOut({
      done: () => log("Sign out completed successfully"),
      failed: (failure) => say("Couldn't sign out account with error: ", failure, { step: "sign_out" }),
    })));
deviceInfoButton?.addEventListener("click", () => run(deviceInfoButton, getDeviceInfo));

start({ show, finishSignIn });

// The first press of the home page is one of this button, for an account that it names. The demo's page of failures leads to a
// sign-in, whoever is signed in.
const [link, hint] = location.hash.split("=");
const asked = { "#call-graph": () => callGraph(hint), "#sign-in": () => signIn(signInPath({ prompt: "select_account" })) }[link];
if (asked) {
  history.replaceState(null, "", location.pathname);
  run(callGraphButton, asked);
}
