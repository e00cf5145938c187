// Authorities as MSAL judges them, and the values in a pasted configuration.

import "./page.js";
import assert from "node:assert/strict";
import { BUNDLE, CLIENT } from "./files.js";
const { isAlias, judgeAuthority } = await import("../../Public/scripts/base/values.js");
const { judgment, verdict } = await import("../../Public/scripts/native/authority.js");
const { graphRoot } = await import("../../Public/scripts/base/project.js");
const { configuration, readConfiguration } = await import("../../Public/scripts/native/config.js");
const { blocks, isRefused, mistake } = await import("../../Public/scripts/native/setup.js");

const ENTRA = "https://login.microsoftonline.com";

function discovery(host, tenant) {
  const quoted = encodeURIComponent(`https://${host}/${tenant}/oauth2/v2.0/authorize`);
  return [
    `https://${host}/common/discovery/instance?api-version=1.1&authorization_endpoint=${quoted}`,
    `https://${host}/${tenant}/v2.0/.well-known/openid-configuration`,
  ];
}

/** An authority, the kind of tenant, the rules that have something to say, and what MSAL requests: nothing where it refuses. */
const AUTHORITIES = [
  [`${ENTRA}/common`, "workforce", [], discovery("login.microsoftonline.com", "common")],
  [`${ENTRA}/common/oauth2`, "workforce", ["rest"], discovery("login.microsoftonline.com", "common")],
  [`${ENTRA}/common/v2.0`, "workforce", ["version"], []],
  ["https://fabrikam.b2clogin.com/fabrikam.onmicrosoft.com/b2c_1_in/v2.0/", "b2c", ["version"], []],
  ["https://fabrikam.ciamlogin.com/fabrikam.onmicrosoft.com/v2.0/.well-known/openid-configuration", "external", ["version"], []],
  ["https://fabrikam.ciamlogin.com/.well-known/openid-configuration", "external", ["version"], []],
  ["https://login.fabrikam.example/", "external", [], ["https://login.fabrikam.example/v2.0/.well-known/openid-configuration"]],
  ["https://login.fabrikam.example/fabrikam.onmicrosoft.com/more", "external", [], [
    "https://login.fabrikam.example/fabrikam.onmicrosoft.com/more/v2.0/.well-known/openid-configuration",
  ]],
  ["https://localhost:8443/common", "workforce", ["known", "port"], discovery("localhost:8443", "common")],
  ["https://login.contoso.example/common", "workforce", ["known"], discovery("login.contoso.example", "common")],
  [ENTRA, "workforce", ["tenant"], []],
  ["http://login.microsoftonline.com/common", "workforce", ["https"], []],
  ["login.microsoftonline.com/common", "workforce", ["unreadable"], []],
  ["https://login.microsoftonline.com /common", "workforce", ["unreadable"], []],
  ["https://fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/b2c_1_in", "workforce", ["other_kind", "is_b2c"], []],
  ["https://login.contoso.example/adfs", "workforce", ["adfs"], []],
  ["https://fabrikam.ciamlogin.com/", "external", ["ciam_tenant"], [
    "https://fabrikam.ciamlogin.com/fabrikam.onmicrosoft.com/v2.0/.well-known/openid-configuration",
  ]],
  ["https://127.0.0.1:8443/fabrikam.example", "external", [], [
    "https://127.0.0.1:8443/fabrikam.example/v2.0/.well-known/openid-configuration",
  ]],
  ["https://localhost:8443/fabrikam.example", "external", ["dot"], []],
  ["https://fabrikam.ciamlogin.localhost:8443/fabrikam.example", "external", [], [
    "https://fabrikam.ciamlogin.localhost:8443/fabrikam.example/v2.0/.well-known/openid-configuration",
  ]],
  ["https://fabrikam.ciamlogin.localhost:8443", "external", ["ciam_tenant"], [
    "https://fabrikam.ciamlogin.localhost:8443/fabrikam.onmicrosoft.com/v2.0/.well-known/openid-configuration",
  ]],
  [
    "https://fabrikam.ciamlogin.localhost:8443/fabrikam.example",
    "workforce",
    ["other_kind", "known", "port"],
    discovery("fabrikam.ciamlogin.localhost:8443", "fabrikam.example"),
  ],
  ["https://login.sovcloud-identity.fr/common", "workforce", ["cloud_own"], discovery("login.sovcloud-identity.fr", "common")],
  [`${ENTRA}/common`, "external", ["other_kind"], [`${ENTRA}/common/v2.0/.well-known/openid-configuration`]],
  ["https://fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/b2c_1_in", "b2c", ["known_b2c"], [
    "https://fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/b2c_1_in/v2.0/.well-known/openid-configuration",
  ]],
  ["https://login.fabrikam.example/fabrikam.onmicrosoft.com/b2c_1_in", "b2c", ["no_tfp", "known_b2c"], [
    "https://login.fabrikam.example/fabrikam.onmicrosoft.com/b2c_1_in/v2.0/.well-known/openid-configuration",
  ]],
  ["https://fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com", "b2c", ["policy"], []],
  // A tenant's domain is no host (MicrosoftDocs/entra-docs issue 590).
  ["https://fabrikam.onmicrosoft.com/oauth2/v2.0/initiate", "external", ["domain_host"], []],
  ["https://fabrikam.onmicrosoft.com/common", "workforce", ["domain_host"], discovery("fabrikam.onmicrosoft.com", "common")],
  ["https://fabrikam.onmicrosoft.com/", "workforce", ["domain_host"], []],
  ["https://fabrikam.onmicrosoft.us/", "workforce", ["domain_host"], []],
  ["https://fabrikam.onmicrosoft.com/b2c_1_in", "b2c", ["domain_host"], []],
  ["https://fabrikam.onmicrosoft.de/common", "workforce", ["known", "cloud_closed"], discovery("fabrikam.onmicrosoft.de", "common")],
  ["https://onmicrosoft.com.fabrikam.example/common", "workforce", ["known"], discovery("onmicrosoft.com.fabrikam.example", "common")],
  // Azure-Samples/ms-identity-ciam-javascript-tutorial issue 142, microsoft-authentication-library-for-js issue 8592 and azure-cli issue 22145.
  [`https://${CLIENT}.ciamlogin.com/${CLIENT}/v2.0`, "external", ["version"], []],
  ["https://fabrikam.ciamlogin.com/fabrikam.onmicrosoft.com", "external", [], [
    "https://fabrikam.ciamlogin.com/fabrikam.onmicrosoft.com/v2.0/.well-known/openid-configuration",
  ]],
  [`https://login.microsoftonline.de/${CLIENT}`, "workforce", ["cloud_closed"], discovery("login.microsoftonline.de", CLIENT)],
  ["http://fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/b2c_1_in", "b2c", ["https"], []],
  // MSAL compares a path's form: what it says of these is not all there is.
  [`${ENTRA}/${CLIENT.slice(0, -1)}`, "workforce", ["tenant_form"], discovery("login.microsoftonline.com", CLIENT.slice(0, -1))],
  [`${ENTRA}/${CLIENT}`, "workforce", [], discovery("login.microsoftonline.com", CLIENT)],
  [`${ENTRA}/common/oauth2/v2.0/authorize`, "workforce", ["version"], []],
  [`${ENTRA}/${CLIENT}.onmicrosoft.com`, "workforce", ["guid_domain"], discovery("login.microsoftonline.com", `${CLIENT}.onmicrosoft.com`)],
  [`https://${CLIENT}.ciamlogin.com/`, "external", ["guid_host"], [
    `https://${CLIENT}.ciamlogin.com/${CLIENT}.onmicrosoft.com/v2.0/.well-known/openid-configuration`,
  ]],
  [`https://${CLIENT}.ciamlogin.com/${CLIENT}`, "external", [], [
    `https://${CLIENT}.ciamlogin.com/${CLIENT}/v2.0/.well-known/openid-configuration`,
  ]],
  ["https://fabrikam.ciamlogin.com/common", "external", ["ciam_alias"], [
    "https://fabrikam.ciamlogin.com/common/v2.0/.well-known/openid-configuration",
  ]],
  ["https://fabrikam.ciamlogin.us/", "external", ["ciam_cloud", "cloud"], [
    "https://fabrikam.ciamlogin.us/fabrikam.onmicrosoft.com/v2.0/.well-known/openid-configuration",
  ]],
  ...[
    [`${CLIENT}.b2clogin.com/tfp/${CLIENT}/b2c_1_in`, ["known_b2c", "guid_b2c"]],
    ["fabrikam.b2clogin.com/fabrikam.onmicrosoft.com/tfp/b2c_1_in", ["tfp_place", "known_b2c"]],
    ["fabrikam.b2clogin.com/fabrikam.onmicrosoft.com/b2c_1_in/tfp", ["tfp_place", "known_b2c"]],
    ["fabrikam.b2clogin.com/fabrikam.onmicrosoft.com/tfp", ["policy", "known_b2c"]],
    ["fabrikam.b2clogin.com/tfp/b2c_1_in/fabrikam.onmicrosoft.com", ["policy_order", "known_b2c"]],
    ["fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/in", ["policy_name", "known_b2c"]],
    ["fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/b2c_1_in/oauth2", ["rest_b2c", "known_b2c"]],
    ["fabrikam.b2clogin.cn/tfp/fabrikam.partner.onmschina.cn/b2c_1_in", ["known_b2c", "cloud"]],
    ["fabrikam.b2clogin.us/tfp/fabrikam.onmicrosoft.us/b2c_1_in", ["known_b2c", "cloud"]],
    ["fabrikam.b2clogin.com/tfp/fabrikam.partner.onmschina.cn/b2c_1_in", ["known_b2c", "cloud_domain"]],
  ].map(([path, rules]) => [`https://${path}`, "b2c", rules, [`https://${path}/v2.0/.well-known/openid-configuration`]]),
  ...[
    ["login.partner.microsoftonline.cn", "common", ["cloud"]],
    ["login.chinacloudapi.cn", "common", ["cloud"]],
    ["login.microsoftonline.us", "litware-gov.us", ["cloud"]],
    ["login.usgovcloudapi.net", "common", ["cloud"]],
    ["login.microsoftonline.de", "common", ["cloud_closed"]],
    ["login.microsoftonline.com", "contoso.onmicrosoft.us", ["cloud_domain"]],
  ].map(([host, tenant, rules]) => [`https://${host}/${tenant}`, "workforce", rules, discovery(host, tenant)]),
];

for (const [text, kind, rules, requests] of AUTHORITIES) {
  Deno.test(`${kind}: of ${text} it says ${rules.join(", ") || "nothing"}`, () => {
    const { isAccepted, found, requests: made } = judgeAuthority(text, kind);
    assert.deepEqual([found.map(({ rule }) => rule), made, isAccepted], [rules, requests, requests.length > 0]);
  });
}

for (
  const [text, found] of [
    [`${ENTRA}/common`, true],
    [`${ENTRA}/Organizations/v2.0`, true],
    [`${ENTRA}/contoso.com`, false],
    [ENTRA, false],
    ["common", false],
    ["a:b", false],
    ["", false],
  ]
) Deno.test(`“${text}” is ${found ? "" : "not "}for the accounts of several tenants`, () => assert.equal(isAlias(text), found));

/** An authority, and the level of what is said of it as a whole and beside its field: what MSAL accepts may not work. */
for (
  const [text, kind, wanted] of [
    [`${ENTRA}/common`, "workforce", ["fine", "fine"]],
    ["https://login.microsoftonline.us/litware-gov.us", "workforce", ["fine", "fine"]],
    ["https://localhost:8443/common", "workforce", ["info", "fine"]],
    [`https://${CLIENT}.ciamlogin.com/`, "external", ["bad", "bad"]],
    ["https://fabrikam.b2clogin.com/fabrikam.onmicrosoft.com/tfp/b2c_1_in", "b2c", ["info", "info"]],
    ["https://login.fabrikam.example/fabrikam.onmicrosoft.com/tfp/b2c_1_in", "b2c", ["info", "info"]],
    ["https://login.microsoftonline.de/common", "workforce", ["bad", "bad"]],
    [ENTRA, "workforce", ["bad", "bad"]],
  ]
) {
  Deno.test(`of ${text} is said ${wanted.join(" and ")}`, () =>
    assert.deepEqual([judgment(text).level, verdict(text, kind).level], wanted));
}

for (
  const [authority, graph] of [
    [`${ENTRA}/common`, "https://graph.microsoft.com/"],
    ["https://login.microsoftonline.us/common", "https://graph.microsoft.us/"],
    ["https://login.chinacloudapi.cn/common", "https://microsoftgraph.chinacloudapi.cn/"],
    ["https://fabrikam.b2clogin.cn/tfp/fabrikam.partner.onmschina.cn/b2c_1_in", "https://microsoftgraph.chinacloudapi.cn/"],
    ["https://notmicrosoftonline.us/common", "https://graph.microsoft.com/"],
    ["", "https://graph.microsoft.com/"],
  ]
) Deno.test(`for ${authority || "no authority"} Graph is at ${graph}`, () => assert.equal(graphRoot(authority), graph));

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each rule has its sentence in ${tag}`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    assert.deepEqual(AUTHORITIES.flatMap((row) => row[2]).filter((rule) => !page[`authority.rule.${rule}`]), []);
    const seen = [...SEEN.flatMap((row) => row[1]).map((each) => each.split(" ")[0]), "secret"].filter((rule) => rule !== "authority");
    assert.deepEqual(seen.filter((rule) => !page[`setup.seen.${rule}`]), []);
  });
}

const GIVEN = { client_id: CLIENT, bundle_id: BUNDLE };
/** A pasted text, and the values that it has. */
const CONFIGURATIONS = [
  [
    `let kClientID = "${CLIENT}"\nlet kRedirectUri = "msauth.${BUNDLE}://auth"\nlet kAuthority = "https://login.microsoftonline.com/organizations"\nlet kScopes: [String] = ["user.read", "mail.read"]`,
    { ...GIVEN, kind: "workforce", authority: "https://login.microsoftonline.com/organizations", scopes: ["user.read", "mail.read"] },
  ],
  [
    `[[MSALPublicClientApplicationConfig alloc] initWithClientId:@"${CLIENT}" redirectUri:@"msauth.${BUNDLE}://auth" authority:authority];`,
    GIVEN,
  ],
  [
    `MSALPublicClientApplicationConfig(clientId: "${CLIENT}", redirectUri: "msauth.${BUNDLE}://auth", authority: try MSALCIAMAuthority(url: URL(string: "https://fabrikam.ciamlogin.com/")!))`,
    { ...GIVEN, kind: "external", authority: "https://fabrikam.ciamlogin.com/" },
  ],
  [
    `{"client_id": "${CLIENT}", "redirect_uri": "msauth.${BUNDLE}://auth", "authorities": ["https://fabrikam.ciamlogin.com/"], "scopes": ["api://x/y"]}`,
    { ...GIVEN, kind: "external", authority: "https://fabrikam.ciamlogin.com/", scopes: ["api://x/y"] },
  ],
  [`<key>ClientID</key>\n<string>${CLIENT}</string><key>CFBundleURLSchemes</key><array>\n<string>msauth.${BUNDLE}</string></array>`, GIVEN],
  [
    `let kTenantName = "fabrikam.onmicrosoft.com"\nlet kAuthorityHostName = "fabrikam.b2clogin.com"\nlet kClientID = "${CLIENT}"\nlet kSignupOrSigninPolicy = "b2c_1_in"\nlet kEditProfilePolicy = "b2c_1_edit"`,
    {
      client_id: CLIENT,
      kind: "b2c",
      tenant_name: "fabrikam.onmicrosoft.com",
      host: "fabrikam.b2clogin.com",
      sign_in_policy: "b2c_1_in",
      edit_policy: "b2c_1_edit",
    },
  ],
  ['let kAuthority = "https://fabrikam.b2clogin.com/tfp/fabrikam.onmicrosoft.com/b2c_1_in"', {
    kind: "b2c",
    host: "fabrikam.b2clogin.com",
    tenant_name: "fabrikam.onmicrosoft.com",
    sign_in_policy: "b2c_1_in",
  }],
  ['let kClientID = "Your_Application_Id_Here"\nlet kAuthority = "https://login.microsoftonline.com/<tenant>"', {}],
  ["hello", {}],
  [
    `static let kTenantSubdomain = "contoso"\nstatic let kClientID = "${CLIENT}"\nstatic let kScopes: [String] = ["api://tasks/Read"]\nstatic let kAuthority = "https://\\(kTenantSubdomain).ciamlogin.com"`,
    { client_id: CLIENT, kind: "external", authority: "https://contoso.ciamlogin.com", scopes: ["api://tasks/Read"] },
  ],
  ['let kAuthority = "https://\\(subdomain).ciamlogin.com"', {}],
  [
    `{"AzureAd": {"Authority": "${ENTRA}/contoso.onmicrosoft.com", "ClientId": "${CLIENT}"}, "MSGraphApi": {"Scopes": "user.read mail.read"}}`,
    { client_id: CLIENT, kind: "workforce", authority: `${ENTRA}/contoso.onmicrosoft.com`, scopes: ["user.read", "mail.read"] },
  ],
  [`{"AzureAd": {"Instance": "${ENTRA}/", "TenantId": "contoso.onmicrosoft.com", "ClientId": "${CLIENT}"}}`, {
    client_id: CLIENT,
    kind: "workforce",
    authority: `${ENTRA}/contoso.onmicrosoft.com`,
  }],
  [`{"AzureAd": {"Instance": "${ENTRA}/", "ClientId": "${CLIENT}"}}`, { client_id: CLIENT }],
  [
    `{"client_id" : "${CLIENT}", "authorities" : [{"type": "AAD", "audience": {"type": "AzureADMyOrg", "tenant_id": "contoso.onmicrosoft.com"}}]}`,
    { client_id: CLIENT, kind: "workforce", authority: `${ENTRA}/contoso.onmicrosoft.com` },
  ],
  [`{"authorities": [{"audience": {"type": "AzureADMultipleOrgs"}}]}`, { kind: "workforce", authority: `${ENTRA}/organizations` }],
  [
    `{"authorities": [{"type": "B2C", "authority_url": "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi/", "default": true}]}`,
    { kind: "b2c", host: "contoso.b2clogin.com", tenant_name: "contoso.onmicrosoft.com", sign_in_policy: "b2c_1_susi" },
  ],
  [`const config = { auth: { clientId: '${CLIENT}', authority: '${ENTRA}/common', redirectUri: 'msauth.${BUNDLE}://auth' } };`, {
    ...GIVEN,
    kind: "workforce",
    authority: `${ENTRA}/common`,
  }],
  [`AAD_CLIENT_ID = ${CLIENT}\nAAD_TENANT_ID = contoso.onmicrosoft.com\nAAD_REDIRECT_URI = msauth.${BUNDLE}:/$()/auth`, {
    ...GIVEN,
    kind: "workforce",
    authority: `${ENTRA}/contoso.onmicrosoft.com`,
  }],
  [`let kAuthority = "${ENTRA}/common/v2.0"\nlet kClientID = "${CLIENT}"`, {
    client_id: CLIENT,
    kind: "workforce",
    authority: `${ENTRA}/common`,
  }],
  [`[auth.azuread]\nclient_id = ${CLIENT}\nauth_url = ${ENTRA}/contoso.com/oauth2/v2.0/authorize\nscopes = openid user.read`, {
    client_id: CLIENT,
    kind: "workforce",
    authority: `${ENTRA}/contoso.com`,
    scopes: ["user.read"],
  }],
  [`azure:\n  client-id: ${CLIENT}\n  tenant-id: contoso.com`, { client_id: CLIENT, kind: "workforce", authority: `${ENTRA}/contoso.com` }],
  [`const tenant = 'contoso.com'; const authority = '${ENTRA}/' + tenant;`, { kind: "workforce", authority: `${ENTRA}/contoso.com` }],
  ['let kAuthority = "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_in/oauth2/v2.0/token"', {
    kind: "b2c",
    host: "contoso.b2clogin.com",
    tenant_name: "contoso.onmicrosoft.com",
    sign_in_policy: "b2c_1_in",
  }],
  ['let kAuthority = "https://contoso.b2clogin.cn/contoso.partner.onmschina.cn/tfp/b2c_1_in"', {
    kind: "b2c",
    host: "contoso.b2clogin.cn",
    tenant_name: "contoso.partner.onmschina.cn",
    sign_in_policy: "b2c_1_in",
  }],
  [`let kAuthority = "https://${CLIENT}.ciamlogin.com/"`, {}],
  [`redirectUri: '${ENTRA}/common/oauth2/nativeclient'`, {}],
  [
    `PublicClientApplicationBuilder.Create("${CLIENT}")\n  .WithAuthority("${ENTRA}/contoso.com")\n  .WithRedirectUri("msauth.${BUNDLE}://auth").Build();`,
    {
      ...GIVEN,
      kind: "workforce",
      authority: `${ENTRA}/contoso.com`,
    },
  ],
];

for (const [text, wanted] of CONFIGURATIONS) {
  Deno.test(`${Object.keys(wanted).join(", ") || "nothing"} is in ${text.replace(/\s+/g, " ").slice(0, 120)}`, () =>
    assert.deepEqual(configuration(text), wanted));
}

/** A pasted text, and of what was seen and not taken the rules with what they name. */
const SEEN = [
  [`let kClientID = "${CLIENT}"`, []],
  ["hello", ["unread"]],
  ["", ["unread"]],
  [
    "const c = { clientId: APP_ID, redirectUrl: 'msauth.' + MY_APP + '://auth', authority: 'https://login.microsoftonline.com/' + TENANT, scopes: ['user.read'] }",
    ["variables MY_APP, TENANT, APP_ID"],
  ],
  [`const APP_ID = '${CLIENT}'; const c = { clientId: APP_ID };`, []],
  ["MSALPublicClientApplicationConfig(clientId: kClientID)", ["variables kClientID"]],
  ["let clientId: String", ["unread"]],
  ["clientId: process.env.CLIENT_ID,", ["variables process.env.CLIENT_ID"]],
  ['clientId = "${AZURE_CLIENT_ID}"', ["variables AZURE_CLIENT_ID"]],
  ['let kClientID = "Your_Application_Id_Here"', ["placeholders Your_Application_Id_Here"]],
  ['ClientId = "AzureDemo"', ["client_id AzureDemo"]],
  [`Authority = "${ENTRA}/contoso.com/v2.0/.well-known/openid-configuration"`, [
    `discovery ${ENTRA}/contoso.com/v2.0/.well-known/openid-configuration`,
  ]],
  [`auth_url = ${ENTRA}/contoso.com/oauth2/v2.0/authorize\ntoken_url = ${ENTRA}/contoso.com/oauth2/v2.0/token`, [
    `endpoint ${ENTRA}/contoso.com/oauth2/v2.0/authorize`,
  ]],
  ['authority: "http://login.microsoftonline.com/contoso.com"', ["http http://login.microsoftonline.com/contoso.com"]],
  ['authority: "https://login.microsoftonline.com/contoso.com/v2.0"', ["version https://login.microsoftonline.com/contoso.com/v2.0"]],
  ['authority: "https://login.partner.microsoftonline.cn/common"', ["authority cloud"]],
  ['authority: "https://fabrikam.b2clogin.com/fabrikam.onmicrosoft.com/tfp/b2c_1_in"', ["authority tfp_place"]],
  [`authority: "https://${CLIENT}.ciamlogin.com/"`, ["authority guid_host"]],
  ['authority: "https://login.microsoftonline.us/common", kGraphURI: "https://graph.microsoft.com/v1.0/me/"', [
    "graph https://graph.microsoft.com/v1.0/me/",
    "authority cloud",
  ]],
  ['RedirectUri = "http://localhost/winforms.client"', ["redirect http://localhost/winforms.client"]],
  ['scopes: ["openid", "user.read"]', ["reserved openid"]],
  ["serviceConfiguration: {}", ["library"]],
  // microsoft-authentication-library-for-dotnet issues 2411, 4686 and 3093.
  ['PublicClientApplicationBuilder.Create("https://my.app").WithAuthority(AzureCloudInstance.AzurePublic, tenantId)', [
    "client_id https://my.app",
  ]],
  [`ConfidentialClientApplicationBuilder.Create("${CLIENT}").WithClientSecret("abc1~defGHI.2345").Build()`, ["secret"]],
  ['PublicClientApplicationBuilder\n  .Create("my-non-GUID-clientid").WithOidcAuthority("https://login.contoso.example/t/v2.0")', [
    "client_id my-non-GUID-clientid",
    "version https://login.contoso.example/t/v2.0",
  ]],
  ['PublicClientApplicationBuilder.Create(AuthConstants.ClientId).WithRedirectUri($"msal{AuthConstants.ClientId}://auth")', [
    "variables AuthConstants.ClientId",
    "placeholders msal{AuthConstants.ClientId}://auth",
  ]],
  // seanfisher/passport-microsoft issue 6.
  [
    "new MicrosoftStrategy({ clientID: MICROSOFT_GRAPH_CLIENT_ID, callbackURL: 'http://localhost:3000/auth/callback', scope: ['user.read', 'profile'] })",
    [
      "redirect http://localhost:3000/auth/callback",
      "reserved profile",
      "variables MICROSOFT_GRAPH_CLIENT_ID",
    ],
  ],
  // microsoft-authentication-library-for-js issue 4071.
  ["{ auth: { clientId: 'XXXX-XXXX-XXXX-XXXX', redirectUri: '/' } }", ["client_id XXXX-XXXX-XXXX-XXXX"]],
  // Azure-Samples/ms-identity-ciam-javascript-tutorial issue 142.
  [
    "auth: { clientId: 'Enter_the_Application_Id_Here', authority: 'https://Enter_the_Tenant_Subdomain_Here.ciamlogin.com/Enter_the_Tenant_Subdomain_Here/v2.0' }",
    [
      "placeholders Enter_the_Application_Id_Here, https://Enter_the_Tenant_Subdomain_Here.ciamlogin.com/Enter_the_Tenant_Subdomain_Here/v2.0",
    ],
  ],
  // AzureAD/microsoft-identity-web issue 1167.
  [`"AzureAd": { "Instance": "https://login.chinacloudapi.cn/", "ClientId": "${CLIENT}", "TenantId": "${CLIENT}" }`, ["authority cloud"]],
];

for (const [text, wanted] of SEEN) {
  Deno.test(`seen and not taken: ${wanted.join("; ") || "nothing"} in ${text.slice(0, 120)}`, () =>
    assert.deepEqual(
      readConfiguration(text).seen.map(({ rule, about, found, item }) => [rule, about?.rule ?? found ?? item].filter(Boolean).join(" ")),
      wanted,
    ));
}

/** A secret is said to be there, and stands in nothing that is made of the text; a name for one is no secret. */
const SECRET = "n0tArealSecret~0123456789";
for (
  const [text, wanted] of [
    [`client_secret = ${SECRET}`, true],
    [`{"ClientSecret": "${SECRET}"}`, true],
    [`<key>clientSecret</key><string>${SECRET}</string>`, true],
    [`clientSecret: '${SECRET}', clientId: '${CLIENT}'`, true],
    [`CLIENT_SECRET=${SECRET}`, true],
    [`ClientId = "${SECRET}"`, true],
    [`authority: "${ENTRA}/contoso.com/oauth2/v2.0/token?client_secret=${SECRET}"`, true],
    ["clientSecret: process.env.SECRET_VALUE", false],
    ["client_secret: clientSecret", false],
    ['client_secret = "Enter_the_Client_Secret_Here"', false],
    ["clientSecret: String", false],
  ]
) {
  Deno.test(`${wanted ? "a" : "no"} secret is in ${text}`, () => {
    const made = readConfiguration(text);
    assert.equal(made.seen.some(({ rule, level }) => rule === "secret" && level === "bad"), wanted);
    assert(!JSON.stringify(made).includes(SECRET));
  });
}

for (
  const [field, value, wanted] of [
    ["bundle_id", BUNDLE, null],
    ["bundle_id", "", "empty"],
    ["bundle_id", `msauth.${BUNDLE}://auth`, "redirect_uri"],
    ["bundle_id", "$(PRODUCT_BUNDLE_IDENTIFIER)", "variable"],
    ["bundle_id", CLIENT, "client_id"],
    ["bundle_id", "Your_Bundle_Id", "placeholder"],
    ["bundle_id", "com.microsoft.identitysample.MSALiOS", "sample"],
    ["bundle_id", `ABCDE12345.${BUNDLE}`, "team"],
    ["bundle_id", `group.${BUNDLE}`, "team"],
    ["bundle_id", "enterprise.tasks", null],
    ["bundle_id", "com.contoso my app", "space"],
    ["bundle_id", "com.contoso.my_app", "underscore"],
    ["bundle_id", "com.contoso.tåsks", "characters"],
    ["bundle_id", "com..contoso", "dots"],
    ["bundle_id", "contoso", "one_word"],
    ["client_id", CLIENT, null],
    ["client_id", `{${CLIENT}}`, "braces"],
    ["client_id", BUNDLE, "bundle_id"],
    ["client_id", "Your_Application_Id_Here", "placeholder"],
    ["client_id", CLIENT.replace(/-/g, ""), "dashes"],
    ["client_id", "abc8Q~aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "secret"],
  ]
) Deno.test(`the ${field} “${value}” has the mistake ${wanted}`, () => assert.equal(mistake(field, value), wanted));

/** Whether a bundle ID cannot be right: a guess does not keep anything from being checked. */
for (
  const [value, wanted] of [
    [BUNDLE, false],
    ["md.your.app", false],
    ["com.yourgarage.consumer", false],
    ["com.enter.wallet", false],
    ["com.contoso.BundleIDE", false],
    ["com.microsoft.identitysample.MSALiOS", false],
    [`ABCDE12345.${BUNDLE}`, false],
    ["Your_Bundle_Id", true],
    ["", true],
    [`msauth.${BUNDLE}`, true],
  ]
) Deno.test(`the bundle ID “${value}” is ${wanted ? "" : "not "}refused`, () => assert.equal(isRefused("bundle_id", value), wanted));

Deno.test("a value in the code is a literal of Swift, whatever it is", () => {
  const values = { kind: "external", tenant: "mine", known_authority: false, scopes: ['a"b\\(c)'], api: 'https://api.example.com/"' };
  const code = blocks("ios", values).map(({ text }) => text).join("\n");
  for (const literal of ['["a\\"b\\\\(c)"]', '"https://api.example.com/\\""']) assert.ok(code.includes(literal), code);
});
