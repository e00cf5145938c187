// A paste's cost grows with its length and not with its square. The parts make an expression begin at each of their places.

import "./page.js";
import assert from "node:assert/strict";
import process from "node:process";
import { BUNDLE, CLIENT, HEAD } from "./files.js";
import { findings } from "../../Public/scripts/base/error-text.js";
import { readAuthorization } from "../../Public/scripts/paste/authorize-text.js";
import { readDiscovery } from "../../Public/scripts/paste/discovery-text.js";
import { kindOf, tokensIn } from "../../Public/scripts/paste/kinds.js";
import { readToken } from "../../Public/scripts/paste/token-text.js";
const { lint } = await import("../../Public/scripts/native/lint-rules.js");
const { PlistFault } = await import("../../Public/scripts/native/plist.js");

const run = {
  findings,
  lint(text) {
    try {
      lint(`${HEAD}<dict>${text}</dict></plist>`, { platform: "ios", values: { bundle_id: BUNDLE, client_id: CLIENT } });
    } catch (fault) {
      if (!(fault instanceof PlistFault)) throw fault;
    }
  },
  others(text) {
    const values = { bundle_id: BUNDLE, client_id: CLIENT };
    for (const begin of ["// !$*UTF8*$!\n", "use_frameworks!\n", '{"expo":{']) lint(begin + text, { platform: "ios", values });
  },
  paste(text) {
    kindOf(text);
    tokensIn(text);
    readAuthorization(text, "a.b");
    readToken(text);
    readDiscovery(text);
  },
};
const length = { findings: 1_000_000, lint: 180_000, others: 1_000_000, paste: 1_000_000 };

const PARTS = [
  ["findings", "12:34:56 "],
  ["findings", "timestamp" + " ".repeat(40)],
  ["findings", "timestamp="],
  ["findings", "Domain=a.b "],
  ["findings", "(a.b "],
  ["findings", "a_b1"],
  ["findings", "MSALErrorDescriptionKey="],
  ["findings", "MSALErrorDescriptionKey=" + "a".repeat(90)],
  ["findings", "AADSTS1234: "],
  ["findings", "status: -1"],
  ["findings", "msauth.a-"],
  ["findings", "msauth.a."],
  ["findings", "Domain"],
  ["findings", "(Domain"],
  ["findings", "error: -1, error domain "],
  ["findings", "+%"],
  ["findings", "Correlation ID:"],
  ["findings", "eyJ"],
  ["findings", ' error"'],
  ["findings", "error_codes ["],
  ["findings", "2026-01-05 10:11:12"],
  ["findings", "-42001 "],
  ["findings", "AADSTS50011 "],
  ["findings", "NSURLErrorDomain"],
  ["findings", "error: -1009 (NSURLErrorDomain "],
  ["findings", "OSStatus error "],
  ["findings", "error code -25299 "],
  ["findings", "(a.b.c"],
  ["findings", "MSALError."],
  ["findings", "MSALError"],
  ["findings", "AADSTS"],
  ["findings", "aadsts 5001"],
  ["findings", '"code":"'],
  ["findings", "invalid_grant"],
  ["findings", "invalid_"],
  ["findings", "%25"],
  ["findings", "&amp;"],
  ["findings", "+ \n"],
  ["findings", "\\n"],
  ["findings", "NSURLErrorDomain\n "],
  ["lint", "<key>a</key><true/>"],
  ["lint", "<key>com.apple.a</key><true/>"],
  ["lint", "<key>a</key><!-- "],
  ["lint", "<key>a</key><string>&amp;&</string>"],
  ["lint", "<key>a</key><array/><b "],
  ["others", "buildSettings = {"],
  ["others", `buildSettings = {PRODUCT_BUNDLE_IDENTIFIER = ${BUNDLE};};`],
  ["others", "buildSettings = {CODE_SIGN_ENTITLEMENTS = "],
  ["others", "\n pod 'MSAL', "],
  ["others", " \n"],
  // One blank text, which no part makes when it is repeated.
  ["findings", "timestamp" + " ".repeat(1_000_000)],
  ["paste", "eyJ"],
  ["paste", "eyJhIjoi"],
  ["paste", "eyJhIjoi."],
  ["paste", "%3DeyJ"],
  ["paste", "EwB"],
  ["paste", "EwB+ "],
  ["paste", "a."],
  ["paste", "https://a/authorize?"],
  ["paste", "&a=b"],
  ["paste", "{"],
  ["paste", '{"a":'],
  ["paste", "<key>"],
  ["paste", " "],
  ["paste", "\n"],
  ["paste", "Bearer "],
  ["paste", "Authorization:"],
  ["paste", "msauth."],
  ["paste", "\"'"],
  ["paste", "%"],
  ["paste", "?response_type="],
  ["paste", "&scope=a+b/c"],
  ["paste", "&scope=////a"],
  ["paste", "+a/.default"],
  ["paste", "<!-- - "],
  ["paste", "<?xml "],
  ["paste", "> a\n"],
  ["paste", "https://a\n"],
  ["paste", "https%3A%2F%2F"],
  ["paste", "a\n<plist "],
  ["paste", "a\n```\n"],
  ["paste", "</plist> "],
  ["paste", "<key></key>"],
];

/** The milliseconds of processor time up to now, in which other processes have no part. */
const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** The least milliseconds of some runs: collecting garbage only adds to them. */
const least = (kind, text) =>
  Math.min(...Array.from({ length: 3 }, () => {
    const start = spent();
    run[kind](text);
    return spent() - start;
  }));

for (const [kind, part] of PARTS) {
  Deno.test(`${kind}: ${JSON.stringify(part).slice(0, 60)}, again and again`, () => {
    const begin = part.startsWith("&") ? "https://a/authorize?a" : "";
    const text = (share) => begin + part.repeat(length[kind] * share / part.length);
    let [quarter, whole] = [Infinity, Infinity];
    for (let round = 0; round < 6; round++) {
      quarter = Math.min(quarter, least(kind, text(1 / 4)));
      whole = Math.min(whole, least(kind, text(1)));
      // Four times as long, sixteen for a square; below 5 ms the clock tells too little.
      if (whole < 9 * Math.max(quarter, 5)) return;
    }
    assert.fail(`${quarter} ms for a quarter, ${whole} ms for the whole`);
  });
}
