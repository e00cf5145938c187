// Swift's words in colour: strings, comments, keywords, and the names of types.

import { element } from "./element.js";

const words = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(import|class|enum|static|let|var|func|override|super|self|init|try|await|async|throws|throw|do|catch|guard|else|if|return|in|case|nil|true|false|as)\b|(@\w+|#\w+)|\b([A-Z]\w+)\b/gm;
const kinds = ["note", "text", "word", "word", "name"];

/** A line as text and coloured words. */
export function highlighted(line) {
  const parts = [];
  let end = 0;
  for (const found of line.matchAll(words)) {
    parts.push(line.slice(end, found.index), element("span", `code-${kinds[found.slice(1).findIndex(Boolean)]}`, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, line.slice(end)];
}
