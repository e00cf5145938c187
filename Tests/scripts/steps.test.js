// The requests that the steps stand for, and the meaning of their parameters.

import assert from "node:assert/strict";
import "./page.js";

globalThis.matchMedia = () => ({ matches: true });

const { names, request } = await import("../../Public/scripts/tutorial/requests.js");
const languages = new URL("../../Public/languages/", import.meta.url);
const texts = [...Deno.readDirSync(languages)].filter(({ isFile }) => isFile).map(({ name }) => [
  name,
  Deno.readTextFileSync(new URL(name, languages)),
]);

const endpoint = "https://login.example/tenant/oauth2/v2.0/authorize";
const settings = { scopes: ["user.read"], prompt: "login", login_hint: "adele", domain_hint: "contoso.com", claims: '{"id_token":{}}' };
const client = { client_id: "11111111-2222-3333-4444-555555555555", redirect_uri: "https://us.example/auth/ios/callback" };
const secrets = ["adele"];

/** A request, and the names of its parameters in its order. */
const ROWS = [
  [
    "authorize",
    "ok",
    "client_id response_type redirect_uri scope prompt login_hint domain_hint claims state nonce code_challenge code_challenge_method",
  ],
  ["callback", "ok", "code state"],
  ["callback", "access_denied", "error error_description state"],
  ["redeemed", "ok", "grant_type client_id code redirect_uri code_verifier"],
  ["unredeemed", "provider_rejected_code", "grant_type client_id code redirect_uri code_verifier"],
  ["refreshed", "refreshed", "grant_type client_id refresh_token scope"],
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
    assert.deepEqual(names(request(kind, { endpoint, outcome }, settings) ?? ""), whole);
  });
}
