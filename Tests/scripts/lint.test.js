// The mistakes in a pasted Info.plist or entitlements file, and the corrected file.

import "./page.js";
import assert from "node:assert/strict";
import { BUNDLE, CLIENT, HEAD, plist } from "./files.js";
const { lint } = await import("../../Public/scripts/native/lint-rules.js");
const { kindOf } = await import("../../Public/scripts/paste/kinds.js");
const { PlistFault } = await import("../../Public/scripts/native/plist.js");

const QUERIES = ["msauthv2", "msauthv3"];
const SCHEME = `msauth.${BUNDLE}`;
const GROUPS = "keychain-access-groups";
const [GROUP, MAC_GROUP] = ["adalcache", "identity.universalstorage"].map((name) => `$(AppIdentifierPrefix)com.microsoft.${name}`);
const [SANDBOX, CLIENT_KEY] = ["app-sandbox", "network.client"].map((name) => `com.apple.security.${name}`);

const GOOD_INFO = {
  CFBundleName: "Tasks",
  CFBundleURLTypes: [{ CFBundleURLSchemes: ["tasks", "msauth.$(PRODUCT_BUNDLE_IDENTIFIER)"] }],
  LSApplicationQueriesSchemes: ["msauthv3", "msauthv2", "mailto"],
};
/** The good file with what differs, as the corrected text has it. */
const plain = (more = {}) => ({ ...GOOD_INFO, ...more });
const info = (more) => plist(plain(more));
const types = (...names) => plain({ CFBundleURLTypes: [{ CFBundleURLSchemes: names }] });
const schemes = (...names) => plist(types(...names));

const SIGNED = plist({
  "application-identifier": "ABCDE12345.com.contoso.tasks",
  "com.apple.developer.team-identifier": "ABCDE12345",
  "get-task-allow": true,
  [GROUPS]: ["ABCDE12345.com.microsoft.adalcache"],
});

/** A pasted text, the platform, what is found, and the whole of the corrected file; null where there is nothing to correct. */
const ROWS = [
  [info(), "ios", [], null],
  [plist({ CFBundleName: "Tasks" }), "ios", ["bad missing CFBundleURLTypes", "bad missing LSApplicationQueriesSchemes"], {
    CFBundleName: "Tasks",
    CFBundleURLTypes: [{ CFBundleURLSchemes: [SCHEME] }],
    LSApplicationQueriesSchemes: QUERIES,
  }],
  [
    info({ LSApplicationQueriesSchemes: ["msauthv2"] }),
    "ios",
    ["bad item LSApplicationQueriesSchemes msauthv3"],
    plain({ LSApplicationQueriesSchemes: QUERIES }),
  ],
  [
    info({ LSApplicationQueriesSchemes: ["msauthv2://", "msauthv3"] }),
    "ios",
    ["bad query msauthv2:// msauthv2"],
    plain({ LSApplicationQueriesSchemes: QUERIES }),
  ],
  [
    info({ LSApplicationQueriesSchemes: ["MSAuthV2", "msauthv3"] }),
    "ios",
    ["bad query MSAuthV2 msauthv2"],
    plain({ LSApplicationQueriesSchemes: QUERIES }),
  ],
  [info({ LSApplicationQueriesSchemes: ["msauthv2 ", "\nmsauthv3"] }), "ios", [
    "bad whitespace msauthv2 msauthv2",
    "bad whitespace msauthv3 msauthv3",
  ], plain({ LSApplicationQueriesSchemes: QUERIES })],
  [info({ LSApplicationQueriesSchemes: ["msauthv2://", ...QUERIES] }), "ios", [], null],
  [
    info({ LSApplicationQueriesSchemes: "msauthv2" }),
    "ios",
    ["bad value LSApplicationQueriesSchemes <string> <array>", "bad item LSApplicationQueriesSchemes msauthv3"],
    plain({ LSApplicationQueriesSchemes: QUERIES }),
  ],
  [schemes(`${SCHEME}://auth`), "ios", ["bad uri msauth.com.contoso.tasks://auth msauth.com.contoso.tasks"], types(SCHEME)],
  [schemes("msauth.com.fabrikam.other"), "ios", ["bad other msauth.com.fabrikam.other msauth.com.contoso.tasks"], types(SCHEME)],
  [schemes("msauth.Com.Contoso.Tasks"), "ios", ["bad case msauth.Com.Contoso.Tasks msauth.com.contoso.tasks"], types(SCHEME)],
  [schemes("msauth.[Your_Bundle_Id]"), "ios", ["bad placeholder msauth.[Your_Bundle_Id] msauth.com.contoso.tasks"], types(SCHEME)],
  // A name of the app's own stays, however much it looks like MSAL's.
  [schemes(BUNDLE, SCHEME), "ios", [], null],
  [schemes(BUNDLE), "ios", ["bad no_msauth com.contoso.tasks msauth.com.contoso.tasks"], types(BUNDLE, SCHEME)],
  [schemes(`${BUNDLE}.pay`, SCHEME), "ios", [], null],
  [
    schemes(`${BUNDLE}.pay`),
    "ios",
    ["bad item CFBundleURLTypes msauth.com.contoso.tasks"],
    plain({ CFBundleURLTypes: [{ CFBundleURLSchemes: [`${BUNDLE}.pay`] }, { CFBundleURLSchemes: [SCHEME] }] }),
  ],
  [schemes(`${SCHEME}Beta`, SCHEME), "ios", [], null],
  [schemes("msauth.com.fabrikam.other", SCHEME, `${SCHEME} `), "ios", [], null],
  [schemes("msauthenticator.contoso", SCHEME), "ios", [], null],
  // Of two that are almost right, the nearer one is meant.
  [
    schemes(`${SCHEME}Beta`, "msauth.com.contoso.Tasks"),
    "ios",
    ["bad case msauth.com.contoso.Tasks msauth.com.contoso.tasks"],
    types(`${SCHEME}Beta`, SCHEME),
  ],
  // MSAL does not take blanks away.
  [schemes(`${SCHEME} `), "ios", ["bad whitespace msauth.com.contoso.tasks msauth.com.contoso.tasks"], types(SCHEME)],
  [schemes(`\n\t${SCHEME}\n`), "ios", ["bad whitespace msauth.com.contoso.tasks msauth.com.contoso.tasks"], types(SCHEME)],
  [schemes("msauth. com.contoso.tasks"), "ios", ["bad whitespace msauth. com.contoso.tasks msauth.com.contoso.tasks"], types(SCHEME)],
  [
    schemes("msauth.$(PRODUCT_BUNDLE_IDENTIFIER) "),
    "ios",
    ["bad whitespace msauth.$(PRODUCT_BUNDLE_IDENTIFIER) msauth.com.contoso.tasks"],
    types(SCHEME),
  ],
  [schemes("msauth.${PRODUCT_BUNDLE_IDENTIFIER}"), "ios", [], null],
  [
    plist({ ...GOOD_INFO, CFBundleURLTypes: [{ "CFBundleURLSchemes ": [SCHEME] }] }),
    "ios",
    ["bad whitespace CFBundleURLSchemes"],
    types(SCHEME),
  ],
  [plist({ "LSApplicationQueriesSchemes ": QUERIES, CFBundleURLTypes: [{ CFBundleURLSchemes: [SCHEME] }] }), "ios", [
    "bad whitespace LSApplicationQueriesSchemes",
  ], { LSApplicationQueriesSchemes: QUERIES, CFBundleURLTypes: [{ CFBundleURLSchemes: [SCHEME] }] }],
  [info({ CFBundleIdentifier: `${BUNDLE} ` }), "ios", ["bad whitespace com.contoso.tasks"], plain({ CFBundleIdentifier: BUNDLE })],
  [schemes(SCHEME, "msauthv2"), "ios", ["bad query_as_scheme msauthv2 msauth.com.contoso.tasks"], types(SCHEME)],
  [schemes(SCHEME, `msal${CLIENT}`), "ios", [
    "info old msal00001111-aaaa-2222-bbbb-3333cccc4444 msauth.com.contoso.tasks 00001111-aaaa-2222-bbbb-3333cccc4444",
  ], null],
  [schemes(SCHEME, "msal99999999-aaaa-2222-bbbb-3333cccc4444"), "ios", [
    "info old_client msal99999999-aaaa-2222-bbbb-3333cccc4444 msauth.com.contoso.tasks 00001111-aaaa-2222-bbbb-3333cccc4444",
  ], null],
  [info({ CFBundleIdentifier: "com.contoso.other" }), "ios", ["info bundle CFBundleIdentifier com.contoso.other com.contoso.tasks"], null],
  [info({ [GROUPS]: [GROUP] }), "ios", ["info in_info keychain-access-groups"], null],
  // A Mac needs no scheme, neither its own nor the broker's.
  [plist({ CFBundleName: "Tasks" }), "macos", [], null],
  [plist({ CFBundleURLTypes: [{ CFBundleURLSchemes: ["msauth.com.fabrikam.other", "msauthv2"] }] }), "macos", [], null],
  [info({ [GROUPS]: [MAC_GROUP] }), "macos", ["info in_info keychain-access-groups"], null],
  [plist({}), "ios", ["bad missing keychain-access-groups"], { [GROUPS]: [GROUP] }],
  [plist({ [GROUPS]: ["com.microsoft.adalcache"] }), "ios", [
    "bad prefix com.microsoft.adalcache $(AppIdentifierPrefix)com.microsoft.adalcache",
  ], { [GROUPS]: [GROUP] }],
  [plist({ [GROUPS]: [GROUP + " "] }), "ios", ["bad whitespace $(AppIdentifierPrefix)com.microsoft.adalcache"], { [GROUPS]: [GROUP] }],
  [plist({ [GROUPS]: [MAC_GROUP] }), "ios", [
    "info other_group com.microsoft.identity.universalstorage com.microsoft.adalcache",
    "bad item keychain-access-groups $(AppIdentifierPrefix)com.microsoft.adalcache",
  ], { [GROUPS]: [MAC_GROUP, GROUP] }],
  [plist({ [GROUPS]: [GROUP, "$(AppIdentifierPrefix)com.contoso.tasks"] }), "ios", [], null],
  [plist({ [GROUPS]: ["ABCDE12345.com.microsoft.adalcache"] }), "ios", [], null],
  [plist({ [SANDBOX]: true, [CLIENT_KEY]: true, [GROUPS]: [MAC_GROUP] }), "macos", [], null],
  [plist({ [SANDBOX]: true, "com.apple.security.network.server": true }), "macos", [
    "bad missing com.apple.security.network.client",
    "bad missing keychain-access-groups",
  ], { [SANDBOX]: true, "com.apple.security.network.server": true, [CLIENT_KEY]: true, [GROUPS]: [MAC_GROUP] }],
  [plist({ [SANDBOX]: true, [CLIENT_KEY]: false, [GROUPS]: [MAC_GROUP] }), "macos", [
    "bad value com.apple.security.network.client <false/> <true/>",
  ], { [SANDBOX]: true, [CLIENT_KEY]: true, [GROUPS]: [MAC_GROUP] }],
  [plist({ [SANDBOX]: "YES", [GROUPS]: [MAC_GROUP] }), "macos", [
    "bad value com.apple.security.app-sandbox <string> <true/>",
    "bad missing com.apple.security.network.client",
  ], { [SANDBOX]: true, [GROUPS]: [MAC_GROUP], [CLIENT_KEY]: true }],
  // Whether there is a sandbox is the developer's choice; without one nothing has to be allowed.
  [plist({ [GROUPS]: [MAC_GROUP] }), "macos", ["info sandbox"], null],
  [plist({ [SANDBOX]: false, [GROUPS]: ["ABCDE12345.com.microsoft.identity.universalstorage"] }), "macos", ["info sandbox"], null],
  [plist({ [SANDBOX]: false }), "macos", ["info sandbox", "bad missing keychain-access-groups"], {
    [SANDBOX]: false,
    [GROUPS]: [MAC_GROUP],
  }],
  [
    HEAD +
    "<dict><key>CFBundleName</key><string>A &amp; B</string><!-- keep me --><key>CFBundleName</key><string>C</string></dict></plist>",
    "macos",
    ["info twice CFBundleName"],
    null,
  ],
  ["<key>LSApplicationQueriesSchemes</key><array><string>msauthv2</string></array>", "ios", [
    "bad missing CFBundleURLTypes",
    "bad item LSApplicationQueriesSchemes msauthv3",
  ], { LSApplicationQueriesSchemes: QUERIES, CFBundleURLTypes: [{ CFBundleURLSchemes: [SCHEME] }] }],
  // An entitlements file is one whatever Apple's services it names.
  [plist({ "aps-environment": "development" }), "ios", ["bad missing keychain-access-groups"], {
    "aps-environment": "development",
    [GROUPS]: [GROUP],
  }],
  [plist({ "aps-environment": "development", [GROUPS]: [GROUP] }), "ios", [], null],
  [plist({ "aps-environment": "development", [SANDBOX]: true, [CLIENT_KEY]: true, [GROUPS]: [MAC_GROUP] }), "macos", [], null],
  [SIGNED, "ios", [], null],
  [`Executable=/Applications/Tasks.app/Tasks\n${SIGNED}`, "ios", [], null],
  [
    "Executable=/tmp/Tasks.app\n[Dict]\n\t[Key] get-task-allow\n\t[Value]\n\t\t[Bool] true\n\t[Key] keychain-access-groups\n\t[Value]\n\t\t[Array]\n\t\t\t[String] ABCDE12345.com.microsoft.adalcache\n",
    "ios",
    [],
    null,
  ],
  // A key at the wrong level is moved, and what stands alone gets its array.
  [
    plist({ CFBundleURLSchemes: [SCHEME], LSApplicationQueriesSchemes: QUERIES }),
    "ios",
    ["bad nested CFBundleURLSchemes CFBundleURLTypes"],
    { LSApplicationQueriesSchemes: QUERIES, CFBundleURLTypes: [{ CFBundleURLSchemes: [SCHEME] }] },
  ],
  [plist(plain({ CFBundleURLTypes: [{ CFBundleURLSchemes: SCHEME }] })), "ios", [
    "bad value CFBundleURLSchemes <string> <array>",
  ], types(SCHEME)],
  [plist(plain({ CFBundleURLTypes: "tasks" })), "ios", [
    "bad value CFBundleURLTypes <string> <array>",
    "bad item CFBundleURLTypes msauth.com.contoso.tasks",
  ], plain({ CFBundleURLTypes: [{ CFBundleURLSchemes: ["tasks"] }, { CFBundleURLSchemes: [SCHEME] }] })],
  [plist(plain({ CFBundleURLTypes: SCHEME })), "ios", ["bad value CFBundleURLTypes <string> <array>"], types(SCHEME)],
  [info({ LSApplicationQueriesSchemes: { a: "b" } }), "ios", ["info value LSApplicationQueriesSchemes <dict> <array>"], null],
  ...[`msal${CLIENT.slice(0, 23)}`, "msal0d1e2f30415246378849", "msal{client_id}", "msalYour_Client_ID"].map((name) => [
    schemes(SCHEME, name),
    "ios",
    [`info old_part ${name} ${SCHEME}`],
    null,
  ]),
  [schemes(SCHEME, "msalary", "msaltest"), "ios", [], null],
  // A variable may be right.
  [schemes("msauth.$(PRODUCT_BUNDLE_IDENTIFIER:rfc1034identifier)"), "ios", [], null],
  [schemes("msauth.$(APP_BUNDLE_ID)"), "ios", ["info variable msauth.$(APP_BUNDLE_ID) msauth.com.contoso.tasks"], null],
  [schemes("$(SCHEME)"), "ios", ["info variable $(SCHEME) msauth.com.contoso.tasks"], null],
  [
    schemes("msal$(CLIENT)"),
    "ios",
    [
      "info old msal$(CLIENT) msauth.com.contoso.tasks 00001111-aaaa-2222-bbbb-3333cccc4444",
      "bad item CFBundleURLTypes msauth.com.contoso.tasks",
    ],
    plain({
      CFBundleURLTypes: [{ CFBundleURLSchemes: ["msal$(CLIENT)"] }, { CFBundleURLSchemes: [SCHEME] }],
    }),
  ],
  [plist({ [GROUPS]: ["$(AppIdentifierPrefix)$(GROUP)"] }), "ios", [`info variable $(AppIdentifierPrefix)$(GROUP) ${GROUP}`], null],
  [plist({ [GROUPS]: ["$(AppIdentifierPrefix).com.microsoft.adalcache"] }), "ios", [
    `bad dot $(AppIdentifierPrefix).com.microsoft.adalcache ${GROUP}`,
  ], { [GROUPS]: [GROUP] }],
  [plist({ [GROUPS]: ["$(AppIdentifierPrefix)com.contoso.shared"] }), "ios", [
    `info own_group $(AppIdentifierPrefix)com.contoso.shared ${GROUP}`,
  ], null],
  [plist({ NSExtension: { NSExtensionPointIdentifier: "a" }, CFBundleName: "Share" }), "ios", ["info part"], null],
  [plist({ CFBundlePackageType: "FMWK" }), "ios", ["info part"], null],
  ["bplist00\u0001", "ios", ["fault binary"], null],
  ['{ "CFBundleName" = Tasks; }', "ios", ["fault json"], null],
  [HEAD + "<dict><key>a</key>", "ios", ["fault xml 4"], null],
  [HEAD + "<dict><key>a</key></dict></plist>", "ios", ["fault pairs"], null],
  [HEAD + "<array/></plist>", "ios", ["fault no_dict"], null],
  ["<html><body/></html>", "ios", ["fault element html"], null],
  ["<IntuneMAMSettings><key>ADALClientId</key><string>a</string></IntuneMAMSettings>", "ios", ["fault element IntuneMAMSettings"], null],
  [HEAD + "<dict><key>a</key><Settings><key>b</key></Settings></dict></plist>", "ios", ["fault element Settings"], null],
  [HEAD + "<dict><key>a</key><bool>true</bool></dict></plist>", "ios", ["fault element bool"], null],
  [HEAD + "<dict><key>a</key><String>b</String></dict></plist>", "ios", ["fault element_case String"], null],
  [HEAD + "<dict><key>a</key>" + "<array>".repeat(20_000) + "</array>".repeat(20_000) + "</dict></plist>", "ios", ["fault deep 100"], null],
];

const run = (text, platform) => {
  try {
    return lint(text, { platform, values: { bundle_id: BUNDLE, client_id: CLIENT } });
  } catch (fault) {
    if (!(fault instanceof PlistFault)) throw fault;
    return { found: [{ level: "fault", rule: fault.kind, detail: fault.message }] };
  }
};
const said = ({ found }) => found.map(({ level, rule, ...more }) => [level, rule, ...Object.values(more)].join(" ").trim());

for (const [text, platform, rules, wanted] of ROWS) {
  Deno.test(`${platform}: ${rules.join(", ") || "nothing"} is found in ${text.replace(HEAD, "").replace(/\s+/g, " ").slice(0, 200)}`, () => {
    const found = run(text, platform);
    assert.deepEqual(said(found), rules);
    if (!wanted) return assert(!found.found.some(({ level }) => level === "bad"));
    assert.equal(found.text.replace(/\t<!-- keep me -->\n/, ""), plist(wanted));
    assert.equal(found.text.includes("<!-- keep me -->"), text.includes("<!-- keep me -->"));
    assert.deepEqual(said(run(found.text, platform)).filter((each) => each.startsWith("bad")), []);
  });
}

const FRAGMENT = info().match(/<array>[\s\S]*<\/array>/)[0];

/** The form of a text, the file in it, and whether it is taken for a file. */
for (
  const [text, forms, file, isCorrected = false] of [
    ["```xml\n" + info() + "\n```", ["fence"], "info"],
    ["~~~\n" + SIGNED + "\n~~~\nand more", ["fence"], "entitlements"],
    ["```diff\n+" + info().replace(/\n/g, "\n+") + "\n```", ["fence", "diff"], "info"],
    ["--- a/Info.plist\n+++ b/Info.plist\n@@ -1,9 +1,9 @@\n-<plist>\n " + info().replace(/\n/g, "\n+"), ["diff"], "info"],
    [info().replace(/</g, "&lt;").replace(/>/g, "&gt;"), ["escaped"], "info"],
    ["\uFEFF```\n\uFEFF" + info(), ["fence"], "info"],
    [`This is my Info.plist:\n\n${info()}\n\nWhat is wrong with it?`, ["prose"], "info"],
    [`$ cat Info.plist\n${info()}`, ["prose"], "info"],
    [`${info()}\nWhat is wrong?`, ["prose"], "info"],
    [`This is my Info.plist:\n\n\`\`\`xml\n${info()}\n\`\`\`\nWhat is wrong?`, ["prose", "fence"], "info"],
    [info().replace(/^/gm, "> "), ["prose"], "info"],
    ["<key>keychain-access-groups</key><array><string>$(AppIdentifierPrefix)com.microsoft.adalcache</string></array>", [], "entitlements"],
    [
      "<key>aps-environment</key><string>a</string><key>keychain-access-groups</key><array/>\nIs it right?",
      ["prose"],
      "entitlements",
      true,
    ],
    // Threads of react-native-msal have only the part that matters.
    [`**info.plist**\n\n\t<key>CFBundleURLTypes</key>\n\t${FRAGMENT}\n\n**appdelegate.m**\n\n#import <MSAL/MSAL.h>`, ["prose"], "info"],
    [`My Info.plist:\n${info()}\nMy entitlements:\n${SIGNED}`, ["prose"], "info"],
    [plist({ method: "app-store", teamID: "ABCDE12345" }), [], "export_options"],
    [plist({ kClientID: CLIENT }), [], "unsure"],
    [plist({ [GROUPS]: [GROUP], CFBundleURLTypes: [] }), [], "unsure"],
    ["// !$*UTF8*$!\n{\n\tarchiveVersion = 1;", [], "project"],
    ["platform :ios, '16.0'\ntarget 'Tasks' do\n  pod 'MSAL'\nend", [], "podfile"],
    ['{"expo":{"ios":{"bundleIdentifier":"com.contoso.tasks"}}}', [], "app_json"],
    // Files of other tools and platforms, of which nothing is checked.
    ['<?xml version="1.0"?>\n<!-- a -- b -->\n<manifest package="a"><application/></manifest>', [], "android"],
    ['<activity\n android:name="com.microsoft.identity.client.BrowserTabActivity"/>', [], "android"],
    ['<data android:scheme="msauth" android:host="com.contoso.tasks"/>', [], "android"],
    ['<resources><string name="a">b</string></resources>', [], "android"],
    ["```xml\n<intent-filter><action/></intent-filter>\n```", ["fence"], "android"],
    ["plugins {\n  id 'com.android.application'\n}\nandroid {\n}", [], "gradle"],
    ["dependencies {\n  implementation 'com.microsoft.identity.client:msal:5.+'\n}", [], "gradle"],
    ['{"project_info": {"project_id": "a"}, "client": []}', [], "firebase"],
    [plist({ CLIENT_ID: "a", REVERSED_CLIENT_ID: "b", BUNDLE_ID: BUNDLE }), [], "firebase"],
    [plist({ NSPrivacyTracking: false, NSPrivacyAccessedAPITypes: [] }), [], "privacy"],
    ["name: tasks\nenvironment:\n  sdk: ^3.0.0\ndependencies:\n  flutter:\n    sdk: flutter", [], "pubspec"],
    ['{"appId": "com.contoso.tasks", "webDir": "www", "ios": {"scheme": "App"}}', [], "capacitor"],
    ["import type { CapacitorConfig } from '@capacitor/cli';", [], "capacitor"],
    ['<?xml version="1.0"?><widget id="com.contoso.tasks"><platform name="ios"/></widget>', [], "cordova"],
    ['<config-file target="*-Info.plist" parent="CFBundleURLTypes"><array><dict/></array></config-file>', [], "cordova"],
    ['{"$schema": "https://schema.tauri.app/config/2", "identifier": "com.contoso.tasks"}', [], "tauri"],
    ['<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup/></Project>', [], "maui"],
    ['<?xml version="1.0"?><document type="com.apple.InterfaceBuilder3.CocoaTouch.Storyboard.XIB"/>', [], "interface"],
    [
      "targets:\n  Tasks:\n    info:\n      properties:\n        CFBundleURLTypes:\n          - CFBundleURLSchemes: [msauth.a]",
      [],
      "generator",
    ],
    ['import ProjectDescription\nlet project = Project(name: "a")', [], "generator"],
    ['{"name": "tasks", "dependencies": {"react-native-msal": "4"}}', [], "package_json"],
    ['{"client_id": "a", "account_mode": "SINGLE", "broker_redirect_uri_registered": true}', [], "msal_android"],
    ["import UIKit\nimport MSAL\n", [], "source"],
  ]
) {
  Deno.test(`${file} in ${forms.join(", ") || "its own form"}: ${text.slice(0, 60)}`, () => {
    const made = lint(text, { platform: "ios", values: { bundle_id: BUNDLE, client_id: CLIENT } });
    assert.deepEqual([made.forms, made.file, made.text !== undefined, kindOf(text)], [forms, file, isCorrected, "file"]);
  });
}

for (const end of ["<key>a</key>", "<array><string>a", "<!-- a"]) {
  Deno.test(`no words but a part of the file: ${end}`, () => {
    const pairs = `<key>CFBundleURLTypes</key>${FRAGMENT}\n${end}`;
    assert.throws(() => lint(pairs, { platform: "ios", values: { bundle_id: BUNDLE, client_id: CLIENT } }), PlistFault);
  });
}
Deno.test("a comment behind pairs is none of a person's words", () => {
  const text = `<key>CFBundleURLTypes</key>${FRAGMENT}<!-- a -->`;
  assert.deepEqual(lint(text, { platform: "ios", values: { bundle_id: BUNDLE, client_id: CLIENT } }).forms, []);
});
Deno.test("a file in its box is checked, whatever is said before it", () =>
  assert.equal(lint(`AADSTS50011\n${info()}`, { platform: "ios", values: { bundle_id: BUNDLE, client_id: CLIENT } }).file, "info"));

for (
  const text of [
    "error: plist is missing\nentitlements:",
    "<html><body/></html>",
    "<saml:Assertion><saml:Issuer/></saml:Assertion>",
    "flutter: MsalException: AADSTS50011",
    `AADSTS50011: It does not match. My file:\n${info()}`,
    `I get “The URL Scheme msauth.a.b is not registered in the app's info.plist”. My file:\n\n\`\`\`xml\n${info()}\n\`\`\``,
    `Error Domain=MSALErrorDomain Code=-50000\n${info()}`,
    "> quoted\n> words",
    "dependencies could not be resolved",
    '{"error": "invalid_grant", "error_description": "AADSTS70008"}',
  ]
) Deno.test(`no file is taken from ${text}`, () => assert.equal(kindOf(text), "error"));

const EXPO = { bundleIdentifier: BUNDLE, infoPlist: plain(), entitlements: { [GROUPS]: [GROUP] } };
const expo = (ios) => JSON.stringify({ expo: { name: "Tasks", ios: { ...EXPO, ...ios } } });
const project = (...builds) =>
  `// !$*UTF8*$!\n{\n${
    builds.map((each) => `buildSettings = {\n${Object.entries(each).map(([name, value]) => `\t${name} = ${value};`).join("\n")}\n};`).join(
      "\n",
    )
  }\n}`;
const APP = { PRODUCT_BUNDLE_IDENTIFIER: BUNDLE, CODE_SIGN_ENTITLEMENTS: "Tasks/Tasks.entitlements", INFOPLIST_FILE: '"Tasks/Info.plist"' };

/** A file that is neither of the two, and what is found in it. */
for (
  const [text, wanted] of [
    [expo({}), []],
    [JSON.stringify({ ios: EXPO }), []],
    [expo({ bundleIdentifier: "com.fabrikam.other" }), [`info bundle expo.ios.bundleIdentifier com.fabrikam.other ${BUNDLE}`]],
    [expo({ bundleIdentifier: undefined }), [`info bundle expo.ios.bundleIdentifier – ${BUNDLE}`]],
    [expo({ infoPlist: plain({ LSApplicationQueriesSchemes: ["msauthv2"] }) }), ["bad item LSApplicationQueriesSchemes msauthv3"]],
    [expo({ infoPlist: undefined }), [
      "info plugin CFBundleURLTypes expo.ios.infoPlist",
      "info plugin LSApplicationQueriesSchemes expo.ios.infoPlist",
    ]],
    [expo({ infoPlist: plain({ CFBundleURLTypes: [{ CFBundleURLSchemes: [`${SCHEME}://auth`] }] }) }), [
      `bad uri ${SCHEME}://auth ${SCHEME}`,
    ]],
    [expo({ entitlements: { [GROUPS]: ["com.microsoft.adalcache"] } }), [`bad prefix com.microsoft.adalcache ${GROUP}`]],
    [expo({ infoPlist: "none", entitlements: [1] }).replace("1]", "[".repeat(500) + "]".repeat(500) + "]"), [
      "info plugin CFBundleURLTypes expo.ios.infoPlist",
      "info plugin LSApplicationQueriesSchemes expo.ios.infoPlist",
      "info plugin keychain-access-groups expo.ios.entitlements",
    ]],
    ['{"expo":{"ios":{', ["bad no_json"]],
    ['{"name": "a", "ios": {}, "expo": {}}', ["info no_ios expo.ios"]],
    ["platform :ios, '16.0'\nuse_frameworks!", ["info no_pod"]],
    ...[
      ["", []],
      [", '~> 2.1'", []],
      [", '>= 1.0'", []],
      [", '< 3'", []],
      [", '~> 1.1.2'", ["info old_pod ~> 1.1.2"]],
      [", '1.3.0'", ["info old_pod 1.3.0"]],
      [", '< 2.0'", ["info old_pod < 2.0"]],
      [", '< 2.5'", []],
      [", :git => 'https://a.example'", []],
    ].map(([version, found]) => [`platform :ios, '16.0'\n  pod 'MSAL'${version}\n`, found]),
    [project(APP, { PRODUCT_BUNDLE_IDENTIFIER: `${BUNDLE}.share` }), []],
    [project({ ...APP, PRODUCT_BUNDLE_IDENTIFIER: "com.fabrikam.other" }), [
      `info bundle PRODUCT_BUNDLE_IDENTIFIER com.fabrikam.other ${BUNDLE}`,
    ]],
    [project({ ...APP, PRODUCT_BUNDLE_IDENTIFIER: '"$(ID)"' }), []],
    [project(APP, { ...APP, CODE_SIGN_ENTITLEMENTS: '""' }, { ...APP, CODE_SIGN_ENTITLEMENTS: '""' }), [
      `info no_entitlements ${BUNDLE} CODE_SIGN_ENTITLEMENTS`,
    ]],
    [project({ ...APP, GENERATE_INFOPLIST_FILE: "YES" }), []],
    [project({ ...APP, GENERATE_INFOPLIST_FILE: "YES", INFOPLIST_FILE: '""' }), [`info no_info ${BUNDLE} INFOPLIST_FILE`]],
  ]
) {
  Deno.test(`${wanted.join(", ") || "nothing"} is found in ${text.replace(/\s+/g, " ").slice(0, 200)}`, () => {
    const made = run(text, "ios");
    assert.deepEqual([said(made), made.text], [wanted, undefined]);
  });
}

/** Numbers that are the same in each run. */
function random(seed) {
  let state = seed;
  return (below) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % 65536 % below;
}

const own = (next) => {
  const made = {};
  const names = ["NSCameraUsageDescription", "CFBundleName", "UILaunchScreen", "LSRequiresIPhoneOS", "Own Key", "aps-environment", GROUPS];
  for (const name of names) if (next(3) === 0) made[name] = [["$(A)", "b"], true, "c & d", { "x ": "y" }, [], [{ z: ["z"] }]][next(6)];
  return made;
};
const wild = (next) => {
  const scheme = [SCHEME, `${SCHEME} `, "msauth.$(X)", `${SCHEME}://auth`, BUNDLE, "msauthv2", "tasks", "msauth.Your_Bundle"][next(8)];
  const schemes = [[scheme, "own"], scheme, { a: scheme }, true, []][next(5)];
  const urls =
    [[{ CFBundleURLSchemes: schemes }], { CFBundleURLSchemes: schemes }, ["tasks"], schemes, [{ "CFBundleURLSchemes ": schemes }]][next(5)];
  const groups = [[GROUP], ["com.microsoft.adalcache"], GROUP, [MAC_GROUP, "$(G)"], { a: "b" }, false, [`${GROUP} `]][next(7)];
  const all = {
    CFBundleURLTypes: urls,
    CFBundleURLSchemes: schemes,
    "LSApplicationQueriesSchemes ": QUERIES,
    LSApplicationQueriesSchemes: [["msauthv2"], "mailto", ["msauthv3://"]][next(3)],
    [GROUPS]: groups,
    [SANDBOX]: [true, "YES", ["a"]][next(3)],
    [CLIENT_KEY]: false,
  };
  return { ...own(next), ...Object.fromEntries(Object.entries(all).filter(() => next(2) === 0)) };
};
const keys = (text) => [...text.matchAll(/<key>([^<]*)<\/key>/g)].map(([, name]) => name.trim()).sort();

const named = (text) => [...text.matchAll(/<string>([^<]*)<\/string>/g)].map(([, value]) => value.trim()).filter(Boolean);

Deno.test("of 6,000 files none loses a key or a text that no finding names, and what was corrected has nothing left to fix", () => {
  const next = random(36);
  for (let round = 0; round < 6000; round++) {
    const platform = ["ios", "macos"][next(2)];
    const text = plist(wild(next));
    const made = run(text, platform);
    if (!made.text) {
      assert(!made.found.some(({ level }) => level === "bad"), text);
      continue;
    }
    const left = keys(made.text);
    for (const name of keys(text)) {
      const at = left.indexOf(name);
      assert(at >= 0, `${name} is lost\n${text}\n${made.text}`);
      left.splice(at, 1);
    }
    const kept = [...named(made.text), ...made.found.map(({ found, item }) => found ?? item)];
    // A sandbox that is a text instead of a Boolean is one.
    for (const each of named(text)) assert(kept.includes(each) || each === "YES", `${each} is lost\n${text}\n${made.text}`);
    assert.deepEqual(said(run(made.text, platform)).filter((each) => each.startsWith("bad")), [], `${text}\n${made.text}`);
  }
});

Deno.test("of 4,000 right files none is touched", () => {
  const next = random(7);
  for (let round = 0; round < 4000; round++) {
    const { [GROUPS]: _, "aps-environment": __, ...more } = own(next);
    const isInfo = next(2) === 0;
    const right = isInfo ? { ...more, ...GOOD_INFO } : { "aps-environment": "production", [GROUPS]: [GROUP, "$(AppIdentifierPrefix)own"] };
    const text = plist(Object.fromEntries(Object.entries(right).sort(() => next(3) - 1)));
    const { file, text: corrected } = run(text, "ios");
    assert.deepEqual([file, corrected], [isInfo ? "info" : "entitlements", undefined], text);
  }
});

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each finding in a file has its sentence in ${tag}`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    const rules = ROWS.flatMap((row) => row[2]).map((each) => each.split(" ")).map((
      [level, rule],
    ) => (level === "fault" ? `fault.${rule}` : `rule.${rule}`));
    const forms = ["prose", "fence", "diff", "escaped", "codesign", "export_options", "project", "podfile", "app_json", "unsure"].concat(
      ["android", "gradle", "firebase", "privacy", "pubspec", "capacitor", "cordova", "tauri", "maui", "interface", "generator"],
      ["package_json", "msal_android", "source"],
    );
    assert.deepEqual([...rules, "fault.unread", ...forms.map((each) => `form.${each}`)].filter((each) => !page[`lint.${each}`]), []);
  });
}
