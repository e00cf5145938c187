// Two attempts: what differs on purpose, what always does between two people or two tokens, and what is the same.

import assert from "node:assert/strict";
import { differences } from "../../Public/scripts/portal/differences.js";

/** A claim of two attempts, and where it stands for two people and for one. */
const CLAIMS = [
  ["aud", "different", "different"],
  ["groups", "different", "different"],
  ["roles", "different", "different"],
  ["tid", "different", "different"],
  ["employee", "different", "different"],
  ["oid", "always", "different"],
  ["sub", "always", "different"],
  ["name", "always", "different"],
  ["preferred_username", "always", "different"],
  ["email", "always", "different"],
  ...["aio", "demo_claims_nbf", "demo_expiry", "exp", "iat", "nbf", "nonce", "rh", "sid", "uti", "xms_st"].map((
    claim,
  ) => [claim, "always", "always"]),
];
const rowsOf = (...claims) => claims.map((claim) => ({ term: `ID: ${claim}`, claim, value: claim }));
const partOf = (found) => Object.keys(found).filter((part) => found[part].length > 0).join();

for (const [claim, ofTwo, ofOne] of CLAIMS) {
  const row = { term: claim, claim };
  for (const [who, isSamePerson, expected] of [["two people", false, ofTwo], ["one person", true, ofOne]]) {
    Deno.test(`${claim} of ${who} that is not the same is ${expected}`, () => {
      assert.equal(partOf(differences([{ ...row, value: "a" }], [{ ...row, value: "b" }], isSamePerson)), expected);
      assert.equal(partOf(differences([{ ...row, value: "a" }], [], isSamePerson)), expected, "one has it");
      assert.equal(partOf(differences([{ ...row, value: "a" }], [{ ...row, value: "a" }], isSamePerson)), "same");
    });
  }
}

for (
  const [sentence, one, two, expected] of [
    ["a setting differs", [{ term: "Prompt", value: "login" }], [{ term: "Prompt", value: "" }], { different: [["Prompt", "login", "–"]] }],
    ["what neither has is not shown", [{ term: "Prompt", value: "" }], [{ term: "Prompt", value: undefined }], {}],
    [
      "the account and what gives rights come first, settings last",
      [{ term: "Username", value: "a" }, ...rowsOf("aud", "groups", "roles"), { term: "Prompt", value: "login" }],
      [],
      {
        different: ["Username a", "ID: groups groups", "ID: roles roles", "ID: aud aud", "Prompt login"].map((
          row,
        ) => [...row.split(/ (?=\S+$)/), "–"]),
      },
    ],
    [
      "a person who is known in the second alone comes first, too",
      [{ term: "Prompt", value: "a" }],
      [{ term: "Username", value: "b" }, ...rowsOf("groups"), { term: "Prompt", value: "b" }],
      { different: [["Username", "–", "b"], ["ID: groups", "–", "groups"], ["Prompt", "a", "b"]] },
    ],
  ]
) Deno.test(sentence, () => assert.deepEqual(differences(one, two, false), { different: [], always: [], same: [], ...expected }));
