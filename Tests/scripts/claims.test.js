// The meaning of a claim, and of a value that is not shown.

import assert from "node:assert/strict";
import "./page.js";

const { meaningOf, personFirst } = await import("../../Public/scripts/base/claims-table.js");

for (
  const [name, value, meaning] of [
    ["rh", "…", "Not shown: an identifier that only the provider can read"],
    ["uti", "…", "Not shown: an identifier that only the provider can read"],
    ["sid", "…", "Not shown: the provider's session"],
    ["rh", "1.AX", "For the platform's own use."],
    ["groups", "…", "The groups that the person is a member of."],
  ]
) {
  Deno.test(`${name} with the value ${value} is: ${meaning}`, () =>
    assert.ok(meaningOf(name, value).startsWith(meaning), meaningOf(name, value)));
}

Deno.test("a list of claims begins with the person's name and username", () => {
  assert.deepEqual(Object.keys(personFirst({ aio: "…", preferred_username: "a", ver: "2.0", name: "A" })), [
    "name",
    "preferred_username",
    "aio",
    "ver",
  ]);
  assert.deepEqual(Object.keys(personFirst({ aio: "…", name: "A" })), ["name", "aio"]);
});
