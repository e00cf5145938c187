// Swift's words in colour: strings, comments, keywords, and the names of types. They are ranges of text, and no elements.

const words = /(\/\/.*$)|("(?:[^"\\]|\\.)*")|\b(import|class|enum|static|let|var|func|override|super|self|init|try|await|async|throws|throw|do|catch|guard|else|if|return|in|case|nil|true|false|as)\b|(@\w+|#\w+)|\b([A-Z]\w+)\b/gm;
const kinds = ["note", "text", "word", "word", "name"];

/** Colours the program in an element, where the browser can. */
export function colour(listing) {
  if (!CSS.highlights) return;
  const found = Object.fromEntries(kinds.map((kind) => [kind, []]));
  for (const { firstChild: text } of listing.children) {
    for (const match of text.data.matchAll(words)) {
      const range = new StaticRange({ startContainer: text, startOffset: match.index, endContainer: text, endOffset: match.index + match[0].length });
      found[kinds[match.slice(1).findIndex(Boolean)]].push(range);
    }
  }
  for (const [kind, ranges] of Object.entries(found)) CSS.highlights.set(`swift-${kind}`, new Highlight(...ranges));
}
