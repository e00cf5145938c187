// Templates: conditions, parts, steps, and values that are escaped as the file's format demands.

import assert from "node:assert/strict";
import "./page.js";
const { fillTemplate, swiftList, swiftText, wholeText } = await import("../../Public/scripts/base/project.js");

for (
  const [value, text] of [
    ["plain", "plain"],
    ['com."contoso".\\.tasks', 'com.\\"contoso\\".\\\\.tasks'],
    ["com.contoso.tåsks.日本", "com.contoso.tåsks.日本"],
    ["a\n\r\tb", "a\\n\\r\\tb"],
    ["a\u0000\u2028\u2029b", "a\\u{0}\\u{2028}\\u{2029}b"],
    ["{{client_id}}⟦x⟧%end", "{{client_id}}\\u{27e6}x\\u{27e7}%end"],
    ["\\(evil)", "\\\\(evil)"],
  ]
) Deno.test(`${JSON.stringify(value)} is ${text} within a string of Swift`, () => assert.equal(swiftText(value), text));

Deno.test("a list is one of strings", () => assert.equal(swiftList(["a", 'b"']), '["a", "b\\""]'));

/** The template, its format, the values, and the text. */
for (
  const [sentence, source, format, values, wanted] of [
    ["a value is escaped for Swift", 'let a = "{{a}}"', "swift", { a: 'x"' }, 'let a = "x\\""'],
    ["a value is escaped for a property list", "<string>{{a}}</string>", "plist", { a: "<a>\n&" }, "<string>&lt;a&gt; &amp;</string>"],
    ["a value is escaped for a project", '"{{a}}"', "pbxproj", { a: 'x"\\\n' }, '"x\\"\\\\ "'],
    ["a value is escaped for Markdown", "`{{a}}`", "md", { a: "x`|" }, "`x  `"],
    ["a value can stand as it is", "{{=a}}", "swift", { a: '["x"]' }, '["x"]'],
    ["a value that is missing is empty", "a{{a}}b", "swift", {}, "ab"],
    ["a value's own braces are no template", "{{a}}", "md", { a: "{{b}}", b: "no" }, "{{b}}"],
    ["a text comes with its values, escaped", "{{t text}}", "plist", { a: "<" }, "text &lt;"],
    ["a condition holds", "%if a !b\nyes\n%else\nno\n%end", "swift", { a: "1", b: "" }, "yes"],
    ["a condition does not hold", "%if a !b\nyes\n%else\nno\n%end", "swift", { a: "1", b: "1" }, "no"],
    ["conditions stand in each other", "%if a\n%if b\n1\n%else\n2\n%end\n%else\n3\n%end", "swift", { a: "1" }, "2"],
    [
      "a part is as far indented as its place",
      "%part p\n{{a}}\n  b\n%end\nbegin\n  %use p\nend",
      "swift",
      { a: "a" },
      "begin\n  a\n    b\nend",
    ],
    ["a part that there is not is nothing", "a\n%use p\nb", "swift", {}, "a\nb"],
    ["of empty lines that follow each other one stays, and none at the beginning", "\n\na\n\n\nb\n", "swift", {}, "a\n\nb"],
  ]
) {
  Deno.test(sentence, () => assert.equal(wholeText(fillTemplate(source, { format, values, t: (name) => `${name} {a}` })), `${wanted}\n`));
}

Deno.test("lines that the tutorial lacks have the reason, and no empty line does", () => {
  assert.deepEqual(fillTemplate("a\n%own token\nb\n\n%if x\nc\n%end\nd ⟦api⟧\n%own\ne", { format: "swift", values: {} }), [
    { text: "a", steps: [] },
    { text: "b", steps: [], own: "token" },
    { text: "", steps: [] },
    { text: "d", steps: ["api"], own: "token" },
    { text: "e", steps: [] },
  ]);
});

Deno.test("lines have the steps of the flow, and a line its own", () => {
  assert.deepEqual(fillTemplate("a\n%steps token api\nb\n\nc ⟦callback⟧\n%steps\nd", { format: "swift", values: {} }), [
    { text: "a", steps: [] },
    { text: "b", steps: ["token", "api"] },
    { text: "", steps: [] },
    { text: "c", steps: ["callback"] },
    { text: "d", steps: [] },
  ]);
});

Deno.test("a block without an end is named by its line", () => {
  assert.throws(() => fillTemplate("a\n%if b\nc", { format: "swift", values: {} }), new Error("a block of line 2 has no %end"));
});
