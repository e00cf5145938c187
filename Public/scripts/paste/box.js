// The paste box before anything is pasted: what reads a paste is fetched when the box is first used.

const box = document.getElementById("paste");
const load = () => import("./paste.js");
const begin = () => load().then(({ read }) => read());

/** Puts a text into the box, as if it had been pasted. */
async function put(text) {
  box.value = text;
  await begin();
  box.dispatchEvent(new Event("input"));
}

box.addEventListener("focus", begin, { once: true });
box.addEventListener("input", begin);
// In a form without autocompletion no browser puts back the text of a page that is gone: this was pasted before this script came.
if (box.value) begin();

document.getElementById("examples").addEventListener("click", async ({ target }) => {
  const name = target.dataset.example;
  if (!name) return;
  const { examples } = await import("./examples.js");
  await put(examples[name]);
});

/** Another page links here with a number, or with the bundle ID of the app whose file is to be checked. */
async function readLink() {
  const link = location.hash.slice(1);
  const number = /^(?:AADSTS|AADB2C)\d{4,8}$/.exec(link)?.[0];
  if (number) return put(number);
  const bundleID = new URLSearchParams(link).get("bundle_id");
  if (!bundleID) return;
  (await load()).checkFor(bundleID);
  await put("");
  box.focus();
}

addEventListener("hashchange", readLink);
readLink();

// Its own page is for nothing else; on a screen that is touched a keyboard would cover half of it.
const isAlone = document.querySelector("main.paste");
if (isAlone && !location.hash && !box.value && !matchMedia("(pointer: coarse)").matches) box.focus();
