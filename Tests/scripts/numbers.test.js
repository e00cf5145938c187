// The table of the platform's numbers: all that the tenant sends are in it, and each cause has its sentences in every language.

import assert from "node:assert/strict";
import "./page.js";
import { oauthErrors, subErrors } from "../../Public/scripts/base/error-words.js";
import { findings } from "../../Public/scripts/base/error-text.js";
import { explanationOf, fullNumber, graphCodes, pageOf, personFor, platformNumber } from "../../Public/scripts/base/platform-numbers.js";

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

/** Numbers that a class of others would send to somebody else, or tell to wait: the cause, and who can fix it. */
for (
  const [number, cause, person] of [
    // An account that is disabled is not open again after a while.
    ["AADSTS50053", "locked", "user"],
    ["AADSTS50057", "account_disabled", "administrator"],
    ["AADSTS500571", "account_disabled", "administrator"],
    // Who types something wrong types it again.
    ["AADSTS90013", "password", "user"],
    ["AADSTS90101", "password", "user"],
    ["AADSTS90114", "feature", "administrator"],
    // Who holds the device enrolls it.
    ["AADSTS53000", "device", "user"],
    ["AADSTS530003", "device", "user"],
    // That a device is disabled, that nobody may enroll one or that an app is not approved is the organization's to change.
    ["AADSTS130007", "device_disabled", "administrator"],
    ["AADSTS135011", "device_disabled", "administrator"],
    ["AADSTS240001", "feature", "administrator"],
    ["AADSTS53002", "access_policy", "administrator"],
    ["AADSTS530021", "access_policy", "administrator"],
    ["AADSTS53003", "access_policy", "administrator"],
    ["AADSTS9002326", "spa", undefined],
  ]
) {
  Deno.test(`${number} is ${cause}, which ${person ?? "the developer"} can fix`, () => {
    assert.deepEqual([platformNumber(number).cause, personFor(cause)], [cause, person]);
  });
}

for (const tag of ["en", "ja", "pt-BR", "pt-PT", "sv", "zh-Hans"]) {
  Deno.test(`each cause of a number or a word has its sentences in ${tag}`, () => {
    const { page } = JSON.parse(read(`Public/languages/${tag}.json`));
    const causes = new Set([...rows.map(({ cause }) => cause), ...oauthErrors.values(), ...subErrors.values()]);
    assert.deepEqual([...causes].filter((each) => !page[`explain.cause.${each}`] || !page[`explain.remedy.${each}`]), []);
  });
}

/** Words that send somebody else than the person who is named before the sentence: what only others would do. */
const elsewhere = {
  administrator: /^Have |ask an administrator/,
  operator: /^(?:Sign in|Start)\b/,
  developer: /(?<!person )\bsign in (?:again|interactively)\b|^(?:Install|Unlock|Try)\b/i,
};

Deno.test("the sentence after the person who can fix it says to that person what to do", () => {
  const { page } = JSON.parse(read("Public/languages/en.json"));
  const wrong = Object.entries(page).flatMap(([key, text]) => {
    const [, table, name] = /^(platform|explain)\.(?:remedy\.)?(\w+)(?:\.remedy)?$/.exec(key) ?? [];
    if (!table || key.endsWith(".cause")) return [];
    const here = table === "platform" ? "operator" : "developer";
    const person = personFor(platformNumber(name)?.cause ?? name) ?? here;
    return elsewhere[person]?.test(text) ? [`${person}: ${text}`] : [];
  });
  assert.deepEqual(wrong, []);
});

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

const numbersOf = (cause) => JSON.parse(read("Public/data/aadsts.json")).numbers.filter((row) => row.cause === cause);

Deno.test("the explanation of digits is that of a server's problem, or the developer's of a redirect URI; of digits that no table has there is none", async () => {
  const asked = globalThis.fetch;
  const { page } = JSON.parse(read("Public/languages/en.json"));
  const texts = (section) =>
    Object.fromEntries(
      Object.entries(page).filter(([key]) => key.startsWith(`${section}.`)).map(([key, text]) => [key.slice(section.length + 1), text]),
    );
  globalThis.fetch = async (address) => Response.json(texts(/(\w+)\.json$/.exec(String(address))[1]));
  try {
    const { number, cause, who: person, remedy } = await explanationOf("50011");
    assert.deepEqual([number, person], ["AADSTS50011", "developer"]);
    assert.deepEqual([cause, remedy], [page["platform.AADSTS50011.cause"], page["explain.remedy.unregistered"]]);
    for (const { number: each } of numbersOf("unregistered")) {
      const found = await explanationOf(each.slice("AADSTS".length));
      assert.ok(!/companion check|operator/.test(found.who + found.remedy), `${each}: ${found.remedy}`);
    }
    assert.equal((await explanationOf("53003")).who, "administrator");
    assert.equal((await explanationOf("90077")).number, "AADB2C90077");
    assert.equal(await explanationOf("12345678"), undefined);
  } finally {
    globalThis.fetch = asked;
  }
});
