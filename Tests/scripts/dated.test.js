// Claims about the outside world have a source and a day on which to look again, and their numbers stand in one place.

import assert from "node:assert/strict";
import "./page.js";
const { claims, numbers } = await import("../../Public/scripts/native/project.js");
const { facts } = await claims();
const dated = await numbers();

const root = new URL("../../", import.meta.url);
const read = (path) => Deno.readTextFileSync(new URL(path, root));

for (const fact of facts) {
  Deno.test(`the claim ${fact.id} has a source and its days: ${fact.claim}`, () => {
    assert.match(fact.claim, /\.$/);
    for (const day of [fact.read, fact.again]) assert.equal(new Date(day).toISOString().slice(0, 10), day);
    assert.ok(fact.read < fact.again);
    if (fact.unverified && !fact.source && !("tutorials" in fact)) return;
    assert.match(fact.source.url, /^https:\/\//);
    // Manuals and web pages may say no day; a page never shows these, nor what nobody has verified.
    const isShown = "tutorials" in fact;
    assert.match(fact.source.of, /^(\d{4}-\d{2}(-\d{2})?|[0-9a-f]{7,40}|undated)$/);
    assert.ok(!isShown || fact.source.of !== "undated" && fact.unverified === undefined);
    assert.match(fact.unverified ?? "Read.", /\.$/);
  });
}

Deno.test("no two claims have the same name, and no two numbers", () => {
  const names = facts.flatMap(({ id, values }) => [`claim ${id}`, ...Object.keys(values ?? {})]);
  assert.deepEqual(names, [...new Set(names)]);
});

Deno.test("what nobody has verified about Xcode's interfaces is said to be so where it is named", () => {
  assert.ok(facts.find(({ id }) => id === "xcode_interface").unverified, "verified now: the sentences can say so");
  const { page } = JSON.parse(read("Public/languages/en.json"));
  const named = ["native.step.new_ios", "native.step.new_macos", "dated.template.holds"];
  for (const key of named) assert.match(page[key], /Storyboard.*not verified/, key);
});

/** Files in which pages and projects speak. */
function* speaking(folder) {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    if (isDirectory) yield* speaking(`${folder}${name}/`);
    else if (/\.(html|js|json|txt)$/.test(name)) yield `${folder}${name}`;
  }
}

/** The documents for those who use the product, which cannot take a number from elsewhere. */
const documents = ["README.md", "deploy/README.md"];
for (const folder of ["deploy/guides/", "deploy/recipes/"]) {
  for (const { name } of Deno.readDirSync(new URL(folder, root))) if (name.endsWith(".md")) documents.push(folder + name);
}
for (const path of documents) {
  Deno.test(`${path} names versions of MSAL, Xcode and Apple's systems that the claims have`, () => {
    const named = [...read(path).matchAll(/\bMSAL (\d+\.\d+(?:\.\d+)?)|\b(?:iOS|macOS|Xcode) (\d+)/g)].map(([, msal, other]) =>
      msal ?? other
    );
    assert.deepEqual(named.filter((number) => !Object.values(dated).includes(number)), []);
  });
}

// A version of MSAL, and the systems and the Xcode that it needs.
const version =
  /(?<![\d.])2\.1\d(\.\d+)?\b|\bMSAL \d+\.\d|\biOS (1[4-9]|[2-9]\d)\b|\bmacOS [1-9]\d\b|\bXcode (1[5-9]|[2-9]\d)\b|_TARGET = \d|(LastUpgradeCheck|minimumVersion) = \d/;
/** Sentences of a table that was made of one version's headers; another module shows them. */
const isOfTheCodes = (line) => line.includes('"explain.cause.unknown"') && line.includes(`MSAL ${dated.msal_codes}`);

for (const path of speaking("Public/")) {
  if (path === "Public/data/dated.json") continue;
  Deno.test(`${path} takes its versions from the claims`, () => {
    const lines = read(path).split("\n").filter((line) => !/^\s*(\/\/|\*)/.test(line) && !isOfTheCodes(line));
    assert.deepEqual(lines.filter((line) => version.test(line)), []);
  });
}
