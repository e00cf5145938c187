// Pasted texts: their kind, and the mistakes in authorization requests and discovery documents.

import "./page.js";
import assert from "node:assert/strict";
import { BUNDLE, CLIENT, HEAD, plist } from "./files.js";
import { address, configuration, FOREIGN, instance, part, UNSIGNED } from "./requests.js";
import { addressIn, readAuthorization } from "../../Public/scripts/paste/authorize-text.js";
import { readDiscovery } from "../../Public/scripts/paste/discovery-text.js";
import { authorityIn, caseIn, kindOf, termsIn, tokensIn } from "../../Public/scripts/paste/kinds.js";

const shown = (text) => text.replace(/\s+/g, " ").slice(0, 200);
const rules = (read) => read?.found.map(({ rule }) => rule) ?? null;

const ENCRYPTED = `${part({ alg: "RSA-OAEP", enc: "A256GCM" })}.a.b.c.d`;
/** Made up, in the form of a personal account's. */
const OPAQUE = `EwB${"4A8l6BAAUBKgm8k1Us/wNk+wl".repeat(6)}o=`;

/** A term alone, and the names below which it is explained. */
const TERMS = [
  ["nonce", ["nonce"]],
  [" PKCE\n", ["pkce"]],
  ["Tokens", ["tokens", "token"]],
  ["access token", ["access_token"]],
  ["ID-token", ["id_token"]],
  ["redirect URI", ["redirect_uri"]],
  ["scopes?", ["scopes", "scope"]],
  ["claims", ["claim"]],
  ["acquireTokenSilent", ["silent"]],
  ["JWT", ["token"]],
  ["silent", ["silent"]],
  ["acquireTokenSilent(with:)", ["silent"]],
  ["what is silent", ["silent"]],
  ["What is a token?", ["token"]],
  ["what is PKCE?", ["pkce"]],
  ["What’s the nonce", ["nonce"]],
  ["What does “nonce” mean?", ["nonce"]],
  ["what are claims?", ["claim"]],
  ["Vad är en nonce?", ["nonce"]],
  ["vad betyder id_token", ["id_token"]],
  ["O que é um token?", ["token"]],
  ["o que significa a scope", ["scope"]],
  ["什么是 PKCE？", ["pkce"]],
  ["什么是PKCE", ["pkce"]],
  ["nonce 是什么意思？", ["nonce"]],
  ["PKCEとは？", ["pkce"]],
  ["nonce とは何ですか。", ["nonce"]],
  ["state", ["state"]],
  ["2FA", ["second_factor"]],
  ["multi-factor authentication", ["second_factor"]],
  ["single sign-on", ["sso"]],
  ["secrets", ["secrets", "client_secret"]],
  ["what is", []],
  ["Whatever", ["whatever"]],
  ["what is wrong, and why?", []],
  ["two words, and a comma", []],
  ["AADSTS50011: no", []],
  ["", []],
];

for (const [text, names] of TERMS) {
  Deno.test(`${shown(text)} is looked up as ${names.join(" and ") || "nothing"}`, () => assert.deepEqual(termsIn(text), names));
}

const KINDS = [
  ["Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42011}", "error"],
  ["AADSTS50011", "error"],
  ["hello", "error"],
  ["TID=1 MSAL 2.2.0 iOS 18.1 [2026-01-05 10:11:12] error: -51118 error domain: MSIDErrorDomain", "error"],
  ['{"error":"invalid_client","error_codes":[7000218]}', "error"],
  ["msauth.com.contoso.tasks://auth?error=access_denied", "error"],
  ["https://login.microsoftonline.com/error?code=50011", "error"],
  ["{not json", "error"],
  ["eyJ.not.a token, and more", "error"],
  ["{}", "error"],
  [plist({ CFBundleName: "Tasks" }), "file"],
  ["\uFEFF" + plist({ CFBundleName: "Tasks" }), "file"],
  ["<key>keychain-access-groups</key><array/>", "file"],
  ["bplist00\u0001", "file"],
  ["<!-- entitlements -->" + HEAD + "<dict/></plist>", "file"],
  [UNSIGNED, "token"],
  ["Bearer " + FOREIGN, "token"],
  ["Authorization: Bearer " + FOREIGN, "token"],
  [`"${FOREIGN}",`, "token"],
  [FOREIGN.slice(0, 40) + "\n" + FOREIGN.slice(40), "token"],
  [JSON.stringify({ token_type: "Bearer", id_token: FOREIGN }), "token"],
  [ENCRYPTED, "token"],
  [`${part({ alg: "RSA-OAEP" })}.a.b.c.d`, "error"],
  ["Access token is " + FOREIGN, "token"],
  ["Refreshed Access token is " + FOREIGN, "token"],
  [`Optional("${FOREIGN}")`, "token"],
  ["`" + FOREIGN + "`", "token"],
  [`https://jwt.ms/#id_token=${FOREIGN}&state=abc`, "token"],
  [`curl -H "Authorization: Bearer ${FOREIGN}" https://graph.microsoft.com/v1.0/me`, "token"],
  [`GET /v1.0/me HTTP/1.1\r\nHost: graph.microsoft.com\r\nAuthorization: Bearer ${FOREIGN}\r\n`, "token"],
  [`${FOREIGN}\n${UNSIGNED}`, "token"],
  [OPAQUE, "token"],
  [JSON.stringify({ token_type: "Bearer", access_token: OPAQUE }), "token"],
  [`AADSTS50013: Assertion failed signature validation. ${FOREIGN}`, "error"],
  [`Could not use ${FOREIGN}: error -50000`, "error"],
  [address({ id_token_hint: FOREIGN }), "address"],
  [JSON.stringify({ case: 1, companion: "1", kind: "workforce", steps: [] }), "case"],
  [`https://companion.example/native/case#case=${encodeURIComponent('{"case":1}')}`, "case"],
  ["\uFEFF" + configuration(), "discovery"],
  [address(), "address"],
  ["  " + address() + "\n", "address"],
  ["https://issuer.example/authorize?client_id=a", "address"],
  ["http://localhost/login?response_type=code", "address"],
  ["https://login.microsoftonline.com/common", "authority"],
  [" https://fabrikamb2c.b2clogin.com/tfp/fabrikamb2c.onmicrosoft.com/b2c_1_susi\n", "authority"],
  ["http://localhost:8443/common", "authority"],
  ["https://login.microsoftonline.com/common is refused", "error"],
  [configuration(), "discovery"],
  [instance(["a"]), "discovery"],
];

KINDS.push(
  ...[
    `\`\`\`json\n${configuration()}\n\`\`\``,
    `$ curl https://a.example/.well-known/openid-configuration\n${configuration()}`,
    `HTTP/1.1 200 OK\n\n${configuration()}\n`,
    JSON.stringify(JSON.parse(configuration()), null, 2).replace(/^/gm, "> "),
  ].map((text) => [text, "discovery"]),
  ...["<https://a.example/common>", "`https://a.example/common`", '"https://a.example/common",', "authority: https://a.example/common"]
    .map((text) => [text, "authority"]),
  ['let kAuthority = "https://a.example/common"', "authority"],
  ['  "authority": "https://a.example/common",', "authority"],
  [`AADSTS50049 in the log, but the document is there:\n${configuration()}`, "error"],
  ['static let kAuthority: String = "https://a.example/common"; let kClientID = ""', "error"],
  ['Response body: {"error": "invalid_grant"}', "error"],
);
Deno.test("an authority has no marks around it", () =>
  assert.deepEqual(
    ["https://a.example/t ", "<https://a.example/t>", 'kAuthority = "https://a.example/t";', "https://a.example/t?a=b"].map(authorityIn),
    ["https://a.example/t", "https://a.example/t", "https://a.example/t", undefined],
  ));
Deno.test("a case between words is one without them", () => {
  assert.deepEqual([caseIn('It is: {"case": 1, "a": "b"} here'), kindOf('It is: {"case": 1}')], ['{"case":1,"a":"b"}', "case"]);
  assert.equal(caseIn('{"case": 1}'), '{"case": 1}');
});
Deno.test("a document between words is read as it is alone", () =>
  assert.deepEqual(readDiscovery(`It has:\n${configuration()}\nRight?`), readDiscovery(configuration())));

for (const [text, kind] of KINDS) Deno.test(`taken for a text of the kind ${kind}: ${shown(text)}`, () => assert.equal(kindOf(text), kind));

/** A text, and of each token in it the name and the kind of its header. */
for (
  const [text, wanted] of [
    [FOREIGN, ["undefined RS256"]],
    [FOREIGN.slice(0, -2) + "\n" + FOREIGN.slice(-2), ["undefined RS256"]],
    ["Access token is " + FOREIGN, ["access RS256"]],
    [`https://jwt.ms/#id_token=${FOREIGN}&state=abc`, ["id RS256"]],
    [`https://a.example/?next=%23id_token%3D${FOREIGN}%26state`, ["id RS256"]],
    [`${FOREIGN}\n${UNSIGNED}`, ["undefined RS256", "undefined none"]],
    [`${FOREIGN} ${FOREIGN}`, ["undefined RS256"]],
    [`ID token: ${FOREIGN}\nAccess token: ${ENCRYPTED}`, ["id RS256", "access RSA-OAEP"]],
    [JSON.stringify({ access_token: OPAQUE, id_token: FOREIGN }), ["id RS256", "access opaque"]],
    [JSON.stringify({ access_token: "short" }), ["access opaque"]],
    [`Bearer ${OPAQUE}`, ["undefined opaque"]],
    ["eyJ.eyJ.eyJ", []],
    [`the log says "${FOREIGN.slice(0, 30)}\n  ${FOREIGN.slice(30, 60)}\n  ${FOREIGN.slice(60)}".`, ["undefined RS256"]],
    [`> ${FOREIGN.slice(0, 30)}\n> ${FOREIGN.slice(30, 60)}\n> ${FOREIGN.slice(60)}`, ["undefined RS256"]],
    [`"secret\\":\\"${FOREIGN}\\",`, ["undefined RS256"]],
  ]
) {
  Deno.test(`${wanted.join(", ") || "no token"} is in ${shown(text)}`, () =>
    assert.deepEqual(tokensIn(text).map(({ name, read }) => `${name} ${read?.header.alg ?? "opaque"}`), wanted));
}

const ENTRA = "https://login.microsoftonline.com";
/** The request, the bundle ID of the reader, and the mistakes; null for a text that is no request. */
const ADDRESSES = [
  [address(), "", []],
  [address(), BUNDLE, []],
  [address(), "com.fabrikam.other", ["redirect_bundle"]],
  [address({ prompt: "select_account" }), "", []],
  [address({ code_challenge: null }), "", ["pkce"]],
  [address({ code_challenge_method: "plain" }), "", ["pkce_method"]],
  [address({ code_challenge_method: null }), "", ["pkce_method"]],
  [address({ code_challenge: "abc" }), "", ["pkce_length"]],
  [address({ client_id: "Your_Client_ID" }), "", ["client_id"]],
  [address({ client_id: null }), "", ["missing"]],
  [address({ client_secret: "abc" }), "", ["client_secret"]],
  [address({ response_type: "code id_token" }), "", ["response_type", "missing"]],
  [address({ response_type: null }), "", ["missing"]],
  [address({ redirect_uri: `msauth.${BUNDLE}` }), "", ["redirect_form"]],
  // MSAL compares letter for letter, and takes the bundle ID as the host of any scheme.
  [address({ redirect_uri: `MSAUTH.${BUNDLE}://auth` }), BUNDLE, ["redirect_form"]],
  [address({ redirect_uri: `msauth.${BUNDLE}://auth/` }), BUNDLE, ["redirect_form"]],
  [address({ redirect_uri: `msauth.${BUNDLE}://auth/` }), "", ["redirect_form"]],
  [address({ redirect_uri: `x-msauth-tasks://${BUNDLE}` }), BUNDLE, []],
  [address({ redirect_uri: `x-msauth-tasks://${BUNDLE}` }), "", ["redirect_host"]],
  [address({ redirect_uri: `x-msauth-tasks://${BUNDLE}` }), "com.fabrikam.other", ["redirect_form"]],
  // It compares for accounts of work or school alone, in capitals too.
  [address({ redirect_uri: `msauth.${BUNDLE}://AUTH` }), BUNDLE, ["redirect_form"]],
  [address({ redirect_uri: `msauth.${BUNDLE.toUpperCase()}://auth` }), BUNDLE, ["redirect_bundle"]],
  [address({ redirect_uri: `x-msauth-tasks://${BUNDLE.toUpperCase()}` }), BUNDLE, ["redirect_form"]],
  ...[
    "contoso.ciamlogin.com/contoso.onmicrosoft.com",
    "contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi",
    "login.contoso.example/contoso/B2C_1_susi",
    "login.microsoftonline.com/consumers",
  ]
    .flatMap((at) =>
      [`MSAUTH.${BUNDLE}://auth`, `msauth.com.fabrikam.other://auth`, "x-app://back"].map((redirect_uri) => [
        address({ redirect_uri, at: `https://${at}/oauth2/v2.0/authorize` }),
        BUNDLE,
        ["redirect_any"],
      ])
    ),
  // The same request in other forms.
  [address().replace(/\?/, "\n  ?").replaceAll("&", "\n  &"), BUNDLE, []],
  [address().replaceAll("&", "&\n"), BUNDLE, []],
  [`GET ${address().slice("https://login.microsoftonline.com".length)} HTTP/1.1\r\nHost: login.microsoftonline.com`, BUNDLE, []],
  [`10.0.0.1 - - [05/Jan/2026] "GET ${address().slice("https://login.microsoftonline.com".length)} HTTP/1.1" 200`, BUNDLE, []],
  [`2026-01-05 opening <${address()}> in the browser`, BUNDLE, []],
  [address().replaceAll("&", "&amp;"), BUNDLE, ["escaped"]],
  [`${ENTRA}/contoso/v2.0/adminconsent?client_id=${CLIENT}&state=1&redirect_uri=http://localhost/a`, "", ["adminconsent"]],
  [`${ENTRA}/contoso/v2.0/adminconsent?state=1`, "", ["missing", "adminconsent"]],
  [`${ENTRA}/common/oauth2/v2.0/logout?post_logout_redirect_uri=https%3A%2F%2Fcontoso.example%2Fout`, "", ["logout"]],
  ["https://idp.example/authorize?client_id=a&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3Ab", "", ["pushed"]],
  ["https://idp.example/as/par?client_id=a", "", ["par"]],
  [address({ redirect_uri: `msal${CLIENT}://auth` }), "", ["redirect_old"]],
  [address({ redirect_uri: "x-app://back" }), "", ["redirect_form"]],
  [address({ redirect_uri: null }), "", ["missing"]],
  [address({ scope: "User.Read" }), "", ["openid", "offline_access"]],
  [address({ scope: "openid offline_access User.Read https://graph.microsoft.com/Mail.Read" }), "", []],
  [address({ scope: "openid offline_access User.Read api://tasks/read" }), "", ["resources"]],
  [address({ scope: "" }), "", ["missing"]],
  [address({ state: null }), "", ["missing"]],
  [address({ prompt: "always" }), "", ["prompt"]],
  [address({ prompt: "select_account", login_hint: "a" }), "", ["hint"]],
  [address({ at: "http://localhost/common/oauth2/v2.0/authorize" }), "", ["https"]],
  [address({ at: "https://login.microsoftonline.com/common/oauth2/authorize" }), "", ["version_1", "scope_v1"]],
  [address() + "&state=b", "", ["twice"]],
  // A web application's request lacks what only a native app's needs.
  ...[
    { redirect_uri: "https://contoso.example/" },
    { redirect_uri: "http://localhost:5000/signin-oidc", response_mode: "form_post" },
    { redirect_uri: "http://localhost:5000/signin-oidc", "x-client-SKU": "ID_NETSTANDARD2_0" },
    { redirect_uri: "https://contoso.example/", response_type: "code id_token", response_mode: "form_post", nonce: "n" },
    { redirect_uri: "https://contoso.example/", "x-client-SKU": "MSAL.js", scope: "openid" },
  ].map((more) => [address({ code_challenge: null, code_challenge_method: null, ...more }), BUNDLE, []]),
  [address({ code_challenge: null, "x-client-SKU": "MSAL.iOS" }), "", ["pkce"]],
  [address({ redirect_uri: "https://contoso.example/", response_type: "id_token" }), "", ["missing"]],
  [address({ redirect_uri: "https://contoso.example/", response_type: "code id_token", response_mode: "query", nonce: "n" }), "", [
    "mode_query",
  ]],
  [address({ response_mode: "post" }), "", ["response_mode"]],
  // On a machine of one's own http is allowed, and nowhere else.
  ...["http://localhost", "http://127.0.0.1:50389/", "http://[::1]:9/a", `${ENTRA}/common/oauth2/nativeclient`].map((redirect_uri) => [
    address({ redirect_uri, scope: "User.Read" }),
    BUNDLE,
    ["redirect_desktop"],
  ]),
  ...["http://203.0.113.7:9000/a", "http://app.contoso.example/", "http://localhost.contoso.example/", "http://10.0.0.1/"].map((
    redirect_uri,
  ) => [address({ redirect_uri }), BUNDLE, ["redirect_http"]]),
  [address({ redirect_uri: "https://contoso.example/#a" }), "", ["redirect_fragment"]],
  [address({ redirect_uri: "https://*.contoso.example/" }), "", ["redirect_wildcard"]],
  [address({ nonce: "c3RhdGU" }), "", ["state_nonce"]],
  [address({ claims: '{"access_token":{}}' }), "", []],
  [address({ claims: "%7B%7D" }), "", ["claims"]],
  [address({ prompt: "admin_consent" }), "", ["prompt_v1"]],
  [address({ prompt: "admin_consent", scope: null, at: `${ENTRA}/common/oauth2/authorize`, resource: "https://a/" }), "", ["version_1"]],
  // Scopes by their grammar.
  ...[
    ["User.Read,openid", ["scope_comma"]],
    ["User.Read%20openid", ["scope_encoded"]],
    ["User.Read+openid", ["scope_encoded"]],
    ['["User.Read"] openid offline_access', ["scope_form"]],
    ["'User.Read' openid offline_access", ["scope_form"]],
    ["[api://a/.default openid offline_access", ["scope_form"]],
    ["OpenID offline_access User.Read", ["scope_case", "openid"]],
    ["openid offline_access api://tasks", ["scope_bare"]],
    ["openid offline_access https://graph.microsoft.com/", ["scope_bare"]],
    [`openid offline_access ${CLIENT}`, ["scope_client"]],
    [`openid offline_access api://${CLIENT}/read`, []],
    ["openid offline_access https://graph.microsoft.com/.default", []],
    ["openid offline_access https://graph.microsoft.com/.default User.Read", ["scope_default"]],
    // oauth2-proxy issue 2158, microsoft-authentication-library-for-js issues 1718 and 4071, and passport-microsoft issue 6.
    ["openid offline_access https://orders.example/user.read https://graph.microsoft.com/openid https://graph.microsoft.com/.default", [
      "scope_default",
      "resources",
    ]],
    [`openid offline_access https://graph.microsoft.com/user.readbasic.all ${CLIENT}/.default`, ["scope_default", "resources"]],
    [`User.Read People.Read ${CLIENT}/.default openid offline_access`, ["scope_default", "resources"]],
    [`https://graph.microsoft.com/.default ${CLIENT}/.default openid offline_access`, ["resources"]],
    ["openid offline_access user.read,profile", ["scope_comma"]],
    ["openid offline_access https://graph.microsoft.us/User.Read", ["scope_cloud"]],
    ["openid offline_access https://contoso.onmicrosoft.com/tasks/read", []],
  ].map(([scope, wanted]) => [address({ scope }), "", wanted]),
  [
    address({
      scope: "openid offline_access https://graph.microsoft.us/User.Read",
      at: "https://login.microsoftonline.us/common/oauth2/v2.0/authorize",
    }),
    "",
    [],
  ],
  // A resource beside the scopes: at v2.0 only.
  ...[
    ["https://api.example/", "openid offline_access https://api.example/.default", []],
    ["https://api.example/v1", "openid offline_access https://api.example/.default", ["resource_other"]],
    ["https://graph.microsoft.com/", "openid offline_access User.Read", []],
    ["https://api.example", "openid offline_access User.Read", ["resource_other"]],
    [CLIENT, `openid offline_access api://${CLIENT}/read`, []],
    ["https://api.example", "openid offline_access", ["resource_alone"]],
  ].map(([resource, scope, wanted]) => [address({ resource, scope }), "", wanted]),
  [address({ resource: "https://api.example", at: "https://idp.example/authorize" }), "", []],
  // Wherever a request was copied from, and however its lines were broken.
  ...[
    JSON.stringify({ url: address() }).replaceAll("/", "\\/"),
    encodeURIComponent(address()),
    address().replace(/(.{70})/g, "$1\n"),
    address().replace(/(.{40})/g, "$1\r\n    "),
    `<a href="${address()}">Sign in</a>`,
    `curl -v '${address()}'`,
    `HTTP/1.1 302 Found\nLocation: ${address()}\n`,
    `let url = URL(string: "${address()}")!`,
    `> ${address()}`,
  ].map((text) => [text, "", []]),
  ["not an address", "", null],
  ["ftp://a/authorize", "", null],
];

for (const [text, , wanted] of ADDRESSES) {
  Deno.test(`${wanted ? "an" : "no"} address is taken for one: ${shown(text)}`, () =>
    assert.equal(kindOf(text) === "address", wanted !== null));
}
Deno.test("a person's word behind a request is no part of it", () =>
  assert.deepEqual([`${address()}\nThanks!`, `${address()}ab\ncd`].map(addressIn), [address(), `${address()}abcd`]));
Deno.test("only a web application's request is one", () =>
  assert.deepEqual(
    [{}, { response_mode: "form_post" }, { redirect_uri: "https://a.example/" }, { redirect_uri: "http://localhost/" }].map((more) =>
      readAuthorization(address(more)).isWeb
    ),
    [false, true, true, false],
  ));

for (const [text, bundleID, wanted] of ADDRESSES) {
  const sentence = `a request${bundleID && ` for ${bundleID}`} has ${wanted?.join(", ") || (wanted ? "no mistake" : "no form")}: ${
    shown(text)
  }`;
  Deno.test(sentence, () => assert.deepEqual(rules(readAuthorization(text, bundleID)), wanted));
}

const DOCUMENTS = [
  [configuration(), []],
  [configuration({ issuer: null }), ["missing"]],
  [configuration({ token_endpoint: 7 }), ["missing"]],
  [configuration({ authorization_endpoint: "http://a/" }), ["https"]],
  [configuration({ end_session_endpoint: null }), ["no_sign_out"]],
  [configuration({ jwks_uri: null }), ["no_keys"]],
  [configuration({ issuer: "https://login.microsoftonline.com/{tenantid}/v2.0" }), ["template"]],
  [configuration({ response_types_supported: ["id_token"] }), ["no_code"]],
  [instance(["localhost:8443", "localhost"]), []],
  [instance(["localhost"]), []],
  [instance(["localhost:8443"]), ["port"]],
  [instance("localhost"), ["missing"]],
  [instance(["localhost"], { preferred_cache: null }), ["missing"]],
  ['{"tenant_discovery_endpoint":"https://a/"}', ["missing"]],
  ['{"tenant_discovery_endpoint":"https://a/","metadata":[null]}', ["missing", "missing", "missing"]],
  ["[]", null],
];

for (const [text, wanted] of DOCUMENTS) {
  const sentence = `a document has ${wanted?.join(", ") || (wanted ? "no mistake" : "no form")}: ${shown(text)}`;
  Deno.test(sentence, () => assert.deepEqual(rules(readDiscovery(text)), wanted));
}

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each mistake has its sentence in ${tag}`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    const keys = [
      ...ADDRESSES.flatMap((row) => (row[2] ?? []).map((rule) => `address.${rule}`)),
      ...DOCUMENTS.flatMap((row) => (row[1] ?? []).map((rule) => `discovery.${rule}`)),
    ];
    assert.deepEqual(keys.filter((key) => !page[`paste.${key}`]), []);
  });
}

/** Words that people type, each with a meaning in each language. */
const ASKED = [
  ..."MFA;second factor;multi-factor;consent;admin consent;Conditional Access;broker;cp1;CAE;continuous access evaluation".split(";"),
  ..."client secret;secret;certificate;single sign-on;SSO;keychain;bundle ID;discovery document;metadata;case;kiosk;logo;portal".split(";"),
  ..."tenant;authority;app registration;redirect URI;client ID;refresh token;scope;permissions;claim;claims;WWW-Authenticate".split(";"),
];

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`the words that people type are explained in ${tag}, the token without cp1`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    const tables = ["paste.term", "parameter", "response", "claim"];
    const isExplained = (word) => termsIn(word).some((name) => tables.some((table) => page[`${table}.${name}`]));
    assert.deepEqual(ASKED.filter((word) => !isExplained(word)), []);
    assert(!page["claim.token"].includes("cp1"));
  });
}

const CORPUS = JSON.parse(Deno.readTextFileSync(new URL("corpus.json", import.meta.url)));

Deno.test("each text with an error is taken for one, in a fence, a quotation or a question, too", () => {
  for (const { text } of CORPUS) {
    for (const form of [text, `\`\`\`\n${text}\n\`\`\``, text.replace(/^/gm, "> "), `It says:\n\n${text}\n\nAny idea?`]) {
      assert.equal(kindOf(form), "error", form);
    }
  }
});
