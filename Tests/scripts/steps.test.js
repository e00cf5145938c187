// The flows that the steps form, the requests that they stand for, and the meaning of their parameters.

import assert from "node:assert/strict";
import "./page.js";

globalThis.matchMedia = () => ({ matches: true });

const { flowsOf, lineStep, names, request, response, withSettings } = await import("../../Public/scripts/tutorial/requests.js");
const languages = new URL("../../Public/languages/", import.meta.url);
const texts = [...Deno.readDirSync(languages)].filter(({ isFile }) => isFile).map(({ name }) => [
  name,
  Deno.readTextFileSync(new URL(name, languages)),
]);

const endpoint = "https://login.example/tenant/oauth2/v2.0/authorize";
const settings = { scopes: ["user.read"], prompt: "login", login_hint: "adele", domain_hint: "contoso.com", claims: '{"id_token":{}}' };
const client = {
  client_id: "11111111-2222-3333-4444-555555555555",
  redirect_uri: "https://us.example/auth/ios/callback",
  claims: '{"access_token":{"xms_cc":{"values":["cp1"]}}}',
};
const secrets = ["adele"];

/** A request, and the names of its parameters in its order. */
const ROWS = [
  [
    "authorize",
    "ok",
    "client_id response_type redirect_uri scope prompt login_hint domain_hint claims client_info state nonce code_challenge code_challenge_method",
  ],
  ["callback", "ok", "code state"],
  ["callback", "access_denied", "error error_description state"],
  ["redeemed", "ok", "grant_type client_id code redirect_uri code_verifier scope client_info claims"],
  ["unredeemed", "provider_rejected_code", "grant_type client_id code redirect_uri code_verifier scope client_info claims"],
  ["refreshed", "refreshed", "grant_type client_id refresh_token scope client_info claims"],
  ["api", "ok", "Authorization"],
  ["challenge", "claims_challenge", "Authorization"],
  ["sign_out", "ok", "post_logout_redirect_uri logout_hint state"],
];

for (const [kind, outcome, expected] of ROWS) {
  const text = request(kind, { endpoint, outcome }, settings, client) ?? "";
  Deno.test(`${kind}, ${outcome}: each parameter has a meaning in each language`, () => {
    assert.deepEqual(names(text), expected.split(" "));
    for (const [name, json] of texts) {
      for (const parameter of names(text)) assert.match(json, new RegExp(`"parameter\\.${parameter.toLowerCase()}": ".`), name);
    }
  });

  Deno.test(`${kind}, ${outcome}: what is public is shown, and nothing else of the sign-in`, () => {
    const whole = expected.split(" ");
    assert.equal(text.includes(client.client_id), whole.includes("client_id"));
    assert.equal(text.includes(client.redirect_uri), whole.includes("redirect_uri"));
    for (const secret of secrets) assert.ok(!text.includes(secret));
    const unknown = kind === "refreshed" ? whole.filter((name) => name !== "claims") : whole;
    assert.deepEqual(names(request(kind, { endpoint, outcome }, settings) ?? ""), unknown);
  });
}

/** The values of a sign-in that is over, and those that a step's request shows of them. */
const spent = { state: "the-state", nonce: "the-nonce", code_challenge: "the-challenge", code: "the-code", code_verifier: "the-verifier" };
for (
  const [kind, outcome, given, expected] of [
    ["authorize", "ok", "state nonce code_challenge", "state nonce code_challenge"],
    ["callback", "ok", "code state", "code state"],
    ["callback", "access_denied", "", ""],
    ["redeemed", "ok", "code code_verifier", "code code_verifier"],
    ["unredeemed", "nonce_mismatch", "code code_verifier", "code code_verifier"],
    ["refreshed", "refreshed", "", ""],
    // A server that said more than a step sends would not be believed.
    ["authorize", "ok", "code code_verifier", ""],
    ["api", "ok", "code code_verifier state", ""],
  ]
) {
  Deno.test(`${kind}, ${outcome}, with ${given || "nothing"}: the values that the step has are shown, and no others`, () => {
    const values = Object.fromEntries(given.split(" ").map((name) => [name, spent[name]]));
    const text = request(kind, { endpoint, outcome, ...values }, settings, client) ?? "";
    const shown = Object.keys(spent).filter((name) => text.includes(`${name}=${spent[name]}`));
    assert.deepEqual(shown, Object.keys(spent).filter((name) => expected.split(" ").includes(name)));
    assert.deepEqual(names(text), names(request(kind, { endpoint, outcome }, settings, client) ?? ""), "the same parameters as without");
  });
}

/** The claims that a sign-in asks for, those of every request, and those that are sent. */
for (
  const [asked, always, sent] of [
    [undefined, undefined, undefined],
    [undefined, client.claims, client.claims],
    ['{"id_token":{"sid":null}}', undefined, '{"id_token":{"sid":null}}'],
    [
      '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}',
      client.claims,
      '{"access_token":{"acrs":{"essential":true,"value":"c1"},"xms_cc":{"values":["cp1"]}}}',
    ],
    ['{"id_token":{"sid":null}}', client.claims, '{"id_token":{"sid":null},"access_token":{"xms_cc":{"values":["cp1"]}}}'],
  ]
) {
  Deno.test(`a sign-in for ${asked ?? "no claims"} of an app that says ${always ?? "nothing"} sends ${sent ?? "none"}`, () => {
    for (const kind of ["authorize", "redeemed"]) {
      const text = request(kind, { endpoint, outcome: "ok" }, { ...settings, claims: asked }, { ...client, claims: always });
      assert.equal(/claims=(.*)/.exec(text)?.[1], sent);
    }
  });
}

Deno.test("of a long code the beginning is shown", () => {
  for (const [code, shown] of [["c".repeat(64), "c".repeat(64)], ["c".repeat(65), "c".repeat(40) + "…"]]) {
    assert.ok(request("callback", { endpoint, outcome: "ok", code }).includes(`code=${shown}\n`));
  }
});

/** A response, its first line and the names of its members; without any where there is none, or where none is known. */
const tokens = "token_type scope expires_in access_token refresh_token id_token client_info";
for (
  const [kind, event, first, expected] of [
    ["redeemed", { outcome: "ok" }, "HTTP/1.1 200 OK", tokens],
    ["refreshed", { outcome: "refreshed" }, "HTTP/1.1 200 OK", tokens],
    ["unredeemed", { outcome: "nonce_mismatch" }, "HTTP/1.1 200 OK", tokens],
    ["unredeemed", { outcome: "provider_unavailable" }],
    [
      "unredeemed",
      { outcome: "provider_rejected_client", error: "invalid_client", error_number: "AADSTS7000215" },
      "Content-Type: application/json",
      "error error_description",
    ],
    ["silent", { outcome: "interaction_required", error: "invalid_grant" }, "Content-Type: application/json", "error error_description"],
    ["silent", { outcome: "interaction_required" }],
    ["challenge", { outcome: "claims_challenge" }, "HTTP/1.1 401 Unauthorized", "WWW-Authenticate"],
    ["api", { outcome: "ok" }, "HTTP/1.1 200 OK", ""],
    ["api", { outcome: "http_403" }, "HTTP/1.1 403", ""],
    ["api", { outcome: "api_unavailable" }],
    ["callback", { outcome: "ok" }],
    ["cached", { outcome: "cache" }],
  ]
) {
  Deno.test(`${kind}, ${JSON.stringify(event)}: the response, and what each of its members means`, () => {
    const text = response(kind, { endpoint, ...event });
    assert.equal(text?.split("\n")[0], first);
    if (!text) return;
    assert.deepEqual(names(text), expected.split(" ").filter(Boolean));
    for (const [name, json] of texts) {
      for (const member of names(text)) assert.match(json, new RegExp(`"response\\.${member.toLowerCase()}": ".`), name);
    }
    for (const known of [event.error, event.error_number].filter(Boolean)) assert.ok(text.includes(known));
    assert.equal(response(kind, event), null, "nothing was sent");
  });
}

/** The steps of flows, each with its sign-in if it has one; and the sign-ins in their code. */
for (
  const [sentence, steps, expected] of [
    ["a call of the API has the code of the sign-in before it", [["authorize 1", "callback 1", "redeemed 1", "api"]], "1 1 1 1"],
    ["a silent call that ends in a sign-in has its code", [["silent", "authorize 1", "redeemed 1", "api"]], "1 1 1 1"],
    ["a later silent call has the code of the last sign-in", [["redeemed 1", "api"], ["redeemed 2"], ["cached", "api"]], "1 1 2 2 2"],
    ["of two sign-ins in a flow each has its own", [["redeemed 1"], ["silent", "authorize 2", "authorize 3", "api"]], "1 2 2 3 3"],
    ["a sign-in that the server does not know any more has the code of the one before", [["redeemed 1"], ["authorize 9"]], "1 1"],
    ["before the first sign-in there is none", [["cached"], ["redeemed 1"]], "- 1"],
  ]
) {
  Deno.test(sentence, () => {
    const attempts = [1, 2, 3].map((id) => ({ id, settings: { prompt: String(id) } }));
    const flows = steps.map((flow) => flow.map((each) => ({ kind: each.split(" ")[0], attempt: Number(each.split(" ")[1]) || null })));
    const found = withSettings(flows, attempts).flat();
    assert.equal(found.map(({ signIn }) => signIn?.prompt ?? "-").join(" "), expected);
    assert.ok(found.every(({ attempt, settings }) => settings?.prompt === attempts.find(({ id }) => id === attempt)?.settings.prompt));
  });
}

/** A step by its kind, its outcome and its sign-in's policy, and the lines of the program that ran; on B2C's page also in place of a silent call. */
for (
  const [kind, outcome, policy, expected, page, isAgain] of [
    ["authorize", "ok", null, "authorize"],
    ["authorize", "provider_unavailable", null, "unredeemed"],
    ["callback", "cancelled", null, "unredeemed"],
    ["unreturned", "cancelled", null, "unredeemed"],
    ["unreturned", "AADSTS50011", "edit_profile", "not_edited"],
    ["unredeemed", "nonce_mismatch", "sign_in", "unredeemed"],
    ["authorize", "ok", "edit_profile", "edit_profile"],
    ["callback", "ok", "edit_profile", "callback"],
    ["redeemed", "ok", "edit_profile", "edited"],
    ["callback", "cancelled", "edit_profile", "not_edited"],
    ["callback", "cancelled", null, "unredeemed", "ios", true],
    ["authorize", "ok", null, "again", "b2c", true],
    ["callback", "cancelled", null, "not_renewed", "b2c", true],
    ["callback", "cancelled", null, "unredeemed", "b2c"],
    ["refreshed", "refreshed", null, "refreshed"],
    ["silent", "interaction_required", null, "silent"],
    ["silent", "provider_unavailable", null, "silent_failed"],
    ["api", "ok", null, "api"],
    ["api", "http_403", null, "refused"],
    ["api", "api_unavailable", null, "unreached"],
    ["challenge", "claims_challenge", null, "challenge"],
  ]
) {
  Deno.test(
    `${kind}, ${outcome}, ${policy}, ${page}, ${isAgain}: the lines that ran`,
    () => assert.equal(lineStep({ kind, outcome, isAgain, settings: { policy } }, page), expected),
  );
}

/** Another tab's sign-in begins later and ends first. */
const INTERLEAVED = [
  "authorize ok 1 a",
  "authorize ok 1 b",
  "callback ok 1 b",
  "token ok 1 b",
  "api ok",
  "callback ok 1 a",
  "token ok 1 a",
];

/** Steps as the server remembers them, each with its outcome, the seconds since the last and its sign-in; their flows; the sign-ins of other tabs. */
for (
  const [sentence, events, expected, others] of [
    ["nothing has happened", [], []],
    ["a sign-in of one tab stands together, whatever another does meanwhile", INTERLEAVED, [
      "authorize callback redeemed api",
      "authorize callback redeemed",
    ]],
    ["the sign-ins of other tabs are not among those of a tab, but what belongs to none is", [...INTERLEAVED, "sign_out ok"], [
      "authorize callback redeemed",
      "sign_out",
    ], ["b"]],
    ["what follows a sign-in that was cancelled is another flow", ["authorize ok 1 a", "callback cancelled 1 a", "authorize ok 1 b"], [
      "authorize callback",
      "authorize",
    ]],
    ["a sign-in goes on when the browser comes back, however late", ["authorize ok", "callback ok 60", "token ok", "api ok"], [
      "authorize callback redeemed api",
    ]],
    ["after the API's answer, a silent call is another flow", ["token cache", "api ok", "token refreshed"], ["cached api", "refreshed"]],
    ["what the API demands is met in the same flow", ["api claims_challenge", "authorize ok"], ["challenge authorize"]],
    [
      "a sign-in in place of a silent call is in its flow",
      ["token interaction_required 1", "authorize ok 1 a", "callback cancelled 60 a"],
      [
        "silent authorize callback",
      ],
    ],
    ["a code that is not redeemed has a step of its own", ["callback ok", "token invalid_id_token"], ["callback unredeemed"]],
    ["the token that a page asks for only to show it is no step", ["token ok 1 a", "token cache"], ["redeemed"]],
    ["what comes later is another flow", ["token cache", "api ok 4"], ["cached", "api"]],
    ["a sign-out is a flow of its own", ["api ok", "sign_out ok", "token cache"], ["api", "sign_out", "cached"]],
  ]
) {
  Deno.test(sentence, () => {
    let now = 0;
    const steps = events.map((each) => {
      const [step, outcome, seconds = 1, attempt = null] = each.split(" ");
      now += Number(seconds);
      return { step, outcome, attempt, time: new Date(now * 1000).toISOString() };
    });
    assert.deepEqual(flowsOf(steps, others).map((flow) => flow.map(({ kind }) => kind).join(" ")), expected);
  });
}
