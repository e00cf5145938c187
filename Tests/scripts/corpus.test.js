// The texts that people paste, each with the finding that comes first; null where nothing may be found.
//
// The wording is ours; a fact from a public thread or source has its address beside it. The forms of the system's sentences were seen
// in public code; those of a language in which none was found are marked as made by analogy. The platform's descriptions are those of
// captured answers, with Microsoft's fictitious identifiers.

import assert from "node:assert/strict";
import "./page.js";
import { findings } from "../../Public/scripts/base/error-text.js";

const CORPUS = JSON.parse(Deno.readTextFileSync(new URL("corpus.json", import.meta.url)));

Deno.test("the corpus has at least 300 texts, each once", () => {
  assert(new Set(CORPUS.map(({ text }) => text)).size === CORPUS.length && CORPUS.length >= 300);
});

for (const { text, first } of CORPUS) {
  Deno.test(`${first ?? "nothing"} comes first in ${text.replace(/\s+/g, " ").slice(0, 160)}`, () => {
    const { causes } = findings(text);
    assert.equal(causes[0]?.about ?? null, first);
  });
}

const { numbers } = JSON.parse(Deno.readTextFileSync(new URL("../../Public/data/aadsts.json", import.meta.url)));

/** These numbers have several causes, between which their words decide. */
const several = new Set(["AADSTS50131", "AADSTS90023"]);

Deno.test("the words beside a number have the cause that the table gives the number", () => {
  let count = 0;
  for (const { text, first } of CORPUS) {
    const [number, ...more] = new Set(text.match(/AAD(?:STS|B2C)\d{4,8}/g));
    const row = more.length === 0 && !several.has(number) && numbers.find((each) => each.number === number);
    if (row) assert.equal(first, row.cause, text);
    if (row) count += 1;
  }
  assert(count > 50, `${count}`);
});

Deno.test("the name of an exception that wraps a number stands behind it", () => {
  const { causes, follows } = findings("MsalUiRequiredException: AADSTS90051: Invalid Delegation Token.");
  assert.deepEqual([causes, follows].map((all) => all.map(({ about }) => about)), [["tenant"], ["interaction"]]);
});
