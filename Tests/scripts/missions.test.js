// A mission is done when all of it has happened, in its order, and not before.

import assert from "node:assert/strict";
import "./page.js";

// The page around it: whatever is asked of an element is another one.
const anything = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => "" : name === "then" ? undefined : anything),
  set: () => true,
  apply: () => anything,
  construct: () => anything,
});
const own = { ...document, body: { dataset: { page: "ios" } }, querySelectorAll: () => [] };
const { fetch, document: page } = globalThis;
own.getElementById = (id) => page.getElementById(id) ?? anything;
own.querySelector = (selector) => page.querySelector(selector) ?? anything;
globalThis.document = new Proxy(own, { get: (_, name) => own[name] ?? anything });
/** The newest listener of each event. */
const heard = {};
Object.assign(globalThis, {
  addEventListener: (event, listener) => (heard[event] = listener),
  matchMedia: () => ({ matches: false, addEventListener() {} }),
  MutationObserver: anything,
  // Files are there, and of the server as much as a test says.
  fetch: (address, request) => address instanceof URL ? fetch(address) : answer(address, request) ?? new Promise(() => {}),
});
let answer = () => null;
Object.defineProperty(globalThis, "location", { value: new URL("http://localhost/ios"), configurable: true });

// One is under way, as after a trip to the provider.
Object.defineProperty(globalThis, "sessionStorage", {
  value: { getItem: (key) => (key === "mission:ios" ? '{"id":"token_ends","since":""}' : null), setItem() {}, removeItem() {} },
});

const { missions } = await import("../../Public/scripts/tutorial/missions.js");

/** The page comes back as it was left, when it looks at once. */
const comeBack = () => heard.pageshow({ persisted: true });

const steps = (text) =>
  text.split(", ").filter(Boolean).map((each) => {
    const [step, outcome] = each.split(" ");
    return { step, outcome };
  });

/** A mission, the steps since it began, and whether that is all of it. */
const ROWS = [
  ["token_ends", "", false],
  ["token_ends", "token refreshed", false],
  ["token_ends", "token refreshed, api ok", true],
  ["second_factor", "api claims_challenge", false],
  ["second_factor", "api claims_challenge, callback cancelled", false],
  ["second_factor", "api claims_challenge, callback ok", true],
  ["consent", "callback cancelled", false],
  ["consent", "callback ok", true],
  ["cancel", "callback ok", false],
  ["cancel", "callback cancelled", true],
  ["administrator", "callback cancelled", false],
  ["administrator", "callback admin_consent_required", true],
  ["provider_down", "token cache", false],
  ["provider_down", "token provider_unavailable", true],
  ["graph_throttles", "api http_429", false],
  ["graph_throttles", "api http_429, api throttled", false],
  ["graph_throttles", "api ok, api http_429", false],
  ["graph_throttles", "api http_429, api throttled, api ok", true],
  ["revoked", "token interaction_required", false],
  ["revoked", "token interaction_required, callback cancelled", false],
  ["revoked", "token interaction_required, callback ok", true],
  ["permission", "token provider_unavailable", false],
  ["permission", "token provider_rejected_client", true],
];

for (const [id, text, isDone] of ROWS) {
  Deno.test(`${id}: ${text || "nothing"} is ${isDone ? "the end" : "not the end"}`, () => {
    const mission = missions.find((each) => each.id === id);
    assert.equal(mission.isDone({ events: steps(text), accounts: 1 }), isDone);
  });
}

Deno.test("what is said about a token that expires is found by who looks for a silent request, in each language", () => {
  for (const tag of ["en", "sv", "ja", "pt-PT", "pt-BR", "zh-Hans"]) {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    const [, word] = page["missions.what.token_ends"].match(/(silent|tyst|サイレント|silencios|静默).*acquireTokenSilent/) ?? [];
    assert.ok(word && page["timeline.step.silent"].toLowerCase().includes(word), tag);
  }
});

Deno.test("another account: who signs in as the same person again has not done it", () => {
  const { isDone } = missions.find(({ id }) => id === "other_account");
  assert.equal(isDone({ events: steps("callback ok"), accounts: 1 }), false);
  assert.equal(isDone({ events: steps("callback ok"), accounts: 2 }), true);
});

// Requests of a page have a time limit, whose timer ends with the page.
Deno.test(
  "a mission that ends while its failure is being set up takes it back, after it has been set up",
  { sanitizeOps: false },
  async () => {
    let accounts = [{}];
    const [arrived, sent, allowed] = [[], Promise.withResolvers(), Promise.withResolvers()];
    answer = (path, request) => {
      if (path === "/api/ios/events") return Promise.resolve(Response.json({ events: [] }));
      if (path === "/api/ios/accounts") return Promise.resolve(Response.json({ accounts }));
      if (path !== "/api/demo/mission") return null;
      const { failure } = JSON.parse(request.body);
      if (failure) sent.resolve();
      return (failure ? allowed.promise : Promise.resolve()).then(() => {
        arrived.push(failure);
        return new Response(null, { status: 204 });
      });
    };
    const armed = comeBack();
    await sent.promise;
    // The person has signed out.
    accounts = [];
    const stopped = comeBack();
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    assert.deepEqual(arrived, []);
    allowed.resolve();
    await Promise.all([armed, stopped]);
    assert.deepEqual(arrived, ["token_ends", null]);
  },
);
