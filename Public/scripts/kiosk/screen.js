// One screen of the kiosk at a time, with its title and with the focus on its heading.

import { leaving, t } from "../base/page.js";

const views = [...document.querySelectorAll(".view")];
const message = document.getElementById("message");
const backText = message.querySelector(".back");

const make = (name, className, textContent = "") => Object.assign(document.createElement(name), { className, textContent });

/** Shows this screen alone. `title` stands in for the heading where that one names a person. */
export function show(id, title) {
  stopGoingBack();
  for (const view of views) view.hidden = view.id !== id;
  const heading = document.querySelector(`#${id} h1`);
  document.title = `${title ?? heading.textContent} · Companion`;
  scrollTo(0, 0);
  heading.focus({ preventScroll: true });
  say("");
}

/**
 * Shows a screen with one message. `kind`: good, calm, caution or busy. `actions`: `{label, run}`, the main one
 * first. `back`: `{seconds, run}`, what happens by itself when nobody touches the screen that long.
 */
export function showMessage({ kind, title, lines = [], actions = [], details = "", back = undefined }) {
  message.dataset.kind = kind;
  message.querySelector("h1").textContent = title;
  message.querySelector(".lines").replaceChildren(...lines.filter(Boolean).map((text) => make("p", "lead", text)));
  message.querySelector(".actions").replaceChildren(...actions.map(button));
  message.querySelector(".details").textContent = details;
  show("message");
  if (back) goBack(back);
}

/** A button that runs its action with itself; the first one of a screen is the main one. */
export function button({ label, run }, index) {
  const made = make("button", index === 0 ? "big" : "big plain", label);
  made.type = "button";
  made.append(make("span", "spinner"));
  made.addEventListener("click", () => run(made));
  return made;
}

/** Said by screen readers, and not to be seen. */
export function say(text) {
  document.getElementById("status").textContent = text;
}

// The way back to the start, which a touch or a key begins anew.

let goingBack = null;

function goBack({ seconds, run }) {
  goingBack = { seconds, run, until: Date.now() + seconds * 1000, timer: setInterval(tick, 250) };
  tick();
}

function tick() {
  const left = Math.ceil((goingBack.until - Date.now()) / 1000);
  if (left <= 0) {
    const { run } = goingBack;
    stopGoingBack();
    return run();
  }
  const text = t("kiosk.back_in", { seconds: left });
  if (backText.textContent !== text) backText.textContent = text;
}

export function stopGoingBack() {
  clearInterval(goingBack?.timer);
  goingBack = null;
  backText.textContent = "";
}

for (const name of ["pointerdown", "keydown"]) {
  addEventListener(name, () => {
    if (goingBack) goingBack.until = Date.now() + goingBack.seconds * 1000;
  }, { signal: leaving.signal });
}
