// The templates of the projects: text with conditions, parts, and values that are escaped as the file's format demands.
// `companion native --project` reads the same templates with the same rules (CompanionPages/ProjectTemplate.swift).
//
//   %if a !b … %else … %end   keeps lines while a is set and b is not
//   %part name … %end         lines that `%use name` puts in its place, as far indented as itself
//   %steps a b                the steps of a flow that the following lines stand for; a line's own are at its end: ⟦a b⟧
//   {{name}}, {{=name}}       a value, escaped or as it is; {{t name}} a text in the reader's language

const tag = /\{\{(=|t )?(\w+)\}\}/g;

/** A value within a string of Swift, whatever is in it. */
export function swiftText(value) {
  const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  // The marks' own characters would end the line.
  return value.replace(/[\\"\p{Cc}\p{Zl}\p{Zp}⟦⟧]/gu, (found) => escapes[found] ?? `\\u{${found.codePointAt(0).toString(16)}}`);
}

/** A list of strings in Swift. */
export const swiftList = (values) => `[${values.map((value) => `"${swiftText(value)}"`).join(", ")}]`;

const withoutControls = (value) => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
const escapes = {
  swift: swiftText,
  plist: (value) => withoutControls(value).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"),
  pbxproj: (value) => withoutControls(value).replace(/[\\"]/g, "\\$&"),
  md: (value) => withoutControls(value).replace(/[`|]/g, " "),
};

/** The lines up to the %end of the block that begins at `start`: { lines, alternative, next }. */
function block(lines, start) {
  const parts = [[]];
  let depth = 0;
  for (let index = start; index < lines.length; index++) {
    const line = lines[index];
    if (/^\s*%(if|part) /.test(line)) depth += 1;
    else if (/^\s*%end$/.test(line) && depth-- === 0) return { lines: parts[0], alternative: parts[1] ?? [], next: index + 1 };
    else if (/^\s*%else$/.test(line) && depth === 0) {
      parts.push([]);
      continue;
    }
    parts.at(-1).push(line);
  }
  throw new Error(`a block of line ${start} has no %end`);
}

/**
 * Fills in a template.
 *
 * `format` is swift, plist, pbxproj or md; a value that is missing or empty is not set. Returns lines { text, steps }, of which no
 * two that follow each other are empty.
 */
export function fillTemplate(source, { format, values, t = (name) => name }) {
  const parts = new Map();
  const found = [];
  let current = [];
  const filled = (text) =>
    text.replace(tag, (_, kind, name) => {
      if (kind === "t ") return t(name).replace(/\{(\w+)\}/g, (place, value) => (values[value] === undefined ? place : escapes[format](values[value])));
      return kind === "=" ? (values[name] ?? "") : escapes[format](values[name] ?? "");
    });
  const holds = (condition) => condition.split(" ").every((name) => (name.startsWith("!") ? !values[name.slice(1)] : Boolean(values[name])));
  const walk = (lines, margin) => {
    for (let index = 0; index < lines.length; ) {
      const line = lines[index];
      const [, indent, word, rest = ""] = line.match(/^(\s*)%(if|part|use|steps)(?: (.*))?$/) ?? [];
      index += 1;
      if (word === "if" || word === "part") {
        const inner = block(lines, index);
        index = inner.next;
        if (word === "part") parts.set(rest, inner.lines);
        else walk(holds(rest) ? inner.lines : inner.alternative, margin);
      } else if (word === "use") walk(parts.get(rest) ?? [], margin + indent);
      else if (word === "steps") current = rest.split(" ").filter(Boolean);
      else {
        const [, text, own] = line.match(/^(.*?)\s*(?:⟦(.*)⟧)?$/);
        found.push({ text: text && margin + filled(text), steps: own?.split(" ") ?? (text ? current : []) });
      }
    }
  };
  walk(source.replace(/\n$/, "").split("\n"), "");
  return found.filter(({ text }, index) => text || (index > 0 && found[index - 1].text));
}

/** The lines as one text, with a line end after the last. */
export const wholeText = (lines) => lines.map(({ text }) => text).join("\n") + "\n";
