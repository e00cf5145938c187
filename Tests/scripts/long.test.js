// A long text is read piece by piece, with the same findings as at once, and with steps in proportion to its length.

import "./page.js";
import assert from "node:assert/strict";
import { asRead, pieces } from "../../Public/scripts/base/error-evidence.js";
import { findings, findingsOfLong } from "../../Public/scripts/base/error-text.js";

const read = (name) => JSON.parse(Deno.readTextFileSync(new URL(name, import.meta.url)));
const texts = [...read("corpus.json"), ...read("threads.json")].map(({ text }) => text);

/** Lines of a log in which nothing went wrong. */
const quiet = (count) =>
  Array.from({ length: count }, (_, at) => `${at} [MSAL] Looking for a token, clientId 00001111-aaaa-2222-bbbb-3333cccc4444\n`).join("");

Deno.test("what stands in a long log is found as in a short one, wherever the pieces are cut", () => {
  for (const [place, text] of texts.entries()) {
    const log = `${quiet(20 + place % 17)}${text}\n${quiet(40)}${texts.at(place - 40)}\n${quiet(30)}`;
    const whole = findings(log, Infinity);
    for (const size of [900, 2_100]) assert.deepEqual(findings(log, size), whole, text);
  }
});

Deno.test("a number that begins a line of a log begins no text", () => {
  const log = `Log:\n${"-34018 bytes were kept\n".repeat(400)}`;
  assert.deepEqual([findings(log, 900), findings(log, 900).causes], [findings(log, Infinity), []]);
});

Deno.test("every piece of a log in ASCII is read as ASCII, which takes one byte a character", () => {
  for (const piece of pieces(quiet(2_000))) assert.doesNotMatch(asRead(piece), /[^\n -~]/);
});

for (const part of ["a", "\n", " ", "AADSTS50011", "AADSTS50011: \n", "Domain=a.b ", "eyJ.", "(a.b.c", "msauth.a-", "error_"]) {
  Deno.test(`the steps grow with the length: ${JSON.stringify(part)} again and again`, () => {
    const steps = (length) => {
      let [count, characters, last] = [0, 0, 0];
      for (const { piece, share } of pieces(part.repeat(Math.ceil(length / part.length)))) {
        assert(piece.length <= 36_000, `a piece of ${piece.length}`);
        assert(share > last || share === 1);
        [count, characters, last] = [count + 1, characters + piece.length, share];
      }
      assert.equal(last, 1);
      return { count, characters };
    };
    const [one, eight] = [steps(1_000_000), steps(8_000_000)];
    assert(eight.count <= 8 * one.count && eight.characters <= 8_000_000 * 1.1, JSON.stringify({ one, eight }));
  });
}

const through = ["match", "matchAll", "replace", "search", "split"];

/** Reads a text; calls `each` with the name of every method that goes through a text, the text, and what it returns. */
function watched(text, each) {
  const own = through.map((name) => [name, RegExp.prototype[Symbol[name]]]);
  for (const [name, method] of own) {
    RegExp.prototype[Symbol[name]] = function (given, ...more) {
      const found = method.call(this, given, ...more);
      const result = name === "matchAll" ? [...found] : found;
      each(name, given, result);
      return name === "matchAll" ? result.values() : result;
    };
  }
  try {
    findings(text);
  } finally {
    for (const [name, method] of own) RegExp.prototype[Symbol[name]] = method;
  }
}

Deno.test("expressions are called for each piece of a log and not for each of its lines", () => {
  const log = quiet(80_000);
  const count = [...pieces(log)].length;
  let [calls, characters] = [0, 0];
  watched(log, (_, given) => [calls, characters] = [calls + 1, characters + given.length]);
  assert(calls <= 35 * count && characters <= 35 * log.length, JSON.stringify({ calls, count, characters }));
});

// With an alternative that takes nothing, the engine does not know how a match begins, and tries at every place.
Deno.test("an expression that goes through a piece takes what it finds there", () => {
  watched(texts.join("\n"), (name, _, found) => assert(name !== "matchAll" || found.every(([taken]) => taken !== "")));
});

Deno.test("a long text is left where nobody waits for it any longer", async () => {
  const log = `${quiet(2_000)}Error Domain=MSALErrorDomain Code=-50005\n${quiet(2_000)}`;
  const shares = [];
  assert.deepEqual(await findingsOfLong(log, (share) => void shares.push(share)), findings(log));
  assert(shares.length > 5 && shares.at(-1) === 1);
  let count = 0;
  assert.equal(await findingsOfLong(log, () => ++count < 3), undefined);
  assert.equal(count, 3);
});
