// The page that scripts find where there is none: its texts are those of English, all of them, and it has no elements.

const texts = Deno.readTextFileSync(new URL("../../Public/languages/en.json", import.meta.url));
const elements = { strings: { textContent: texts } };

globalThis.document = {
  documentElement: { dataset: { base: "" }, lang: "en" },
  getElementById: (id) => elements[id] ?? null,
  querySelector: (selector) => (selector === 'meta[name="texts"]' ? { content: "1" } : null),
};
