// A function out of Swift's source text.

/** The function of this name with its body, moved to the left; empty if there is none. */
export function swiftFunction(source, name) {
  const lines = source.split("\n");
  const first = lines.findIndex((line) => line.trimStart().startsWith(`func ${name}(`));
  if (first < 0) return "";
  const [margin] = /^ */.exec(lines[first]);
  const last = lines.findIndex((line, index) => index > first && line === `${margin}}`);
  return lines.slice(first, last + 1).map((line) => line.slice(margin.length)).join("\n");
}
