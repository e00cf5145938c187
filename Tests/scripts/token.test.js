// A token's signature is checked as its key says, and nothing in the token changes that.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { part } from "./requests.js";
import { checkSignature, checkTimes, readToken } from "../../Public/scripts/paste/token-text.js";

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

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each reason has its sentence in ${tag}`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    assert.deepEqual([...SIGNATURES.map((row) => row[4]), "padded", "opaque"].filter((reason) => !page[`paste.token.${reason}`]), []);
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
