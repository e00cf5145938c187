// One scale for all pages: sizes of type and steps of space, the same in the companion's styles and in the tenant's. It sees px and rem in margins, paddings
// and gaps; a length in em or ch, a place (top, inset) and a step that is the wrong one it does not see.

import assert from "node:assert/strict";

const folder = new URL("../../Public", import.meta.url).pathname;
const tenant = "tenant/demo-tenant.css";
const sheets = [...Deno.readDirSync(`${folder}/styles`)].map(({ name }) => `styles/${name}`).concat(tenant).sort();
const read = (sheet) => Deno.readTextFileSync(`${folder}/${sheet}`);

/** The value of each step, in px. */
function steps(source) {
  const found = source.matchAll(/(--(?:size|space)-\d): ([\d.]+)(px|rem);/g);
  return Object.fromEntries([...found].map(([, name, value, unit]) => [name, unit === "rem" ? 16 * value : Number(value)]));
}

/** The margins, paddings and gaps, as selector and declaration, that have a length of more than 3 px of their own. */
function strays(source) {
  const rules = source.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{};]+)\{([^{}]*)\}/g);
  const large = ([, value, unit]) => Number(value) * (unit === "rem" ? 16 : 1) > 3;
  return [...rules].flatMap(([, selector, body]) =>
    body.split(";").map((each) => each.trim())
      .filter((each) => /^(scroll-)?(margin|padding)\b|^(row-|column-)?gap\b/.test(each))
      .filter((each) => [...each.matchAll(/(?<![\w-])(\d*\.?\d+)(px|rem)/g)].some(large))
      .map((each) => [selector.trim(), each])
  );
}

// Sheet, beginning of the selector, reason.
const exceptions = [
  ["styles/ios.css", "", "the screens of the iOS apps, with their own constraints"],
  ["styles/macos.css", "", "the window of the macOS app, with its own constraints"],
  ["styles/kiosk.css", "", "the kiosk's screen grows with the device"],
  ["styles/kiosk-badge.css", "", "the kiosk's screen grows with the device"],
  ["styles/message.css", ".visitor", "the kiosk's screen grows with the device"],
  ["styles/home.css", ".phone", "home's phone is an iOS screen"],
  ["styles/home.css", ".clock", "home's phone is an iOS screen"],
  ["styles/home.css", ".user", "home's phone is an iOS screen"],
  ["styles/home.css", ".do", "home's phone is an iOS screen"],
  ["styles/home.css", ".console", "home's phone is an iOS screen"],
  ["styles/tutorial.css", "body", "the height of the bar of the views"],
  ["styles/missions.css", "body:has(.mission-line", "the heights of the bar of the views and of the mission's line"],
];

for (const name of Object.keys(steps(read(tenant)))) {
  Deno.test(`${name} is the same in the companion's styles and in the tenant's`, () => {
    assert.equal(steps(read(tenant))[name], steps(read("styles/companion.css"))[name]);
  });
}

Deno.test("there are six sizes of type and seven steps of space, each larger than the one before", () => {
  const found = steps(read("styles/companion.css"));
  assert.deepEqual(
    Object.keys(found),
    [1, 2, 3, 4, 5, 6].map((n) => `--size-${n}`).concat([1, 2, 3, 4, 5, 6, 7].map((n) => `--space-${n}`)),
  );
  for (const kind of ["size", "space"]) {
    const values = Object.keys(found).filter((name) => name.startsWith(`--${kind}`)).map((name) => found[name]);
    assert.deepEqual(values, [...new Set(values)].sort((a, b) => a - b));
  }
  assert.deepEqual(Object.keys(steps(read(tenant))), Object.keys(found));
});

for (const sheet of sheets) {
  Deno.test(`the margins, paddings and gaps of ${sheet} are steps of the scale`, () => {
    const mine = exceptions.filter(([of]) => of === sheet).map(([, selector]) => selector);
    const found = strays(read(sheet));
    assert.deepEqual(found.filter(([selector]) => !mine.some((each) => selector.startsWith(each))), []);
    for (const each of mine) {
      assert.ok(found.some(([selector]) => selector.startsWith(each)), `nothing of ${sheet} needs the exception ${each}`);
    }
  });
}

for (
  const [rule, found] of [
    ["a { margin: 3px -1px }", 0],
    ["a { padding: 0 4px }", 1],
    ["a { gap: calc(10px + env(safe-area-inset-bottom)) }", 1],
    ["a { margin-inline: -.5rem }", 1],
    ["@media (max-width: 760px) { a { row-gap: 8px; top: 8px } }", 1],
    ["/* a { margin: 8px } */ a { margin: var(--space-2) calc(-1 * var(--space-3)) 1.5em }", 0],
  ]
) {
  Deno.test(`in "${rule}" are ${found} lengths off the scale`, () => assert.equal(strays(rule).length, found));
}
