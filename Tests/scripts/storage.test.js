// The browser's storage, and what stands for it where it is blocked, absent or full.

import "./page.js";
import assert from "node:assert/strict";

const root = new URL("../../Public/scripts/", import.meta.url);

function scripts(folder) {
  return [...Deno.readDirSync(folder)].flatMap((each) => {
    const place = new URL(each.isDirectory ? `${each.name}/` : each.name, folder);
    return each.isDirectory ? scripts(place) : [place];
  });
}

Deno.test("no other script touches storage, cookies or channels between tabs", () => {
  const touching = scripts(root).filter((file) =>
    /sessionStorage|localStorage|indexedDB|document\.cookie|cookieEnabled|BroadcastChannel|\bcaches\./.test(Deno.readTextFileSync(file))
  );
  assert.deepEqual(touching.map(({ pathname }) => pathname.split("/").slice(-2).join("/")), ["base/page.js"]);
});

/** Storage that keeps texts, as a browser's. */
function kept() {
  const texts = new Map();
  return {
    get length() {
      return texts.size;
    },
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, value) => texts.set(key, String(value)),
    removeItem: (key) => texts.delete(key),
  };
}

/** The browser's storage, and whether it counts as blocked. */
const BROWSERS = [
  ["keeps", () => kept(), false],
  ["is blocked", () => {
    throw new DOMException("denied", "SecurityError");
  }, true],
  ["is absent", () => null, true],
  ["is full", () => ({
    ...kept(),
    length: 0,
    setItem() {
      throw new DOMException("full", "QuotaExceededError");
    },
  }), false],
];

for (const [sentence, make, isBlocked] of BROWSERS) {
  Deno.test(`what a page keeps is there while the page is, where storage ${sentence}`, async () => {
    const { ofTab } = await import(new URL("base/page.js", root).href);
    let storage;
    Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get: () => storage ??= make() });
    assert.equal(ofTab.isBlocked(), isBlocked);
    assert.equal(ofTab.get("a"), null);
    assert.deepEqual(ofTab.json("a", []), []);
    ofTab.set("a", "{");
    assert.deepEqual(ofTab.json("a", []), []);
    ofTab.set("a", JSON.stringify({ b: 1 }));
    assert.deepEqual(ofTab.json("a"), { b: 1 });
    ofTab.set("a", 7);
    assert.equal(ofTab.get("a"), "7");
    ofTab.remove("a");
    assert.equal(ofTab.get("a"), null);
  });
}
