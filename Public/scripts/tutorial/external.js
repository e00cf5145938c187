// The tutorial's second app: tokens interactively and silently, an API of the reader's own, sign-out.

import { app, callAPI, post } from "../base/api.js";
import {
  enable,
  explainRefusal,
  loadAccount,
  run,
  say,
  sayPrevious,
  saySignIn,
  sayToken,
  signIn,
  signInPath,
  signOut,
  start,
  state,
} from "./flow.js";
import { log, logError } from "./panels.js";
import { loadTexts, t } from "../base/page.js";

const interactiveButton = document.getElementById("acquire-interactively");
const silentButton = document.getElementById("acquire-silently");
const apiButton = document.getElementById("call-api");
const signOutButton = document.getElementById("sign-out");
const username = document.getElementById("username");

function show(account) {
  username.textContent = account?.username ?? "Signed out";
  username.title = account?.username ?? "";
  enable(apiButton, account !== null, interactiveButton);
  enable(signOutButton, account !== null, interactiveButton);
}

/** Leaves for a sign-in: at the `url` that an error named, else with what the person chose. */
async function acquireInteractively(url, what, options) {
  const address = url ?? signInPath();
  log("Acquiring token interactively...");
  await signIn(address, what, options);
}

/**
 * With `quiet`, as on appearance, it does not log that there is no account, because everyone begins there. What needs a sign-in
 * then waits for a press: a page that has only been opened leaves for nowhere.
 */
async function acquireSilently({ quiet = false } = {}) {
  if (!state.account) {
    if (!quiet) log("No token found, try to acquire a token interactively first");
    return;
  }
  log("Acquiring token silently...");
  try {
    sayToken("Refreshed Access token is", await post(`/api/${app}/token`));
  } catch (failure) {
    if (failure.signInURL && !quiet) return acquireInteractively(failure.signInURL);
    say("Could not acquire token silently: ", failure);
  }
}

/** `isAutomatic` when it follows a sign-in by itself, and not a press. */
async function performRequest({ isAutomatic = false } = {}) {
  log("Performing request...");
  try {
    const { status, text, again, refusal } = await callAPI();
    const lines = [`HTTP response code: ${status}`, `HTTP response body: ${text}`];
    // The sample stays at "Performing request..." for ever when the API refuses; here its response is logged as it is.
    if (!refusal) return log(["Accessed API successfully using access token.", ...lines].join("\n"), { ofAccount: true });
    await loadTexts("external");
    logError([t("external.refused"), ...lines, again].filter(Boolean).join("\n"));
    explainRefusal(refusal);
  } catch (failure) {
    if (failure.signInURL) return acquireInteractively(failure.signInURL, "call", { isAutomatic });
    say("", failure, { step: "api" });
  }
}

async function finishSignIn({ began, current, failure }) {
  if (failure) return saySignIn("Could not acquire token", failure);
  if (!began) return acquireSilently({ quiet: true });
  if (!current) return logError("Could not acquire token: No result returned");
  try {
    sayToken("Access token is", await post(`/api/${app}/token`));
  } catch (failure) {
    return say("Could not acquire token: ", failure);
  }
  if (began === "call") await performRequest({ isAutomatic: true });
}

interactiveButton.addEventListener("click", () => run(interactiveButton, () => acquireInteractively()));
silentButton.addEventListener("click", () =>
  run(silentButton, async () => {
    await loadAccount({ onlyChanges: true });
    await acquireSilently();
  }));
apiButton.addEventListener("click", () => run(apiButton, performRequest));
signOutButton.addEventListener("click", () =>
  run(signOutButton, () => {
    log("Signing out...");
    return signOut({
      done: () => log("Sign out completed successfully"),
      failed: (failure) => say("Couldn't sign out account with error: ", failure, { step: "sign_out" }),
    });
  }));

start({ show, finishSignIn, sayAccount: ({ current, previous }) => current || sayPrevious({ previous }) });
