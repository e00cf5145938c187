// The parts of a pasted error, and its causes.

import assert from "node:assert/strict";
import "./page.js";
import { findings } from "../../Public/scripts/base/error-text.js";
import { msalError, nativeError, printed } from "../../Public/scripts/base/msal-errors.js";
import { msidError } from "../../Public/scripts/base/msal-messages.js";

const read = (path) => Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));

/** A pasted text, the facts found, and the titles of the explanations in their order. */
const ERRORS = [
  [
    'Error Domain=MSALErrorDomain Code=-50002 "(null)" UserInfo={MSALOAuthErrorKey=invalid_grant, MSALOAuthSubErrorKey=consent_required, MSALCorrelationIDKey=11112222-bbbb-3333-cccc-4444dddd5555, MSALErrorDescriptionKey=AADSTS65001: The user or administrator has not consented. Trace ID: 99998888-7777-6666-5555-444433332222 Correlation ID: 11112222-bbbb-3333-cccc-4444dddd5555 Timestamp: 2026-01-05 10:11:12Z}',
    [
      "MSALErrorDomain",
      "-50002 MSALErrorInteractionRequired",
      "invalid_grant",
      "consent_required",
      "AADSTS65001",
      "11112222-bbbb-3333-cccc-4444dddd5555",
      "99998888-7777-6666-5555-444433332222",
      "2026-01-05 10:11:12Z",
    ],
    ["AADSTS65001", "-50002 MSALErrorInteractionRequired"],
  ],
  ["Optional(Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42001})", [
    "MSALErrorDomain",
    "-50000 MSALErrorInternal",
    "-42001 MSALInternalErrorRedirectSchemeNotRegistered",
  ], ["-42001 MSALInternalErrorRedirectSchemeNotRegistered"]],
  ["The operation couldn’t be completed. (MSALErrorDomain error -50005.)", ["MSALErrorDomain", "-50005 MSALErrorUserCanceled"], [
    "-50005 MSALErrorUserCanceled",
  ]],
  ["TID=1234 MSAL 2.2.0 iOS 18.1 [2026-01-05 10:11:12 - 11112222-bbbb-3333-cccc-4444dddd5555] Error -42008", [
    "MSALErrorDomain",
    "-42008 MSALInternalErrorUnexpected",
    "11112222-bbbb-3333-cccc-4444dddd5555",
    "2026-01-05 10:11:12",
  ], ["-42008 MSALInternalErrorUnexpected"]],
  [
    "Sorry, but we’re having trouble signing you in.\nAADSTS50011: The redirect URI does not match.\nRequest Id: 99998888-7777-6666-5555-444433332222\nCorrelation Id: 11112222-bbbb-3333-cccc-4444dddd5555\nTimestamp: 2026-01-05T10:11:12Z",
    ["AADSTS50011", "11112222-bbbb-3333-cccc-4444dddd5555", "99998888-7777-6666-5555-444433332222", "2026-01-05T10:11:12Z"],
    ["AADSTS50011"],
  ],
  ['{"error":"invalid_client","error_description":"…","error_codes":[7000218],"correlation_id":"11112222-bbbb-3333-cccc-4444dddd5555"}', [
    "invalid_client",
    "AADSTS7000218",
    "11112222-bbbb-3333-cccc-4444dddd5555",
  ], ["AADSTS7000218"]],
  ["53003", ["AADSTS53003"], ["AADSTS53003"]],
  ["AADSTS1234567", ["AADSTS1234567"], ["AADSTS1234567"]],
  ["AADB2C90118", ["AADB2C90118"], ["AADB2C90118"]],
  ["−50003", ["MSALErrorDomain", "-50003 MSALErrorServerDeclinedScopes"], ["-50003 MSALErrorServerDeclinedScopes"]],
  ['Error Domain=NSURLErrorDomain Code=-1009 "offline"', ["NSURLErrorDomain", "-1009"], ["NSURLErrorDomain -1009 notConnectedToInternet"]],
  // The last of these is another kind of error than the first, so both are explained.
  ["Error Domain=NSURLErrorDomain Code=-1202 Error Domain=NSURLErrorDomain Code=-1200 Error Domain=NSURLErrorDomain Code=-1205", [
    "NSURLErrorDomain",
    "-1202",
  ], ["NSURLErrorDomain -1202 serverCertificateUntrusted", "NSURLErrorDomain -1205 clientCertificateRejected"]],
  ["Error Domain=NSOSStatusErrorDomain Code=-34018", ["NSOSStatusErrorDomain", "-34018"], [
    "NSOSStatusErrorDomain -34018 errSecMissingEntitlement",
  ]],
  ["The identity provider does not accept this application\nCode\nprovider_rejected_client", [], ["provider_rejected_client"]],
  // A number that no table has is said to be unknown, beside what the error says itself.
  ["Error Domain=MSALErrorDomain Code=-42999 UserInfo={MSALErrorDescriptionKey=Something new., MSALHTTPResponseCodeKey=418}", [
    "MSALErrorDomain",
    "-42999",
    "-42999",
    "418",
  ], ["-42999"]],
  ["Error Domain=com.contoso.errors Code=7", ["com.contoso.errors", "7"], ["com.contoso.errors 7"]],
  ["-25308", ["OSStatus", "-25308"], ["OSStatus -25308 errSecInteractionNotAllowed"]],
  ["hello", [], []],
];

for (const [text, facts, titles] of ERRORS) {
  Deno.test(`${titles.join(", ") || "nothing"} is found in ${text.replace(/\s+/g, " ").slice(0, 120)}`, () => {
    const found = findings(text);
    assert.deepEqual(found.facts.map(([, value]) => String(value)), facts);
    assert.deepEqual([...found.causes, ...found.follows].map(({ title }) => title), titles);
  });
}

const THREADS = JSON.parse(read("Tests/scripts/threads.json"));

Deno.test("the threads are the twelve and the twenty-two, and one whose text is not known says so", () => {
  const count = (name) => THREADS.filter(({ of }) => of.includes(name)).length;
  assert.deepEqual([count("twelve"), count("twenty-two")], [12, 22]);
  assert(THREADS.every(({ text, part }) => text !== null || part));
});

for (const { thread, text, expect, bundle_id: bundleID } of THREADS.filter(({ text }) => text !== null)) {
  Deno.test(`${thread} is explained by ${expect.join(", ") || "nothing that is known"}`, () => {
    const found = findings(text);
    assert.deepEqual([...found.causes, ...found.follows].map(({ number, about }) => number ?? about), expect);
    if (bundleID) assert.equal(found.bundleID, bundleID);
    if (text.includes("DescriptionKey=")) assert.notDeepEqual(found.descriptions, []);
  });
}

Deno.test("exactly MSAL's codes are known, by their names", () => {
  const names = new Map();
  for (const row of read("Tests/scripts/msal-error-codes.csv").trim().split("\n").slice(1)) {
    const [code, name] = row.trim().split(",");
    names.set(Number(code), [...(names.get(Number(code)) ?? []), name]);
  }
  const known = Array.from({ length: 600_000 }, (_, number) => -number).filter((code) => msalError(code) || msidError(code));
  assert.deepEqual(known.sort(), [...names.keys()].sort());
  for (const [code, wanted] of names) assert.deepEqual((msalError(code) ?? msidError(code)).name.split(" / "), wanted);
  for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
    const { page } = JSON.parse(read(`Public/languages/${tag}.json`));
    const abouts = known.map((code) => (msalError(code) ?? msidError(code)).about);
    assert.deepEqual(abouts.filter((about) => !page[`explain.cause.${about}`] || !page[`explain.remedy.${about}`]), [], tag);
  }
});

const invalidState = { code: -42501, name: "MSALInternalErrorInvalidState" };
for (
  const [code, wanted] of [
    ["interaction_required", -50002],
    ["cancelled", -50005],
    ["api_unavailable", undefined],
  ]
) Deno.test(`${code} of ours is MSAL's ${wanted}`, () => assert.equal(nativeError(code)?.code, wanted));
Deno.test("state_mismatch of ours is an internal error of MSAL", () => {
  assert.deepEqual(nativeError("state_mismatch"), {
    domain: "MSALErrorDomain",
    code: -50000,
    name: "MSALErrorInternal",
    internal: invalidState,
  });
});

const ID = "11112222-bbbb-3333-cccc-4444dddd5555";
for (
  const [code, known, wanted] of [
    [
      "cancelled",
      { correlationID: ID },
      `Error Domain=MSALErrorDomain Code=-50005 "(null)" UserInfo={MSALErrorDescriptionKey=User cancelled the authorization session., MSALCorrelationIDKey=${ID}}`,
    ],
    ["consent_required", {}, 'Error Domain=MSALErrorDomain Code=-50002 "(null)" UserInfo={}'],
    [
      "provider_rejected_client",
      { words: "AADSTS7000215: Invalid client secret.", oauthError: "invalid_client", correlationID: ID },
      'Error Domain=MSALErrorDomain Code=-50000 "(null)" UserInfo={MSALErrorDescriptionKey=AADSTS7000215: Invalid client secret., ' +
      `MSALOAuthErrorKey=invalid_client, MSALInternalErrorCodeKey=-42003, MSALCorrelationIDKey=${ID}}`,
    ],
  ]
) {
  Deno.test(`${code} is printed as an app prints MSAL's error, and read again`, () => {
    const error = nativeError(code);
    assert.equal(printed(error, known), wanted);
    const { facts } = findings(wanted);
    assert.ok(facts.some(([, value]) => value.startsWith(String((error.internal ?? error).code))), JSON.stringify(facts));
  });
}
