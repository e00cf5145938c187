// At a kiosk nobody's touch ends in the sign-out, and while the page asks who is there, nobody can read the card.

import assert from "node:assert/strict";
import "./page.js";

/** An element as far as the watch uses it. */
const made = () => ({
  textContent: "",
  style: {},
  open: false,
  showModal() {
    this.open = true;
  },
  close() {
    this.open = false;
  },
  querySelector: made,
  contains: () => false,
  addEventListener() {},
});
const elements = {};
const { getElementById, querySelector } = document;
Object.assign(document, {
  title: "",
  addEventListener() {},
  getElementById: (id) => getElementById(id) ?? (elements[id] ??= made()),
  querySelector: (selector) => querySelector(selector) ?? made(),
});
const listeners = {};
let tick;
let now = 1_800_000_000_000;
Object.assign(globalThis, {
  addEventListener: (name, listener) => (listeners[name] = listener),
  setInterval: (run) => (tick = run, 1),
  clearInterval() {},
});
Date.now = () => now;

const { startWatching } = await import("../../Public/scripts/kiosk/watch.js");

/** Lets seconds pass, with four ticks in each. */
function pass(seconds) {
  for (let count = 0; count < seconds * 4; count++) {
    now += 250;
    tick();
  }
}

Deno.test("the page asks who does not touch it, a touch goes on, and nobody's touch signs out, once", () => {
  let ended = 0;
  startWatching({ askAfter: 20_000, endAfter: 60_000, onUse() {}, onEnd: () => ended++ });
  const question = elements["still-there"];
  pass(19);
  assert.equal(question.open, false);
  assert.equal(elements["time-left"].textContent, "0:41");
  listeners.pointerdown();
  assert.equal(question.open, false);
  pass(19);
  assert.equal(question.open, false);
  pass(1);
  assert.equal(question.open, true);
  pass(39);
  assert.deepEqual([question.open, elements.seconds.textContent, ended], [true, 1, 0]);
  pass(1);
  assert.deepEqual([question.open, ended], [false, 1]);
  pass(60);
  assert.equal(ended, 1);
});

Deno.test("while the question is open, the card is blurred", () => {
  const style = Deno.readTextFileSync(new URL("../../Public/styles/kiosk.css", import.meta.url));
  assert.match(style, /^body:has\(dialog\[open\]\) main \{ filter: blur\([1-9]\d*rem\); \}$/m);
});
