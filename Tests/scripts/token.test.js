// A token's signature is checked as its key says, and nothing in the token changes that.

import "./page.js";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { part } from "./requests.js";
import { examples } from "../../Public/scripts/paste/examples.js";
import { checkSignature, checkTimes, judgeToken, readToken } from "../../Public/scripts/paste/token-text.js";

const rsa = { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
const ec = { name: "ECDSA", namedCurve: "P-256" };
const pairs = {};
for (const [name, kind] of Object.entries({ rsa, other: rsa, ec, ec2: ec })) {
  pairs[name] = await crypto.subtle.generateKey(kind, true, ["sign", "verify"]);
}

async function published(name) {
  const { kty, n, e, crv, x, y } = await crypto.subtle.exportKey("jwk", pairs[name].publicKey);
  return { kty, n, e, crv, x, y, kid: name, issuer: "https://demo.example/{tenantid}/v2.0" };
}

const own = [await published("rsa"), await published("ec")];
own.push({ ...own[0], kid: "ps", alg: "PS256" }, { kid: "odd", kty: "AKP", issuer: own[0].issuer });

/** A token's header, the key that signs it, its claims and what is done to it, the result and the reason. */
const SIGNATURES = [
  [{ alg: "RS256", kid: "rsa" }, "rsa", {}, "verified", "verified"],
  [{ alg: "ES256", kid: "ec" }, "ec", {}, "verified", "verified"],
  [{ alg: "RS256", kid: "rsa" }, "other", {}, "wrong", "signature"],
  [{ alg: "ES256", kid: "ec" }, "ec2", {}, "wrong", "signature"],
  [{ alg: "RS256", kid: "rsa" }, "rsa", { changed: true }, "wrong", "signature"],
  // The key decides how it is used, whatever the token says.
  [{ alg: "HS256", kid: "rsa" }, "rsa", {}, "wrong", "algorithm"],
  [{ alg: "ES256", kid: "rsa" }, "rsa", {}, "wrong", "algorithm"],
  [{ alg: "RS512", kid: "rsa" }, "rsa", {}, "wrong", "algorithm"],
  [{ alg: "none", kid: "rsa" }, "rsa", {}, "wrong", "not_signed"],
  [{ alg: "NoNe", kid: "rsa" }, "rsa", {}, "wrong", "not_signed"],
  [{ kid: "rsa" }, "rsa", {}, "wrong", "not_signed"],
  [{ alg: ["RS256"], kid: "rsa" }, "rsa", {}, "wrong", "not_signed"],
  [{ alg: "RS256", kid: "rsa", nonce: "n" }, "rsa", {}, "unchecked", "graph"],
  [{ alg: "RS256", kid: "gone" }, "rsa", {}, "wrong", "unknown_key"],
  [{ alg: "RS256" }, "rsa", {}, "wrong", "unknown_key"],
  [{ alg: "RS256", kid: ["rsa"] }, "rsa", {}, "wrong", "unknown_key"],
  [{ alg: "RS256", kid: "gone" }, "rsa", { iss: "https://issuer.example/" }, "unchecked", "other_issuer"],
  [{ alg: "RS256", kid: "gone" }, "rsa", { iss: 7 }, "unchecked", "other_issuer"],
  [{ alg: "RS256", kid: "rsa" }, "rsa", { iss: "https://issuer.example/" }, "wrong", "issuer"],
  [{ alg: "RS256", kid: "rsa" }, "rsa", { iss: "https://demo.example.evil.example/" }, "wrong", "issuer"],
  [{ alg: "RS256", kid: "rsa" }, "rsa", { keys: null }, "unchecked", "no_keys"],
  [{ alg: "RS256", kid: "rsa" }, "rsa", { keys: "none" }, "unchecked", "no_demo"],
  [{ alg: "RS256", kid: "odd" }, "rsa", {}, "unchecked", "key_type"],
  [{ alg: "PS256", kid: "ps" }, "rsa", {}, "unchecked", "key_type"],
  // A key that the token brings itself changes nothing.
  [{ alg: "RS256", kid: "gone", jwk: "own", jku: "https://demo.example/keys" }, "rsa", {}, "wrong", "unknown_key"],
];

Deno.test("padding makes a token wrong", async () => {
  const read = readToken("eyJhbGciOiJSUzI1NiJ9==.e30=.AA");
  assert.deepEqual(await checkSignature(read, own), { result: "wrong", reason: "padded" });
});

async function token(header, signer, { changed, keys: _keys, ...claims }) {
  const made = { ...header, ...(header.jwk ? { jwk: own[0] } : {}) };
  const body = { iss: "https://demo.example/t/v2.0", ...claims };
  const input = `${part(made)}.${part(body)}`;
  const { privateKey } = pairs[signer];
  const signature = await crypto.subtle.sign(
    { name: privateKey.algorithm.name, hash: "SHA-256" },
    privateKey,
    new TextEncoder().encode(input),
  );
  return `${changed ? `${part(made)}.${part({ ...body, roles: ["admin"] })}` : input}.${Buffer.from(signature).toString("base64url")}`;
}

for (const [header, signer, more, ...wanted] of SIGNATURES) {
  Deno.test(`${JSON.stringify(header)} by ${signer} with ${JSON.stringify(more)} is ${wanted.join(", ")}`, async () => {
    const { keys = own } = more;
    const { result, reason } = await checkSignature(readToken(await token(header, signer, more)), keys === "none" ? undefined : keys);
    assert.deepEqual([result, reason], wanted);
  });
}

const TENANT = "aaaabbbb-0000-cccc-1111-dddd2222eeee";
const CLIENT = "00001111-aaaa-2222-bbbb-3333cccc4444";
const PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad";
const V2 = { iss: `https://login.microsoftonline.com/${TENANT}/v2.0`, tid: TENANT, oid: "o", sub: "s", ver: "2.0" };
const ID = { ...V2, aud: CLIENT, nonce: "n", preferred_username: "a@contoso.example", email: "a@contoso.example" };
const V1 = { ...V2, iss: `https://sts.windows.net/${TENANT}/`, ver: "1.0", aud: "api://tasks", appid: CLIENT, scp: "read" };
const ACCESS = { ...V2, aud: CLIENT, azp: CLIENT, scp: "read" };
const B2C = {
  iss: `https://contoso.b2clogin.com/${TENANT}/v2.0/`,
  aud: CLIENT,
  ver: "1.0",
  tfp: "B2C_1_in",
  emails: ["a@contoso.example"],
};
const GRAPH = "00000003-0000-0000-c000-000000000000";

/** Claims, what a text before them calls the token, and what is said of them. */
const JUDGED = [
  [ID, undefined, []],
  [{ ...ID, hasgroups: "true" }, undefined, ["overage"]],
  [{ ...ID, hasgroups: true }, undefined, ["overage"]],
  [{ ...ID, hasgroups: false }, undefined, []],
  [{ ...ID, _claim_names: { groups: "src1" } }, undefined, ["overage"]],
  [{ ...ACCESS, _claim_names: '{"groups":"src1"}' }, undefined, ["overage", "version_2"]],
  [{ ...ID, email: undefined }, undefined, ["no_email"]],
  [{ ...ID, email: undefined }, "access", ["version_2"]],
  [{ ...ID, oid: undefined }, undefined, ["no_profile"]],
  [{ ...ID, tid: PERSONAL, iss: `https://login.microsoftonline.com/${PERSONAL}/v2.0` }, undefined, ["personal"]],
  [{ tid: PERSONAL, iss: "https://issuer.example/" }, undefined, ["personal"]],
  // microsoft-authentication-library-for-js issue 560 and microsoft-authentication-library-for-python issue 600.
  [V1, undefined, ["version_1"]],
  [{ ...V1, iss: `https://sts.chinacloudapi.cn/${TENANT}/` }, undefined, ["version_1"]],
  [{ ...V1, scp: undefined, appid: undefined, aud: CLIENT }, undefined, ["version_1_id", "no_email"]],
  [ACCESS, undefined, ["version_2"]],
  [{ ...ACCESS, aud: GRAPH }, undefined, ["for_graph"]],
  [{ ...V1, aud: "https://graph.microsoft.com" }, undefined, ["for_graph"]],
  [{ ...V1, aud: "https://graph.microsoft.us/" }, undefined, ["for_graph"]],
  [{ ...V1, aud: "https://graph.windows.net" }, undefined, ["for_old_graph"]],
  [{ ...V1, aud: "https://graph.microsoft.com.evil.example" }, undefined, ["version_1"]],
  [{ ...ID, acct: 1 }, undefined, ["guest"]],
  [{ ...ID, acct: 0 }, undefined, []],
  [{ ...ID, preferred_username: "a_fabrikam.example#EXT#@contoso.example" }, undefined, ["guest"]],
  [{ ...V1, unique_name: "live.com#a@outlook.example" }, undefined, ["guest", "version_1"]],
  [{ ...ID, idp: "https://sts.windows.net/other/" }, undefined, ["guest"]],
  [{ ...ID, idp: `https://sts.windows.net/${TENANT}/` }, undefined, []],
  [{ ...ACCESS, scp: undefined, idtyp: "app", roles: ["a"] }, undefined, ["app_only", "version_2"]],
  [{ ...V1, scp: undefined, oid: "s" }, undefined, ["app_only", "version_1"]],
  [{ ...ID, iss: `https://${TENANT}.ciamlogin.com/${TENANT}/v2.0` }, undefined, ["external"]],
  [{ ...ID, iss: `https://${TENANT}.ciamlogin.com/${TENANT}/v2.0`, idp: "google.com" }, undefined, ["external"]],
  // Version 1.0 is B2C's own.
  [B2C, undefined, ["b2c"]],
  [{ ...B2C, iss: "https://login.contoso.example/", idp: "live.com" }, undefined, ["b2c"]],
  [{ ...B2C, tfp: undefined, acr: "b2c_1a_in" }, undefined, ["b2c"]],
  [{ ...B2C, emails: undefined }, undefined, ["b2c", "no_emails"]],
  [{ iss: "https://issuer.example/", ver: "1.0", aud: "api://a" }, undefined, []],
  [{ iss: 7, aud: ["a"], upn: {}, idp: [], tfp: 1 }, undefined, []],
  [{}, undefined, []],
];

for (const [claims, name, wanted] of JUDGED) {
  Deno.test(`of ${name ?? "a token"} with ${JSON.stringify(claims)} is said ${wanted.join(", ") || "nothing"}`, () =>
    assert.deepEqual(judgeToken({ claims }, name).map(({ rule }) => rule), wanted));
}

/** Groups that did not fit are at the Graph of the issuer's cloud: a person's own, or those of the token's person. */
for (
  const [claims, address] of [
    [ID, "https://graph.microsoft.com/v1.0/me/"],
    [{ ...ID, iss: `https://login.microsoftonline.us/${TENANT}/v2.0` }, "https://graph.microsoft.us/v1.0/me/"],
    [{ ...V1, iss: `https://sts.chinacloudapi.cn/${TENANT}/` }, "https://microsoftgraph.chinacloudapi.cn/v1.0/users/o/"],
    [{ ...V1, upn: "a@contoso.onmicrosoft.us" }, "https://graph.microsoft.us/v1.0/users/o/"],
    // Version 2 names its cloud: a guest may be from another.
    [{ ...ID, preferred_username: "a@contoso.onmicrosoft.us" }, "https://graph.microsoft.com/v1.0/me/"],
  ]
) {
  Deno.test(`the groups of ${claims.iss} are at ${address}`, () =>
    assert.equal(
      judgeToken({ claims: { ...claims, hasgroups: true } })[0].address,
      `${address}transitiveMemberOf/microsoft.graph.group`,
    ));
}

/** The issuer that an API's tokens of version 2 have is in the cloud of the one that issued version 1. */
for (
  const [claims, host] of [
    [V1, "login.microsoftonline.com"],
    [{ ...V1, iss: `https://sts.chinacloudapi.cn/${TENANT}/` }, "login.partner.microsoftonline.cn"],
    [{ ...V1, iss: `https://login.microsoftonline.us/${TENANT}/` }, "login.microsoftonline.us"],
    [{ ...V1, aud: "https://tasks.onmicrosoft.us/api" }, "login.microsoftonline.us"],
    [{ ...V1, upn: "a@contoso.onmicrosoft.us" }, "login.microsoftonline.us"],
    [{ ...V1, upn: "a@contoso.us", aud: "https://microsoft.us.evil.example" }, "login.microsoftonline.com"],
  ]
) {
  Deno.test(`version 2 of ${claims.iss} for ${claims.aud} is from ${host}`, () => {
    const found = judgeToken({ claims }).find(({ rule }) => rule === "version_1");
    assert.equal(found?.wanted, `https://${host}/${TENANT}/v2.0`);
  });
}

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each reason has its sentence in ${tag}`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    assert.deepEqual([...SIGNATURES.map((row) => row[4]), "padded", "opaque"].filter((reason) => !page[`paste.token.${reason}`]), []);
    assert.deepEqual(JUDGED.flatMap((row) => row[2]).filter((rule) => !page[`paste.judged.${rule}`]), []);
  });
}

for (
  const text of [
    "",
    "a.b.c",
    "eyJhbGciOiJub25lIn0",
    "eyJhbGciOiJub25lIn0.e30",
    "eyJhbGciOiJub25lIn0.W10.",
    "bnVsbA.e30.",
    "eyJhbGciOiJub25lIn0.e30.*",
    "eyJhbGciOiJub25lIn0.e30.a",
    "eyJhbGciOiJub25lIn0._w.",
    "eyJ.eyJ.",
  ]
) Deno.test(`no token is “${text}”`, () => assert.equal(readToken(text), undefined));

for (
  const [claims, reason] of [
    [{ exp: 1001 }, "valid"],
    [{ exp: 1000 }, "expired"],
    [{ exp: 999 }, "expired"],
    [{ exp: 2000, nbf: 1001 }, "not_yet"],
    [{ exp: 2000, nbf: 1000 }, "valid"],
    [{}, undefined],
    [{ exp: "2000" }, undefined],
    [{ nbf: 1 }, undefined],
  ]
) Deno.test(`at 1000, ${JSON.stringify(claims)} is ${reason ?? "nothing"}`, () => assert.equal(checkTimes(claims, 1000)?.reason, reason));

Deno.test("the example of a token has not expired", () => assert.equal(checkTimes(readToken(examples.token).claims)?.reason, "valid"));
