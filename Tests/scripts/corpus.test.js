// The texts that people paste, each with the finding that comes first; null where nothing may be found.
//
// The wording is ours; a fact from a public thread or source has its address beside it. The forms of the system's sentences were seen
// in public code; those of a language in which none was found are marked as made by analogy.

import assert from "node:assert/strict";
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
