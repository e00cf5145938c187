// A case is read as something hostile: the place that is wrong, or the reason, is the fault's name.

import "./page.js";
import assert from "node:assert/strict";
const { caseOf, causable, fragment, NoCase, ofFragment, readCase, replayOf, stepsOf } = await import("../../Public/scripts/base/case.js");

const GOOD = {
  case: 1,
  companion: "1",
  kind: "workforce",
  settings: { prompt: "login", scopes: ["User.Read", "api://…/scope1"], given: ["login_hint"] },
  outcome: { code: "consent_required", number: "AADSTS65001" },
  steps: [
    { step: "authorize", outcome: "ok", to: "authorize" },
    { step: "callback", outcome: "ok", ms: 3 },
    { step: "token", outcome: "consent_required", to: "token", status: 400, ms: 41 },
  ],
  claims: { sub: "string", claim1: "array" },
};
const changed = (more) => ({ ...GOOD, ...more });
const step = (more) => changed({ steps: [{ ...GOOD.steps[0], ...more }] });
const without = (name) => Object.fromEntries(Object.entries(GOOD).filter(([each]) => each !== name));

const HOSTILE = [
  ["no JSON", "hello", "no_json"],
  ["another version", changed({ case: 2 }), "version"],
  ["a list", [], "case"],
  ["more than 8 KB", changed({ companion: "1", claims: { sub: "s".repeat(9000) } }), "large"],
  ["one key more", changed({ url: "https://evil.example" }), "case.url"],
  ["one key less", without("claims"), "case.claims"],
  ["a version that is markup", changed({ companion: "<img src=x>" }), "companion"],
  ["another kind", changed({ kind: "saml" }), "kind"],
  ["a page with a name of its own", changed({ page: "contoso" }), "page"],
  ["another prompt", changed({ settings: { ...GOOD.settings, prompt: "always" } }), "settings.prompt"],
  ["a scope with an address", changed({ settings: { ...GOOD.settings, scopes: ["https://evil.example/read"] } }), "settings.scopes"],
  ["a scope with a name", changed({ settings: { ...GOOD.settings, scopes: ["api://contoso/read"] } }), "settings.scopes"],
  ["given things that there are not", changed({ settings: { ...GOOD.settings, given: ["password"] } }), "settings.given"],
  ["a setting more", changed({ settings: { ...GOOD.settings, tenant: "contoso" } }), "settings.tenant"],
  ["an outcome that is a sentence", changed({ outcome: { code: "It failed" } }), "outcome.code"],
  ["a number of another form", changed({ outcome: { code: "cancelled", number: "12" } }), "outcome.number"],
  ["a step that there is not", step({ step: "pay" }), "steps.0.step"],
  ["a step with an address", step({ endpoint: "https://evil.example" }), "steps.0.endpoint"],
  ["a status that is a text", step({ status: "200" }), "steps.0.status"],
  ["a time below zero", step({ ms: -1 }), "steps.0.ms"],
  ["a fraction of a millisecond", step({ ms: 1.5 }), "steps.0.ms"],
  ["an error that is a sentence", step({ error: "access denied for adele" }), "steps.0.error"],
  ["21 steps", changed({ steps: Array(21).fill(GOOD.steps[0]) }), "steps"],
  ["a claim's value", changed({ claims: { sub: "Adele" } }), "claims"],
  ["a claim with a name of its own", changed({ claims: { employee: "string" } }), "claims"],
  ["a replay that there is not", changed({ replay: { kind: "a b" } }), "replay.kind"],
  ["a replay with an address", changed({ replay: { kind: "cancelled", url: "https://evil.example" } }), "replay.url"],
  ["a prototype", JSON.stringify(GOOD).slice(0, -1) + ', "__proto__": {"x": 1}}', "case.__proto__"],
];

for (const [sentence, value, place] of HOSTILE) {
  Deno.test(`no case is ${sentence}`, () => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    assert.throws(() => readCase(text), (fault) => fault instanceof NoCase && (fault.place || fault.message) === place);
  });
}

Deno.test("a case is read as it is, and comes back out of a link", () => {
  assert.deepEqual(readCase(JSON.stringify(GOOD)), GOOD);
  assert.deepEqual(readCase(ofFragment(fragment(GOOD))), GOOD);
});

for (
  const [sentence, hash, text] of [
    ["another fragment", "#paste", null],
    ["none", "", null],
    ["one that is too long", "#case=" + "a".repeat(32_768), null],
    ["one that is cut in the middle of a character", "#case=%E2%80", ""],
  ]
) Deno.test(`no case comes out of ${sentence}`, () => assert.equal(ofFragment(hash), text));

Deno.test("a case that is made of an attempt has no values, addresses and names in it, and can be read", () => {
  const made = caseOf(
    {
      settings: {
        scopes: ["https://graph.microsoft.com/User.Read", "api://contoso/a", "api://contoso/b", "api://contoso/a"],
        login_hint: "adele@contoso.example",
        tenant: "",
      },
      steps: [
        { step: "api", outcome: "http_503", duration_ms: 5 },
        { step: "authorize", outcome: "ok", duration_ms: null, endpoint: "https://login.example", state: "s", nonce: "n" },
        { step: "callback", outcome: "ok", duration_ms: 3, state: "s", code: "c" },
        { step: "token", outcome: "wrong_secret", duration_ms: 4, error: "invalid_client", error_number: "AADSTS7000215" },
      ],
      problem: { code: "provider_rejected_client", explanation: { number: "AADSTS7000215" } },
    },
    { id: "contoso", kind: "workforce", page: "macos", title: "Contoso" },
    { sub: "abc", aud: ["a"], employee: 7, nothing: null },
  );
  assert.deepEqual(made, {
    case: 1,
    companion: "1",
    kind: "workforce",
    page: "macos",
    settings: {
      prompt: "if_necessary",
      scopes: ["User.Read", "api://…/scope1", "api://…/scope2", "api://…/scope1"],
      given: ["login_hint"],
    },
    outcome: { code: "provider_rejected_client", number: "AADSTS7000215" },
    steps: [
      { step: "api", outcome: "http_503", to: "api", status: 503, ms: 5 },
      { step: "authorize", outcome: "ok", to: "authorize" },
      { step: "callback", outcome: "ok", ms: 3 },
      { step: "token", outcome: "wrong_secret", to: "token", ms: 4, error: "invalid_client" },
    ],
    claims: { sub: "string", aud: "array", claim1: "number", claim2: "object" },
  });
  assert.deepEqual(readCase(JSON.stringify(made)), made);
});

const at = (step, outcome, attempt) => ({ step, outcome, ...(attempt && { attempt }) });
const CHALLENGED = [at("token", "cache"), at("api", "claims_challenge"), at("authorize", "ok", 2), at("callback", "cancelled", 2)];
const SIGNED_IN = [at("authorize", "ok", 1), at("callback", "ok", 1), at("token", "ok", 1), at("api", "ok")];
const AGAIN = [at("token", "http_400"), at("authorize", "ok", 4), at("callback", "cancelled", 4), at("authorize", "ok", 5)];
const REMEMBERED = { id: 3, steps: [at("authorize", "ok", 3)] };

for (
  const [sentence, attempt, expected] of [
    ["what the API demanded before a sign-in belongs to it", { id: 2, steps: [] }, CHALLENGED],
    ["what came after a sign-in, and another flow, do not", { id: 1, steps: [] }, SIGNED_IN.slice(0, 3)],
    ["another sign-in of the same flow does not", { id: 5, steps: [] }, AGAIN.filter(({ attempt }) => attempt !== 4)],
    ["a sign-in in none of the flows has its own steps", REMEMBERED, REMEMBERED.steps],
    ["one whose steps nobody remembers has none", { id: 6, steps: [] }, []],
  ]
) Deno.test(sentence, () => assert.deepEqual(stepsOf(attempt, [SIGNED_IN, CHALLENGED, AGAIN]), expected));

const made = (steps, number) =>
  caseOf({ settings: { scopes: [] }, steps, outcome: "x", problem: { code: "x", explanation: { number } } }, {
    kind: "oidc",
    page: "portal",
  });

Deno.test("of more than 20 steps the newest are kept", () => {
  const { steps } = made([...Array(19).fill(at("token", "cache")), ...CHALLENGED]);
  assert.deepEqual([steps.length, steps.at(-1).outcome], [20, "cancelled"]);
});

Deno.test("a failure is repeated at the step that ended the sign-in, whatever failed before it", () => {
  assert.equal(replayOf(made([at("token", "interaction_required"), ...CHALLENGED], "AADSTS65004")), "authorize-65004");
});

Deno.test("a case has no page that replays nothing", () => {
  assert.equal(caseOf({ settings: { scopes: [] }, steps: [] }, { kind: "oidc", page: "kiosk" }).page, undefined);
});

Deno.test("a link of an earlier version, which names its replay, is read", () => {
  assert.equal(replayOf(readCase(JSON.stringify(changed({ replay: { kind: "wrong_secret" } })))), "token-65001");
});

const UNRETURNED = [at("token", "interaction_required"), at("authorize", "ok", 1)];
for (const number of causable) {
  Deno.test(`${number} is repeated where it has happened`, () => {
    const digits = number.slice("AADSTS".length);
    const page = caseOf({ settings: { scopes: [] }, steps: UNRETURNED, problem: { code: "unfinished", explanation: { number } } }, {
      kind: "oidc",
      page: "kiosk",
    });
    const token = made(SIGNED_IN.slice(0, 2).concat(at("token", "invalid_grant", 1)), number);
    const found = [made(CHALLENGED, number), token, page].map(replayOf);
    assert.deepEqual(found, [`authorize-${digits}`, `token-${digits}`, `page-${digits}`]);
  });
}

for (
  const [sentence, found] of [
    ["a number that the tenant does not know", made(CHALLENGED, "AADSTS700054")],
    ["no number", made(CHALLENGED)],
    ["a refusal of the API", made([at("api", "http_403")], "AADSTS65001")],
    ["a success", { outcome: { code: "ok" }, steps: SIGNED_IN }],
  ]
) Deno.test(`the demo cannot repeat ${sentence}`, () => assert.equal(replayOf(found), null));

for (const error of ["invalid_client", "Adele Vance", "", null, undefined]) {
  Deno.test(`the error ${JSON.stringify(error)} is in a case if it is a word`, () => {
    const found = made([{ ...at("token", "x"), error }]);
    assert.equal(found.steps[0].error, error === "invalid_client" ? error : undefined);
    assert.deepEqual(readCase(JSON.stringify(found)), found);
  });
}
