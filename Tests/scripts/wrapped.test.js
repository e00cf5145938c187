// An error is explained by the same finding wherever it was copied from, and beside whatever other number it stands.

import assert from "node:assert/strict";
import "./page.js";
import { findings } from "../../Public/scripts/base/error-text.js";

const read = (path) => JSON.parse(Deno.readTextFileSync(new URL(path, import.meta.url)));
const texts = [...read("corpus.json"), ...read("threads.json")].map(({ text }) => text)
  // A number alone is known only where nothing stands beside it.
  .filter((text) => text !== null && !/^[\s(-]*\d+[\s)]*$/.test(text));

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const prefixed = (text, prefix) => text.split("\n").map((line) => prefix + line).join("\n");
const broken = (text, end) => text.replace(/(.{30,50}) /g, `$1${end}`);

const FORMS = {
  "as a value of JSON": (text) => JSON.stringify({ message: text }),
  "as JSON in JSON": (text) => JSON.stringify({ body: JSON.stringify({ message: text }) }),
  "as a text in XML": (text) => `<error><message>${text.replace(/[&<>"']/g, (each) => entities[each])}</message></error>`,
  "in an address": (text) => `https://app.contoso.example/failed?description=${encodeURIComponent(text)}`,
  "in an address that is in an address": (text) => `https://contoso.example/?next=${encodeURIComponent(encodeURIComponent(text))}`,
  "in a form": (text) => `${new URLSearchParams({ message: text })}`,
  "in a log": (text) => prefixed(text, "2026-03-02 10:11:12.345678+0100 Tasks[66144:4049892] [MSAL] "),
  "in a mail that quotes it": (text) => prefixed(text, "> "),
  "broken over lines": (text) => broken(text, "\n"),
  "broken over lines, as on Windows": (text) => broken(text, "\r\n"),
  "broken over lines with an indent": (text) => broken(text, "\n        "),
  "with the blanks of a page": (text) => text.replaceAll(" ", "\u00a0"),
  "in a question": (text) => `Hello, since this morning my app shows this:\n\n${text}\n\nAny idea?`,
  "in a fence": (text) => `\`\`\`\n${text}\n\`\`\``,
};

const first = (text) => findings(text).causes[0]?.about ?? null;

for (const [form, wrap] of Object.entries(FORMS)) {
  Deno.test(`${form}, an error has the same first finding`, () => {
    const different = texts.filter((text) => first(wrap(text)) !== first(text));
    assert.deepEqual(different.map((text) => `${first(text)} became ${first(wrap(text))}: ${text}`), []);
  });
}

const { numbers } = read("../../Public/data/aadsts.json");
const [wrappers, others] = [true, undefined].map((wraps) => numbers.filter((row) => row.wraps === wraps).map(({ number }) => number));

for (const wrapper of wrappers) {
  Deno.test(`any other number comes before ${wrapper}, which says nothing beside it`, () => {
    for (const number of others) {
      for (const text of [`${wrapper}: a. ${number}: b.`, `${number}: b. ${wrapper}: a.`]) {
        const { causes } = findings(text);
        if (/^AAD/.test(number)) assert.deepEqual(causes.map((each) => each.number), [number], text);
      }
    }
  });
}

Deno.test("of two numbers of which neither wraps the other, both are explained, the first one first", () => {
  for (const text of ["AADSTS50076: a. AADSTS65001: b.", "AADSTS65001: b. AADSTS50076: a."]) {
    assert.deepEqual(findings(text).causes.map(({ number }) => number), text.match(/AADSTS\d+/g));
  }
});

Deno.test("the words beside a number that only wraps another are no cause of their own", () => {
  const { causes, follows } = findings("AADSTS70002: Error validating credentials. AADSTS50057: The user account is disabled.");
  assert.deepEqual([causes, follows].map((all) => all.map(({ title }) => title)), [["AADSTS50057"], ["AADSTS70002"]]);
});
