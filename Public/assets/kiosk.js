// The demo kiosk: people walk up, sign in, see their card, sign out or walk away. Nobody leaves anything to the next.

import { app, get, post } from "./api.js";
import { getMe } from "./application-api.js";
import { base } from "./base.js";
import { showDemoNote } from "./demo.js";
import { clearCard, showCard, showPhoto } from "./kiosk-card.js";
import { button, say, show, showMessage, stopGoingBack } from "./kiosk-screen.js";
import { takeKiosk } from "./kiosk-tab.js";
import { forgetTouch, startWatching, stopWatching } from "./kiosk-watch.js";
import { t } from "./strings.js";

const trouble = document.getElementById("trouble");

/** This tab is away at the sign-in; kept over the trip. */
const awayKey = "kiosk:away";
/** A sign-out that the server has not heard of yet; kept over a reload. */
const unfinishedKey = "kiosk:sign-out";
const retryAfter = 5000;
/** So long before the server the page signs out: the session can then still tell the provider whom. */
const ahead = 2000;
const opensWithin = 60_000;

let application = null;
let device = null;
/** The person whose card is shown. */
let account = null;
let isCutOff = false;
let isElsewhere = false;
let isLeaving = false;
let retry = null;
/** Counts the starts: the answer to an older one shows nothing. */
let turn = 0;

/** A demo needs no network. */
const isOffline = () => !navigator.onLine && !device?.demo;

// MARK: Start

/** From nothing to the screen that is due. */
async function open(failedWith = null) {
  const mine = ++turn;
  wipe();
  try {
    if (localStorage.getItem(unfinishedKey)) {
      const redirect = await postSignOut();
      if (redirect && !isOffline()) return goToSignOut(redirect);
    }
    const [apps, ownDevice, answer] = await Promise.all([get("/api/apps"), get("/api/device"), get(`/api/${app}/account`)]);
    if (mine !== turn || isLeaving) return;
    configure(apps, ownDevice);
    if (answer.account) return welcome(answer.account);
  } catch (failure) {
    if (mine === turn && !isLeaving) showDown(failure);
    return;
  }
  if (isOffline()) return showDown();
  if (failedWith) return showSignInFailure(failedWith);
  show("attract");
}

function configure({ apps, demo }, ownDevice) {
  device = ownDevice;
  application = apps.find(({ id }) => id === app) ?? null;
  if (demo && document.getElementById("demo").hidden) showDemoNote({ kind: application?.kind });
  if (!application) return;
  document.getElementById("title").textContent = application.title;
  if (application.kind !== "workforce") document.getElementById("lead").textContent = t("kiosk.attract_lead_other");
}

/** Takes the person off the page. */
function wipe() {
  clearTimeout(retry);
  retry = null;
  stopGoingBack();
  stopWatching();
  account = null;
  clearCard();
  showTrouble(null);
}

/** Nobody's card is shown, so the page may try again by itself. */
function showDown(failure) {
  retry = setTimeout(open, retryAfter);
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
  if (isLeaving) return;
  isLeaving = true;
  pressed.setAttribute("aria-busy", "true");
  stopGoingBack();
  say(t("kiosk.opening_sign_in"));
  try {
    // The browser's own page about a server that is gone would be the end of the kiosk.
    const { account: other } = await get(`/api/${app}/account`);
    if (!other && !isOffline()) return go(`${base}/auth/${app}/sign-in?return_to=${base}/${app}`);
    // Somebody else, from another tab, is not shown to whoever is here.
    if (other) signOut();
    else showDown();
  } catch (failure) {
    showDown(failure);
  }
  isLeaving = false;
  pressed.removeAttribute("aria-busy");
}

/** Leaves the page without an entry in the history. */
function go(url) {
  isLeaving = true;
  forgetTouch();
  sessionStorage.setItem(awayKey, "yes");
  location.replace(url);
  // Should it never open.
  setTimeout(() => location.reload(), opensWithin);
}

async function showSignInFailure(code) {
  const mine = turn;
  const ways = {
    actions: [{ label: t("kiosk.try_again"), run: signIn }, { label: t("kiosk.back_to_start"), run: () => open() }],
    back: { seconds: 20, run: open },
  };
  if (code === "cancelled") return showMessage({ kind: "calm", title: t("kiosk.cancelled_title"), lines: [t("kiosk.cancelled")], ...ways });
  const { failure: problem } = await get(`/api/${app}/sign-in-failure`).catch(() => ({}));
  if (mine !== turn) return;
  const explanation = problem?.explanation;
  showMessage({
    kind: "caution",
    title: t("kiosk.failed_title"),
    lines: [
      explanation?.cause ?? problem?.detail ?? (code === "provider_unavailable" ? t("kiosk.provider_down") : t("kiosk.failed")),
      explanation && `${t(`kiosk.who.${explanation.who}`)} ${explanation.remedy}`,
    ],
    details: problem ? [explanation?.number, problem.code, problem.correlation_id].filter(Boolean).join(" · ") : "",
    ...ways,
  });
}

// MARK: The card

function welcome(person) {
  account = person;
  const { countdown_after_seconds: askAfter, idle_seconds: endAfter } = device.kiosk;
  showCard(person, null);
  document.getElementById("left-alone").textContent = t("kiosk.left_alone", { seconds: endAfter });
  show("card", t("kiosk.card_title"));
  startWatching({ askAfter: askAfter * 1000, endAfter: Math.max(endAfter * 1000 - ahead, askAfter * 1000 + 500), onUse: tellServer, onEnd: signOut });
  // Whoever was here last has left long ago.
  if (account) showProfile();
}

async function showProfile() {
  const person = account;
  showTrouble(null);
  if (application?.kind === "workforce") showPhoto(() => person === account);
  try {
    const me = await getMe();
    if (person === account) showCard(person, me);
  } catch (failure) {
    // An API of another kind has no profile to show.
    if (person === account && failure.code !== "not_json") showProfileFailure(failure);
  }
}

function showProfileFailure(failure) {
  const again = failure.signInURL
    ? { label: t("kiosk.sign_in_again"), run: () => go(failure.signInURL) }
    : { label: t("kiosk.try_again"), run: showProfile };
  showTrouble(`${t("kiosk.no_profile")} ${failure.message}`, again);
}

function showTrouble(text, action) {
  isCutOff = false;
  trouble.hidden = text === null;
  trouble.replaceChildren(text ?? "", ...(action ? [button(action, 1)] : []));
}

/** Tells the server that somebody is there, and learns whether it still knows them. */
async function tellServer() {
  const person = account;
  try {
    const answer = await get(`/api/${app}/account`);
    if (person !== account) return;
    if (answer.account?.id !== person.id) return answer.account ? location.reload() : open();
    if (isCutOff) showProfile();
  } catch (failure) {
    if (person !== account) return;
    if (["session_expired", "interaction_required"].includes(failure.code)) return open();
    showNoConnection();
  }
}

function showNoConnection() {
  showTrouble(t("kiosk.connection"));
  isCutOff = true;
}

// MARK: Sign-out

/** Ends it: first on the screen, then at the server, then at the provider. */
async function signOut() {
  turn += 1;
  wipe();
  showMessage({ kind: "busy", title: t("kiosk.signing_out") });
  localStorage.setItem(unfinishedKey, "yes");
  try {
    const redirect = await postSignOut();
    if (redirect && !isOffline()) return goToSignOut(redirect);
    showSignedOut("good", t("kiosk.signed_out_title"), t("kiosk.signed_out"), t("kiosk.provider_not_reached"));
  } catch {
    showSignedOut("caution", t("kiosk.off_screen_title"), t("kiosk.server_not_reached"));
  }
}

async function postSignOut() {
  const { redirect } = await post(`/auth/${app}/sign-out`, { browser: true });
  localStorage.removeItem(unfinishedKey);
  forgetTouch();
  return redirect;
}

/** The provider brings the state back when it has done its part; its absence says that it has not. */
function goToSignOut(redirect) {
  const expected = new URL(redirect).searchParams.get("state");
  if (expected) sessionStorage.setItem("sign-out", expected);
  go(redirect);
}

/** What was done and what was not. */
function showSignedOut(kind, title, ...lines) {
  showMessage({ kind, title, lines, actions: [{ label: t("kiosk.back_to_start"), run: () => open() }], back: { seconds: 10, run: open } });
}

// MARK: One tab

/** Another tab has taken the kiosk; or the browser let go of it, and it can be had again. */
async function lost() {
  if (isLeaving || (await take(false))) return;
  wipe();
  location.reload();
}

const take = (steal) => takeKiosk({ steal, lost });

async function openHere(steal) {
  if (!(await take(steal))) return;
  isElsewhere = false;
  open();
}

function showElsewhere() {
  isElsewhere = true;
  showMessage({
    kind: "calm",
    title: t("kiosk.elsewhere_title"),
    lines: [t("kiosk.elsewhere")],
    actions: [{ label: t("kiosk.use_here"), run: () => openHere(true) }],
  });
}

async function begin() {
  const query = new URLSearchParams(location.search);
  const code = query.get("sign_in_error");
  if (location.search) history.replaceState(null, "", location.pathname);
  // Whoever comes back from the sign-in is at this tab.
  const isBack = sessionStorage.getItem(awayKey) !== null;
  sessionStorage.removeItem(awayKey);
  for (let attempt = 0; !(await take(isBack)); attempt++) {
    // At a reload the page before may still hold it.
    if (attempt === 4) return showElsewhere();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await open(code);
}

// MARK: Events

document.getElementById("sign-in").addEventListener("click", (event) => signIn(event.currentTarget));
document.getElementById("sign-out").addEventListener("click", signOut);

for (const name of ["online", "offline"]) {
  addEventListener(name, () => {
    if (isElsewhere || isLeaving) return;
    if (retry || !document.getElementById("attract").hidden) open();
    else if (account && isOffline()) showNoConnection();
  });
}

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && isElsewhere) openHere(false);
});

// Nothing of a person is kept for the browser's Back button.
addEventListener("pagehide", wipe);
addEventListener("pageshow", (event) => event.persisted && location.reload());

for (const name of ["contextmenu", "dragstart"]) document.addEventListener(name, (event) => event.preventDefault());

await begin();
