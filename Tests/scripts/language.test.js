// The choice of a language at a kiosk: a button for each; Microsoft Learn's name of each; and commands in the texts of each.

import assert from "node:assert/strict";
import "./page.js";

const made = () => ({
  children: [],
  dataset: { as: "buttons" },
  listeners: {},
  attributes: {},
  setAttribute(name, value) {
    this.attributes[name] = value;
  },
  append(...children) {
    this.children.push(...children);
  },
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  },
});
const place = made();
const { getElementById } = document;
Object.assign(document, { createElement: made, getElementById: (id) => id === "language" ? place : getElementById(id) });
let reloads = 0;
globalThis.location = { pathname: "/kiosk", reload: () => reloads++ };
const sent = [];
globalThis.fetch = async (path, { method, body }) => {
  sent.push([method, path, JSON.parse(body)]);
  return new Response(null, { status: 204 });
};

await import("../../Public/scripts/base/common.js");

const tags = [...Deno.readDirSync(new URL("../../Public/languages/", import.meta.url))]
  .filter(({ isFile }) => isFile).map(({ name }) => name.replace(".json", "")).sort();

Deno.test("each language is a button, which chooses it and shows the page in it", async () => {
  const buttons = place.children.filter(({ lang }) => lang);
  assert.deepEqual(buttons.map(({ lang }) => lang).sort(), tags);
  for (const button of buttons) {
    assert.equal(button.attributes["aria-pressed"], String(button.lang === "en"));
    await button.listeners.click();
    assert.deepEqual(sent.at(-1), ["POST", "/api/language", { language: button.lang }]);
  }
  assert.equal(reloads, buttons.length);
});

Deno.test("each language has a name of Microsoft Learn, to which the code's links lead", () => {
  const code = Deno.readTextFileSync(new URL("../../Public/scripts/tutorial/code.js", import.meta.url));
  const [, list] = /^const locales = \{(.*)\};$/m.exec(code);
  const locales = [...list.matchAll(/"?([\w-]+)"?: "([\w-]+)"/g)].map(([, tag, name]) => `${tag} ${name}`);
  assert.deepEqual(locales, ["en en-us", "ja ja-jp", "pt-BR pt-br", "pt-PT pt-pt", "sv sv-se", "zh-Hans zh-cn"]);
  assert.deepEqual(locales.map((each) => each.split(" ")[0]).sort(), tags);
});

for (const tag of tags) {
  Deno.test(`a command in a text is in quotation marks in ${tag}`, () => {
    const { page } = JSON.parse(Deno.readTextFileSync(new URL(`../../Public/languages/${tag}.json`, import.meta.url)));
    const bare = /(?<![“”「«])companion (?:check|demo|tenant)\b/;
    assert.deepEqual(Object.values(page).filter((text) => bare.test(text)), []);
  });
}
