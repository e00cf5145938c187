// The form in which a file is pasted: in a Markdown fence, as a diff, escaped for HTML, printed by codesign, or another file altogether.

const known = /^(?:bplist|<\?xml|<!DOCTYPE plist|<plist|<dict|<key|<!--)/i;

/** The other files that people take for one of the two, by what only they have. */
const others = [
  ["project", /^\/\/ !\$\*UTF8\*\$!|\bisa = (?:PBX|XC)[A-Z]\w|^\s*PRODUCT_BUNDLE_IDENTIFIER = /m],
  ["podfile", /^\s*(?:pod ['"]|platform :(?:ios|osx)\b|use_frameworks!)/m],
  ["app_json", /^\s*\{[^{}]{0,400}"(?:expo|ios)"\s{0,9}:\s{0,9}\{/],
];

const escapes = { lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'", amp: "&" };

/** Takes a form off: its name, whether a text has it, and the text inside. */
const wraps = [
  ["fence", /^(?:```|~~~)/, (text) => text.replace(/^(?:```|~~~)[^\n]*\n?/, "").replace(/\n?(?:```|~~~)[\s\S]*$/, "")],
  [
    "diff",
    /^(?:diff --git |--- |@@ |[+-]\s{0,99}<)/,
    (text) =>
      text.split("\n").filter((line) => !/^(?:-|\+\+\+ |@@ |diff |index |new file |\\ )/.test(line)).map((line) =>
        line.replace(/^[+ ]/, "")
      )
        .join("\n"),
  ],
  ["escaped", /^&lt;[?!a-z]/i, (text) => text.replace(/&(lt|gt|quot|#34|#39|amp);/g, (_, name) => escapes[name])],
  ["codesign", /^(?:Executable=[^\n]*\s+)?\[Dict\]/, (text) => ofCodesign(text)],
  ["codesign", /^Executable=[^\n]*\s+(?:<|.{0,8}<\?xml)/, (text) => text.slice(text.indexOf("<"))],
];

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** The list that newer versions of codesign print, with an indent for each level, as a property list. */
function ofCodesign(text) {
  const made = [];
  const open = [];
  for (const [, indent, tag, value] of text.matchAll(/^([ \t]*)\[(Dict|Array|Key|String|Bool|Int|Value)\][ \t]*([^\n\r]*)/gm)) {
    if (tag === "Value") continue;
    while (open.length > 0 && open.at(-1).depth >= indent.length) made.push(`</${open.pop().name}>`);
    const name = { Int: "integer" }[tag] ?? tag.toLowerCase();
    if (["dict", "array"].includes(name)) {
      open.push({ depth: indent.length, name });
      made.push(`<${name}>`);
    } else made.push(tag === "Bool" ? `<${value.trim() === "true"}/>` : `<${name}>${escaped(value.trim())}</${name}>`);
  }
  while (open.length > 0) made.push(`</${open.pop().name}>`);
  return `<plist>${made.join("")}</plist>`;
}

/** Takes all forms off: { text, forms, other }, where `other` names a file that is neither of the two. */
export function unwrapped(pasted) {
  let text = pasted.replace(/^\uFEFF/, "").trim();
  const forms = [];
  for (let wrap; forms.length < 4 && (wrap = wraps.find(([, form]) => form.test(text)));) {
    forms.push(wrap[0]);
    text = wrap[2](text).trim();
  }
  return { text, forms, other: known.test(text) ? undefined : others.find(([, form]) => form.test(text.slice(0, 20_000)))?.[0] };
}

/** Whether a text is a property list in any form, or a file that people take for one. */
export function isFile(pasted) {
  const { text, other } = unwrapped(pasted.slice(0, 20_000));
  return other !== undefined || known.test(text);
}
