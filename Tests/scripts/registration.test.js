// A registration as an operator reads it at a glance, and all of them in one line.

import assert from "node:assert/strict";
import "./page.js";

document.createElement = () => ({
  text: "",
  append(...content) {
    this.text += content.map((each) => each.text ?? each).join("");
  },
});

const { dated, distinct, isFailing, marks, summaryOf, tabOf, unchecked } = await import("../../Public/scripts/base/registration.js");

// A day is counted by the calendar, whatever the time of day is.
const Now = Date;
globalThis.Date = class extends Now {
  constructor(...given) {
    super(...(given.length > 0 ? given : ["2026-11-30T22:00:00"]));
  }
};

const FAILED = { code: "provider_refused", number: "AADSTS50105", time: "2026-11-30T12:00:00Z" };
/** Of a time only that it is said: its form is the browser's. */
const read = (found) => found.map((each) => (each.text ?? each).replace(/(AADSTS\d+), .*|(Checked) .*/, "$1$2"));

const SECRET = { credential: "secret", credential_expires: "2026-12-06T00:00:00Z", days_left: 5 };
const CERTIFICATE = { credential: "certificate", credential_expires: "2027-01-31T23:59:59Z", days_left: 62 };
const ENDED = { credential: "secret", credential_expires: "2026-11-29T00:00:00Z", days_left: -1 };
/** A public client has no credential, and of one that is renewed by itself or of unknown end there is nothing to say. */
const ENDLESS = ["none", "federated", "secret"].map((credential) => ({ credential, credential_expires: null, days_left: null }));

/** All that is known of it, whether any registration is checked, and the texts that are read. */
const ROWS = [
  [{}, true, []],
  [{ state: null }, false, []],
  [{ state: null }, true, ["Not checked yet."]],
  [{ state: "good" }, true, ["Good"]],
  ...ENDLESS.map((each) => [{ state: "good", ...each }, true, ["Good"]]),
  [{ state: "unknown", ...CERTIFICATE }, true, ["No problem found", "Certificate expires January\u00a031,\u00a02027, in 62 days"]],
  [{ state: "advice", ...SECRET, credential_expires: "2026-12-01T00:00:00Z", last_failure: FAILED }, true, [
    "Advice",
    "Client secret expires December\u00a01,\u00a02026, tomorrow",
    "Last sign-in failed: AADSTS50105",
  ]],
  [{ state: "mistake", ...ENDED }, true, ["Problem", "Client secret expired November\u00a029,\u00a02026"]],
  [{ state: "mistake", last_failure: FAILED }, true, ["Problem", "Last sign-in failed: AADSTS50105"]],
  // Beside a failure nobody reads that no problem was found.
  [{ state: "unknown", last_failure: FAILED }, true, ["Last sign-in failed: AADSTS50105"]],
  [{ state: "good", last_failure: FAILED }, true, ["Last sign-in failed: AADSTS50105"]],
];

for (const [known, isChecked, texts] of ROWS) {
  Deno.test(`a registration with ${JSON.stringify(known)} is read as ${texts.join(", ") || "nothing"}`, () => {
    assert.deepEqual(read(marks(known, isChecked)), texts);
  });
}

/** Registrations, and the line above them once they are checked. */
const LINES = [
  [[{ state: "good" }, { state: "unknown" }], "No problem found"],
  [
    [{ state: "mistake", ...ENDLESS[0] }, { title: "B", state: "good", ...CERTIFICATE }, { title: "A", state: "advice", ...SECRET }],
    "Problem: 1 · Advice: 1 · A: Client secret expires December\u00a06,\u00a02026, in 6 days",
  ],
  [[{ state: "good", last_failure: FAILED }, { state: "unknown", last_failure: FAILED }], "Last sign-in failed: 2"],
  [[{ state: "mistake", last_failure: FAILED }], "Problem: 1 · Last sign-in failed: 1"],
];

for (const [apps, line] of LINES) {
  Deno.test(`above the registrations stands ${line}`, () => {
    assert.deepEqual(read(summaryOf({ apps, checked_at: "2026-11-30T03:15:00Z" })), [line, " ", "Checked"]);
  });
}

Deno.test("before the first check, the line says so", () => {
  assert.deepEqual(summaryOf({ apps: [{ state: null, last_failure: FAILED }], checked_at: null }), ["Not checked yet."]);
});

/** A registration as it is known, whether it fails, and the tab that says what is wrong. */
const PLACES = [
  [{ state: "good" }, false, "health"],
  [{ state: "unknown" }, false, "health"],
  [{ state: "advice" }, false, "health"],
  [{ state: "mistake" }, true, "health"],
  [{ state: "mistake", last_failure: FAILED }, true, "health"],
  [{ state: "advice", last_failure: FAILED }, true, "health"],
  [{ state: "good", last_failure: FAILED }, true, "attempts"],
  [{ state: null, last_failure: FAILED }, true, "attempts"],
  [{}, false, "health"],
];

for (const [known, fails, tab] of PLACES) {
  Deno.test(`${JSON.stringify(known)} ${fails ? "fails" : "does not fail"}, and its mark leads to ${tab}`, () => {
    assert.deepEqual([isFailing(known), tabOf(known)], [fails, tab]);
  });
}

Deno.test("of one that was never checked it is said when its credential ends, as far as this is known", () => {
  assert.deepEqual([{}, ENDLESS[0], SECRET].map(unchecked), [
    "Not checked yet.",
    "Not checked yet.",
    "Not checked yet. Client secret expires December\u00a06,\u00a02026, in 6 days.",
  ]);
});

Deno.test("what was found of a credential has its day as people write it", () => {
  const found = (expires) => dated({ detail: "The secret “2026-12-06” ends on 2026-12-06, in 6 days.", expires });
  assert.equal(found(SECRET.credential_expires), "The secret “2026-12-06” ends on December\u00a06,\u00a02026, in 6 days.");
  assert.equal(found(null), "The secret “2026-12-06” ends on 2026-12-06, in 6 days.");
});

Deno.test("where titles repeat, each has its id beside it, and no other", () => {
  const apps = [["a", "Test"], ["b", "Live"], ["c", "Test"]].map(([id, title]) => ({ id, title }));
  assert.deepEqual(distinct(apps).map(({ title }) => title), ["Test (a)", "Live", "Test (c)"]);
});

Deno.test("a day has the name of its month, and a time no seconds", () => {
  const [, , checked] = summaryOf({ apps: [{ state: "good" }], checked_at: "2026-11-15T12:15:42Z" });
  assert.match(checked, /^Checked Nov 1\d, 2026, \d+:15\s[AP]M\.?$/);
});
