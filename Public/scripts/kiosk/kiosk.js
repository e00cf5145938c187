// The demo kiosk: people walk up, sign in, see their card, sign out or walk away. Nobody leaves anything to the next.
// A preview on a private device does the same, and leaves the sign-ins of other pages alone.

import {
  app,
  get,
  leave,
  leaveForSignOut,
  loadApplications,
  onForeground,
  post,
  postSignOut,
  signInAddress,
  takeReturn,
  tellOtherTabs,
} from "../base/api.js";
import { button, say, show, showMessage, stopGoingBack } from "./screen.js";
import { takeKiosk } from "./tab.js";
import { forgetTouch, startWatching, stopWatching } from "./watch.js";
import { isBlocked, leaving, ofBrowser, ofTab, t } from "../base/page.js";

const trouble = document.getElementById("trouble");
/** The buttons that start a sign-in: the one, or a tile for each of several applications. */
const starts = [...document.querySelectorAll("[data-start]")];
const isPreview = document.getElementById("preview") !== null;

/** The module that shows a card; it is loaded with the first one. */
let card = null;

/** The application of a sign-out that the server has not heard of yet; kept over a reload. */
const unfinishedKey = "kiosk:sign-out";
/** That our other pages, of which the trip may come across one, are for a visitor now (visitor.js). */
const visitKey = "kiosk:visit";
/** In a preview, the tutorial to which this tab has signed in: its own page has the same account. */
const chosenKey = "kiosk:chosen";
const retryAfter = 5000;
/** So long before the server the page signs out: the session can then still tell the provider whom. */
const ahead = 2000;
const opensWithin = 60_000;

/**
 * The present step of the kiosk. Each step is a new object: what has waited for an answer compares it, and shows nothing when its
 * own step has passed.
 *
 *     starting     takes the kiosk for this tab
 *     opening      asks the server what is due, and keeps the code of the sign-in that `failedWith`
 *     attract      waits for somebody
 *     card         shows the card of the `account`; `isCutOff` when the network went away meanwhile
 *     signing out  takes the person off, here first
 *     message      says what came of a sign-in or a sign-out, and goes back to the start by itself
 *     down         asks again by itself, at the timer `retry`: server or network is not there
 *     leaving      is on its way to the provider, and lets nothing come between
 *     elsewhere    gives way to another tab
 *
 * `id` is the application that was chosen last. `application` and `device` are what the server has said of them, null until then.
 */
let state = { step: "starting", id: starts[0].dataset.start, application: null, device: null };

function enter(step, more = {}) {
  const { id, application, device } = state;
  state = { step, id, application, device, ...more };
  return state;
}

/** A demo needs no network. */
const isOffline = () => !navigator.onLine && !state.device?.demo;

// MARK: Start

/** From nothing to the screen that is due. */
async function open(failedWith = null) {
  wipe();
  const mine = enter("opening", { failedWith });
  try {
    const unfinished = ofBrowser.get(unfinishedKey);
    if (unfinished) {
      const { redirect } = await endSession(unfinished, post);
      // Due whatever came between: the server gives the address once.
      if (redirect && !isOffline()) return goToSignOut(redirect);
    }
    const [{ apps }, device] = await Promise.all([loadApplications(), get("/api/device")]);
    const application = apps.find(isVisited) ?? apps.find(({ id }) => id === mine.id) ?? null;
    const { account } = application && isVisited(application) ? await get(`/api/${application.id}/account`) : {};
    if (mine !== state) return;
    Object.assign(state, { id: application?.id ?? mine.id, application, device });
    if (account) {
      card ??= await import("./card.js");
      return mine === state && welcome(account);
    }
  } catch (failure) {
    if (mine === state) showDown(failure);
    return;
  }
  if (isOffline()) return showDown();
  if (failedWith) return showSignInFailure(failedWith);
  enter("attract");
  show("attract");
}

/** Whether a visitor is signed in to this application. */
function isVisited({ id, signed_in_as: username }) {
  const isOurs = !isPreview || id === app || id === ofTab.get(chosenKey);
  return Boolean(username) && isOurs && starts.some(({ dataset }) => dataset.start === id);
}

/** Takes the person off the page, with what goes on by itself. */
function wipe() {
  clearTimeout(state.retry);
  stopGoingBack();
  stopWatching();
  card?.clearCard();
  hideTrouble();
}

/** Nobody's card is shown, so the page may try again by itself. */
function showDown(failure) {
  enter("down", { retry: setTimeout(open, retryAfter) });
  if (!navigator.onLine) return showState(t("kiosk.offline_title"), t("kiosk.offline"));
  // With a code the server has answered.
  if (failure?.code) return showState(t("kiosk.trouble_title"), t("kiosk.trouble"), failure.code);
  showState(t("kiosk.down_title"), t("kiosk.down"));
}

/** A state is said once, however often it is found again. */
function showState(title, line, details) {
  if (!document.title.startsWith(title)) showMessage({ kind: "caution", title, lines: [line], details });
}

// MARK: Sign-in

async function signIn(pressed) {
  if (state.step === "leaving") return;
  const { id } = enter("leaving", pressed.dataset.start && { id: pressed.dataset.start });
  pressed.setAttribute("aria-busy", "true");
  stopGoingBack();
  say(t("kiosk.opening_sign_in"));
  try {
    // The browser's own page about a server that is gone would be the end of the kiosk.
    const { account } = await get(`/api/${id}/account`);
    // To a tutorial of a preview, its own page may be signed in.
    const other = isPreview && id !== app ? null : account;
    if (!other && !isOffline()) {
      if (isPreview) ofTab.set(chosenKey, id);
      return go(signInAddress({ prompt: "login" }, id));
    }
    // Somebody else, from another tab, is not shown to the person who is here.
    if (other) signOut();
    else showDown();
  } catch (failure) {
    showDown(failure);
  }
  pressed.removeAttribute("aria-busy");
}

/** Leaves the page without an entry in the history. */
function go(url, leaveFor = leave) {
  enter("leaving");
  forgetTouch();
  ofTab.set(visitKey, "yes");
  leaveFor(url, { began: state.id, replace: true });
  // Should it never open.
  setTimeout(() => location.reload(), opensWithin);
}

async function showSignInFailure(code) {
  const mine = state;
  const ways = {
    actions: [{ label: t("kiosk.try_again"), run: signIn }, { label: t("kiosk.back_to_start"), run: () => open() }],
    back: { seconds: 20, run: open },
  };
  if (code === "admin_consent_required") {
    const [again, start] = ways.actions;
    const actions = [start, { ...again, label: t("kiosk.other_account") }];
    return showOutcome({ kind: "calm", title: t("kiosk.admin_consent_title"), lines: [t("kiosk.admin_consent")], ...ways, actions });
  }
  if (code === "cancelled") return showOutcome({ kind: "calm", title: t("kiosk.cancelled_title"), lines: [t("kiosk.cancelled")], ...ways });
  const { failure: problem } = await get(`/api/${mine.id}/sign-in-failure`).catch(() => ({}));
  if (mine !== state) return;
  const explanation = problem?.explanation;
  showOutcome({
    kind: "caution",
    title: t("kiosk.failed_title"),
    lines: [
      explanation?.cause ?? problem?.detail ?? (code === "provider_unavailable" ? t("kiosk.provider_down") : t("kiosk.failed")),
      explanation && `${t(`kiosk.who.${explanation.who}`)} ${explanation.remedy}`,
    ],
    details: problem ? [t("kiosk.staff_code", { code: staffCode(problem) }), explanation?.number].filter(Boolean).join(" · ") : "",
    ...ways,
  });
}

/** The staff's code: the beginning of a correlation id of the log; the server's error pages show the same. */
function staffCode({ code, correlation_id: id }) {
  const digits = id?.slice(0, 8).toUpperCase() ?? "";
  return digits.length === 8 ? `${digits.slice(0, 4)}-${digits.slice(4)}` : code;
}

function showOutcome(message) {
  enter("message");
  showMessage(message);
}

// MARK: The card

function welcome(account) {
  const { countdown_after_seconds: askAfter, idle_seconds: endAfter } = state.device.kiosk;
  const mine = enter("card", { account, isCutOff: false });
  card.showCard(account, null);
  document.getElementById("kept-session").textContent = account.provider_keeps_session ? t("kiosk.provider_keeps_session") : "";
  show("card", t("kiosk.card_title"));
  startWatching({
    askAfter: askAfter * 1000,
    endAfter: Math.max(endAfter * 1000 - ahead, askAfter * 1000 + 500),
    onUse: tellServer,
    onEnd: signOut,
  });
  // Not when the person who was here has left long ago.
  if (mine === state) showProfile();
}

async function showProfile() {
  const mine = state;
  mine.isCutOff = false;
  hideTrouble();
  if (mine.application?.kind === "workforce") card.showPhoto(mine.id, () => mine === state);
  try {
    const me = await card.getMe(mine.id);
    if (mine === state) card.showCard(mine.account, me);
  } catch (failure) {
    // An API of another kind has no profile to show.
    if (mine === state && failure.code !== "not_json") showProfileFailure(failure);
  }
}

function showProfileFailure(failure) {
  const again = failure.signInURL
    ? { label: t("kiosk.sign_in_again"), run: () => go(failure.signInURL) }
    : { label: t("kiosk.try_again"), run: showProfile };
  showTrouble(`${t("kiosk.no_profile")} ${failure.message}`, { action: again });
}

function showTrouble(text, { action = undefined, isCutOff = false }) {
  state.isCutOff = isCutOff;
  trouble.hidden = false;
  trouble.replaceChildren(text, ...(action ? [button(action, 1)] : []));
}

function hideTrouble() {
  trouble.hidden = true;
  trouble.replaceChildren();
}

/** Lets the server know that somebody is there, and learns whether it still knows them. */
async function tellServer() {
  const mine = state;
  try {
    const { account } = await get(`/api/${mine.id}/account`);
    if (mine !== state || mine.step !== "card") return;
    if (account?.id !== mine.account.id) return account ? location.reload() : open();
    if (mine.isCutOff) showProfile();
  } catch (failure) {
    if (mine !== state || mine.step !== "card") return;
    if (["session_expired", "interaction_required"].includes(failure.code)) return open();
    showNoConnection();
  }
}

const showNoConnection = () => showTrouble(t("kiosk.connection"), { isCutOff: true });

// MARK: Sign-out

/** Ends it: first on the screen, then at the server, then at the provider. */
async function signOut() {
  wipe();
  enter("signing out");
  showMessage({ kind: "busy", title: t("kiosk.signing_out") });
  ofBrowser.set(unfinishedKey, state.id);
  try {
    const { redirect, staysForOthers, isKept } = await endSession(state.id, postSignOut);
    if (redirect && !isOffline()) return goToSignOut(redirect);
    const unended = isKept ? t("kiosk.provider_keeps_session") : t("kiosk.provider_not_reached");
    const rest = staysForOthers ? t("kiosk.stays_for_others") : unended;
    showSignedOut("good", t("kiosk.signed_out_title"), t("kiosk.signed_out"), rest);
  } catch {
    showSignedOut("caution", t("kiosk.off_screen_title"), t("kiosk.server_not_reached"));
  }
}

/** Whether anybody else is signed in to this application, or to another. */
async function hasOthers(id) {
  const [{ apps }, { accounts }] = await Promise.all([get("/api/apps"), get(`/api/${id}/accounts`)]);
  return accounts.length > 1 || apps.some((each) => each.id !== id && each.signed_in_as);
}

/** Returns the provider's address, and whether its session stays, because other pages use it too or because the provider cannot end it. */
async function endSession(id, send) {
  const staysForOthers = isPreview && (await hasOthers(id));
  const { redirect, provider_keeps_session: isKept } = await send(`/auth/${id}/sign-out`, { browser: !staysForOthers });
  ofBrowser.remove(unfinishedKey);
  ofTab.remove(chosenKey);
  forgetTouch();
  tellOtherTabs();
  return { redirect, staysForOthers, isKept };
}

const goToSignOut = (redirect) => go(redirect, leaveForSignOut);

/** The screen says what was done and what was not. */
function showSignedOut(kind, title, ...lines) {
  showOutcome({ kind, title, lines, actions: [{ label: t("kiosk.back_to_start"), run: () => open() }], back: { seconds: 10, run: open } });
}

// MARK: One tab

/** Another tab has taken the kiosk; or the browser let go of it, and it can be had again. */
async function lost() {
  if (state.step === "leaving" || (await take(false))) return;
  wipe();
  location.reload();
}

const take = (steal) => takeKiosk({ steal, lost });

async function openHere(steal) {
  if (await take(steal)) open();
}

function showElsewhere() {
  enter("elsewhere");
  showMessage({
    kind: "calm",
    title: t("kiosk.elsewhere_title"),
    lines: [t("kiosk.elsewhere")],
    actions: [{ label: t("kiosk.use_here"), run: () => openHere(true) }],
  });
}

async function begin() {
  if (isBlocked()) return showMessage({ kind: "caution", title: t("kiosk.blocked_title"), lines: [t("kiosk.blocked")] });
  const { began, failure } = takeReturn();
  if (began) state.id = began;
  ofTab.remove(visitKey);
  // A person who comes back from the sign-in is at this tab.
  for (let attempt = 0; !(await take(began !== null)); attempt++) {
    // At a reload the page before may still hold it.
    if (attempt === 4) return showElsewhere();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await open(failure?.code);
}

// MARK: Events

for (const start of starts) start.addEventListener("click", () => signIn(start));
document.getElementById("sign-out").addEventListener("click", signOut);

for (const name of ["online", "offline"]) {
  addEventListener(name, () => {
    if (["opening", "attract", "down"].includes(state.step)) open(state.failedWith);
    // A card stays; whether the server is there, only the server can say.
    else if (state.step === "card") tellServer();
  }, { signal: leaving.signal });
}

onForeground(() => state.step === "elsewhere" && openHere(false));

for (const name of ["contextmenu", "dragstart"]) document.addEventListener(name, (event) => event.preventDefault());

await begin();
