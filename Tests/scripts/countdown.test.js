// The seconds until something may be tried again.

import assert from "node:assert/strict";
import "./page.js";

document.createElement = (name) => ({
  name,
  textContent: "",
  isConnected: true,
  content: [],
  setAttribute() {},
  append(...content) {
    this.content.push(...content);
  },
});
let next;
globalThis.setTimeout = (run) => (next = run, 1);
let now = 1_800_000_000_000;
Date.now = () => now;

const { countdown } = await import("../../Public/scripts/base/countdown.js");

Deno.test("a countdown runs down, and at its end says so and lets the person go on, once", () => {
  let ended = 0;
  const [left, over] = countdown(3, () => ended++).content;
  const shown = [];
  for (let run = next; run; run = next) {
    next = null;
    run();
    shown.push([left.textContent, over.textContent, ended]);
    now += 1000;
  }
  const wait = (seconds) => [`You can try again in ${seconds} s.`, "", 0];
  assert.deepEqual(shown, [wait(3), wait(2), wait(1), ["", "You can try again now.", 1]]);
});
