// The server leaves out the comments that begin a line (Comments.swift). It has no parser, so no text may look like one.

import assert from "node:assert/strict";

function* scripts(folder) {
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* scripts(path);
    else if (entry.name.endsWith(".js")) yield path;
  }
}

/** The lines of a script's texts that look like a comment. */
function lost(path, source) {
  const texts = [];
  const create = () => ({ TemplateElement: (node) => texts.push(node.raw), Literal: (node) => texts.push(String(node.raw)) });
  Deno.lint.runPlugin({ name: "texts", rules: { texts: { create } } }, path, source);
  return texts.flatMap((text) => text.split("\n").slice(1)).filter((line) => /^ *(\/\/|\/\*)/.test(line));
}

Deno.test("no text of the scripts has a line that the server takes for a comment", () => {
  const paths = [...scripts(new URL("../../Public", import.meta.url).pathname)];
  assert.ok(paths.length > 60);
  for (const path of paths) assert.deepEqual(lost(path, Deno.readTextFileSync(path)), [], path);
});

Deno.test("such a line is found in a template and in a text over several lines", () => {
  assert.deepEqual(lost("a.js", "f(`a\n  // b ${c}\n/* d`, 'e\\\n// f');\n// g"), ["  // b ", "/* d", "// f'"]);
});
