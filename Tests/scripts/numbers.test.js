// The table of the platform's numbers: all that the tenant sends are in it, and each cause has its sentences in every language.

import assert from "node:assert/strict";
import { oauthErrors, subErrors } from "../../Public/scripts/base/error-words.js";
import { findings } from "../../Public/scripts/base/error-text.js";
import { fullNumber, graphCodes, pageOf, platformNumber } from "../../Public/scripts/base/platform-numbers.js";

const root = new URL("../../", import.meta.url);
const read = (path) => Deno.readTextFileSync(new URL(path, root));
const { who, numbers: rows } = JSON.parse(read("Public/data/aadsts.json"));

function* swift(folder) {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    if (isDirectory) yield* swift(`${folder}${name}/`);
    else if (name.endsWith(".swift")) yield read(folder + name);
  }
}

Deno.test("the table has each number once, by its number, name and cause; some wrap others", () => {
  assert.equal(new Set(rows.map(({ number }) => number)).size, rows.length);
  assert(rows.length > 490);
  for (const row of rows) assert.deepEqual(Object.keys(row).filter((key) => !["number", "name", "cause", "wraps"].includes(key)), []);
});

/** Seconds, bytes and the like in the tenant's sources, with as many digits as numbers of errors have. */
const others = new Set(["11000", "12000", "86399", "86400", "600000", "1048576"]);

Deno.test("a number that the tenant can send is in the table", () => {
  const sent = new Set();
  for (const text of swift("Sources/Tenant/")) {
    const code = text.replaceAll(/\/\/.*/g, "");
    for (const [, digits] of code.matchAll(/(?<![\w.\-"#])([1-9][\d_]{4,9})\b(?![.-])/g)) sent.add(digits.replaceAll("_", ""));
    for (const [, number] of code.matchAll(/\b(?:AADSTS|AADB2C)(\d{4,8})\b/g)) sent.add(number);
  }
  for (const each of [...sent]) if (others.has(each) || each.length > 7) sent.delete(each);
  assert(sent.size > 75, `${sent.size}`);
  assert.deepEqual([...sent].filter((digits) => !fullNumber(digits)), []);
});

Deno.test("a cause that a person can fix is one that has sentences, and the person is the user or an administrator", () => {
  const { page } = JSON.parse(read("Public/languages/en.json"));
  assert.deepEqual(Object.keys(who).filter((each) => !page[`explain.cause.${each}`]), []);
  assert.deepEqual([...new Set(Object.values(who))].sort(), ["administrator", "user"]);
});

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each cause of a number or a word has its sentences in ${tag}`, () => {
    const { page } = JSON.parse(read(`Public/languages/${tag}.json`));
    const causes = new Set([...rows.map(({ cause }) => cause), ...oauthErrors.values(), ...subErrors.values()]);
    assert.deepEqual([...causes].filter((each) => !page[`explain.cause.${each}`] || !page[`explain.remedy.${each}`]), []);
  });
}

/** A text, and the explanation that comes first. */
const TEXTS = [
  ["AADSTS530035: Application needs to enforce Intune protection policies", "protection"],
  ["AADSTS90023: Cross-origin token redemption is permitted only for the 'Single-Page Application' client-type.", "spa"],
  ["AADSTS7654321: The endpoint only accepts POST requests.", "post"],
  ["AADSTS7654321: The endpoint only accepts POST, OPTIONS requests. Received a GET request.", "post"],
  ["AADSTS7654321: Something that nobody has seen.", "unknown_number"],
  ["aadsts50011", "unregistered"],
  ["AADSTS 50011", "unregistered"],
  ["https://login.microsoftonline.com/error?code=50011", "unregistered"],
  ["Sign-in error code 50105", "unassigned"],
  ["90118", "reset"],
];
for (const [text, about] of TEXTS) {
  Deno.test(`${text} is explained by ${about}`, () => assert.equal(findings(text).causes[0].about, about));
}
for (const { number, cause } of rows) {
  Deno.test(`${number} alone is explained by ${cause}`, () => {
    assert.deepEqual(findings(number).causes[0], { title: number, number, name: platformNumber(number).name, about: cause });
  });
}

Deno.test("any number has a page at Microsoft", () => {
  assert.equal(pageOf("AADSTS7654321"), "https://login.microsoftonline.com/error?code=7654321");
  for (const code of graphCodes) assert(pageOf(code).startsWith("https://learn.microsoft.com/"));
});
