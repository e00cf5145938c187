// The functions that the page of native authentication takes out of the Xcode project's files.

import assert from "node:assert/strict";
import { swiftFunction } from "../../Public/scripts/native/swift.js";

const source =
  "extension A: B {\n    func first() {\n        one()\n    }\n\n    func second(\n        a: Int\n    ) {\n        if a { b() }\n    }\n}\n";

for (
  const [sentence, name, wanted] of [
    ["a function is moved to the left", "first", "func first() {\n    one()\n}"],
    ["a function whose parameters have lines of their own is whole", "second", "func second(\n    a: Int\n) {\n    if a { b() }\n}"],
    ["there is no other one", "third", ""],
    ["a name is whole", "sec", ""],
  ]
) Deno.test(sentence, () => assert.equal(swiftFunction(source, name), wanted));
