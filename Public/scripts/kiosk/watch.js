// Whether somebody is there: first the page asks, then it signs out. The clock decides and not a count of ticks, so that
// a device that slept signs out as soon as it wakes.

import { leaving, ofTab, t } from "../base/page.js";

const dialog = document.getElementById("still-there");
const number = document.getElementById("seconds");
const text = document.getElementById("still-there-text");
const said = document.getElementById("seconds-said");
const ring = dialog.querySelector(".rest");
const timeLeft = document.getElementById("time-left");
const timeRing = document.querySelector(".time-left .rest");
const signOutNow = document.getElementById("sign-out-now");

/** When the screen was last touched, kept over a reload; nothing about the person. */
const touchedKey = "kiosk:touched";
const tellEvery = 5000;

/** The object of the watch, and its beginning; null while no account is signed in. */
let watch = null;
let pointerAt = null;

/** Minutes and seconds, as a clock has them. */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/**
 * Watches until `stopWatching`. `askAfter`, `endAfter`: milliseconds without use. `onUse` runs at a use, at most every five
 * seconds; `onEnd` runs once, when nobody is there or wants to sign out.
 */
export function startWatching({ askAfter, endAfter, onUse, onEnd }) {
  stopWatching();
  const now = Date.now();
  const touched = Math.min(Number(ofTab.get(touchedKey)) || now, now);
  watch = { askAfter, endAfter, onUse, onEnd, touched, told: now, timer: setInterval(tick, 250) };
  tick();
  // A person who loads the page again in time is there.
  touch();
}

export function stopWatching() {
  clearInterval(watch?.timer);
  clearTimeout(watch?.telling);
  watch = null;
  if (dialog.open) dialog.close();
}

/** Before somebody else signs in: nobody's touch counts for them. */
export function forgetTouch() {
  ofTab.remove(touchedKey);
}

function touch() {
  const now = Date.now();
  // Too late, even when the page has not noticed yet.
  if (now - watch.touched >= watch.endAfter) return end();
  watch.touched = now;
  if (now - watch.kept < 1000) return;
  watch.kept = now;
  ofTab.set(touchedKey, now);
}

function use() {
  touch();
  if (!watch || watch.telling) return;
  // The server has to know of the last touch, or it would sign out before this page does.
  watch.telling = setTimeout(tell, Math.max(0, watch.told + tellEvery - Date.now()));
}

function tell() {
  if (!watch) return;
  watch.telling = null;
  watch.told = Date.now();
  watch.onUse();
}

function tick() {
  if (!watch) return;
  const quiet = Date.now() - watch.touched;
  if (quiet >= watch.endAfter) return end();
  const left = Math.ceil((watch.endAfter - quiet) / 1000);
  timeLeft.textContent = clock(left);
  timeRing.style.strokeDashoffset = (100 * quiet) / watch.endAfter;
  // A finger that is still down on the question stops the count; the question goes with it.
  if (quiet < watch.askAfter) return;
  if (!dialog.open) ask(left);
  if (left === watch.left) return;
  watch.left = left;
  number.textContent = left;
  text.textContent = t("kiosk.still_there_text", { seconds: left });
  ring.style.strokeDashoffset = 100 - (100 * left * 1000) / (watch.endAfter - watch.askAfter);
  if (left === 10) said.textContent = t("kiosk.seconds_left", { seconds: left });
}

function ask(left) {
  watch.title = document.title;
  document.title = `${document.getElementById("still-there-title").textContent} · Companion`;
  dialog.showModal();
  said.textContent = t("kiosk.seconds_left", { seconds: left });
}

function goOn() {
  if (!watch) return;
  document.title = watch.title ?? document.title;
  said.textContent = "";
  if (dialog.open) dialog.close();
  watch.left = null;
  use();
}

function end() {
  const { onEnd } = watch;
  stopWatching();
  onEnd();
}

signOutNow.addEventListener("click", () => watch && end());
document.getElementById("go-on").addEventListener("click", goOn);
// Escape.
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  goOn();
});

// MARK: Touch, key, movement

const { signal } = leaving;

addEventListener("pointerdown", () => watch && (dialog.open ? touch() : use()), { capture: true, signal });

// A finger anywhere goes on; only after its click, which would otherwise fall on what is under the question.
for (const name of ["pointerup", "pointercancel"]) {
  addEventListener(name, (event) => {
    if (watch && dialog.open && !signOutNow.contains(event.target)) setTimeout(() => dialog.open && goOn(), 100);
  }, { capture: true, signal });
}

addEventListener("keydown", ({ key }) => {
  if (!watch) return;
  if (!dialog.open) return use();
  // These move within the question or answer it.
  if (!["Tab", "Shift", "Enter", " ", "Escape"].includes(key)) goOn();
}, { capture: true, signal });

// Browsers report a movement of a pointer that stands still when the page changes under it.
addEventListener("pointermove", ({ screenX, screenY }) => {
  const moved = pointerAt && (pointerAt[0] !== screenX || pointerAt[1] !== screenY);
  pointerAt = [screenX, screenY];
  if (watch && moved && !dialog.open) use();
}, { capture: true, signal });

addEventListener("wheel", () => watch && !dialog.open && use(), { capture: true, passive: true, signal });
document.addEventListener("visibilitychange", tick, { signal });
