// The page that scripts find where there is none: its texts are those of English, all of them, and it has no elements.

const { page: texts } = JSON.parse(Deno.readTextFileSync(new URL("../../Public/languages/en.json", import.meta.url)));
const elements = { strings: { textContent: JSON.stringify(texts) } };

globalThis.document = {
  documentElement: { dataset: { base: "" }, lang: "en" },
  getElementById: (id) => elements[id] ?? null,
  querySelector: (selector) => (selector === 'meta[name="texts"]' ? { content: "1" } : null),
};
