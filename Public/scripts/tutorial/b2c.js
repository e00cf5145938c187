// The Azure AD B2C app: user flows for signing in and editing the profile, the API of the reader's own, logout.

import { app, callAPI, post } from "../base/api.js";
import {
  checkedOptions,
  enable,
  explainRefusal,
  loadAccount,
  run,
  say,
  saySignIn,
  sayToken,
  signIn,
  signInPath,
  signOut,
  start,
  state,
} from "./flow.js";
import { log, logError } from "./panels.js";

const bar = document.getElementById("username");
const authorizeButton = document.getElementById("authorize");
const editButton = document.getElementById("edit-profile");
const refreshButton = document.getElementById("refresh-token");
const apiButton = document.getElementById("call-api");
const logoutButton = document.getElementById("logout");

let canEdit = true;

function show(account) {
  bar.textContent = account ? account.name ?? account.username : "";
  for (const button of [editButton, refreshButton, apiButton, logoutButton]) {
    enable(button, account !== null && (button !== editButton || canEdit), authorizeButton);
  }
}

const authorize = () => signIn(signInPath({ policy: "sign_in" }), "authorize");

const editProfile = () => signIn(signInPath({ policy: "edit_profile" }), "edit-profile");

/** A sign-in for the same account in place of a silent refresh; its failure has a text of its own. */
const authorizeAgain = "authorize-again";

const apiAnswersWithin = 30; // seconds, as the tutorial's request says

/** `isAutomatic` when it follows an edited profile by itself, and not a press. */
async function refreshToken({ isAutomatic = false } = {}) {
  checkedOptions();
  const current = await loadAccount({ onlyChanges: true });
  if (!current) return logError("There is no account available!");
  log("Refreshing token silently");
  try {
    sayToken("Refreshed access token is", await post(`/api/${app}/token`, { force_refresh: true }));
    // A new ID token may have brought another name.
    await loadAccount({ onlyChanges: true });
  } catch (failure) {
    if (failure.signInURL) return signIn(failure.signInURL, authorizeAgain, { isAutomatic });
    say("Could not acquire token: ", failure);
  }
}

async function callTheAPI() {
  if (!(await loadAccount({ onlyChanges: true }))) return logError("Operation failed because could not find an access token!");
  log("Calling the API....");
  try {
    const { status, text, json, again, refusal } = await callAPI({ seconds: apiAnswersWithin });
    if (refusal) {
      logError([`Could not call API: HTTP ${status} ${text}`, again].filter(Boolean).join("\n"));
      return explainRefusal(refusal);
    }
    if (json === undefined) return logError("Nothing returned from API");
    log("API response: ", { json, ofAccount: true });
  } catch (failure) {
    if (failure.signInURL) return signIn(failure.signInURL, "authorize");
    say("Could not call API: ", failure, { step: "api" });
  }
}

async function finishSignIn({ began, current, failure, isProfileEdited }) {
  const edited = began === "edit-profile" || isProfileEdited;
  const could = edited ? "Could not edit profile" : began === authorizeAgain ? "Could not acquire new token" : "Could not acquire token";
  if (failure) return saySignIn(could, failure);
  if (isProfileEdited) {
    log("Successfully edited profile");
    return refreshToken({ isAutomatic: true });
  }
  if (!began) return;
  if (!current) return logError("Could not acquire token: No result returned");
  try {
    sayToken("Access token is", await post(`/api/${app}/token`));
  } catch (failure) {
    say(`${could}: `, failure);
  }
}

authorizeButton.addEventListener("click", () => run(authorizeButton, authorize));
editButton.addEventListener("click", () => run(editButton, editProfile));
refreshButton.addEventListener("click", () => run(refreshButton, refreshToken));
apiButton.addEventListener("click", () => run(apiButton, callTheAPI));
logoutButton.addEventListener("click", () =>
  run(logoutButton, async () => {
    if (!(await loadAccount({ onlyChanges: true }))) return logError("There is no account to signing out!");
    await signOut({
      done: () => log("Signed out"),
      failed: (failure) => say("Received error signing out: ", failure, { step: "sign_out" }),
    });
  }));

start({
  show,
  finishSignIn,
  sayAccount: () => {},
  contextText: "Unable to create application",
  parametersText: "Unable to construct parameters before calling acquire token",
  configured: ({ policies }) => {
    canEdit = policies?.includes("edit_profile") ?? false;
    if (state.account !== undefined) show(state.account);
  },
});
