// What a native app needs, as native.json has it, and the form that asks for what is put into it.

import { button, copyButton } from "./buttons.js";
import { element, t } from "./page.js";

/** The command `companion native` reads the same file. */
export const setup = await (await fetch(new URL("./native.json", import.meta.url))).json();

const fields = ["bundle_id", "client_id"];
const form = document.getElementById("form");

/** The name of the first mistake that fits a value; null when it may be right. */
export const mistake = (field, value) => setup.mistakes[field].find(([, pattern]) => new RegExp(pattern, "i").test(value))?.[0] ?? null;

/** Where the tab keeps what was typed, for the other page with this form. */
const key = "native";

function restore() {
  const kept = JSON.parse(sessionStorage.getItem(key) ?? "{}");
  for (const name of [...fields, "platform"]) if (kept[name]) form.elements[name].value = kept[name];
}

/** Shows what is wrong with a field, unless it is still empty. */
function judge(name) {
  const field = form.elements[name];
  const value = field.value.trim();
  const found = mistake(name, value);
  const shown = value && found ? t(`native.mistake.${name}.${found}`) : "";
  const place = document.getElementById(`${name}-mistake`);
  if (place.textContent !== shown) place.textContent = shown;
  if (shown) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  return { value, isGood: !found };
}

/**
 * Calls `onChange` now and after each change of the form, with { platform, isComplete, values }. While a value is missing or
 * wrong, the field's name in ‹› stands for it.
 */
export function followForm(onChange) {
  const changed = () => {
    const [bundle, client] = fields.map(judge);
    const named = (name, { value, isGood }) => (isGood ? value : `‹${document.querySelector(`label[for=${name}]`).textContent}›`);
    const values = { bundle_id: named("bundle_id", bundle), client_id: named("client_id", client) };
    values.redirect_uri = `msauth.${values.bundle_id}://auth`;
    const platform = form.elements.platform.value;
    sessionStorage.setItem(key, JSON.stringify({ bundle_id: bundle.value, client_id: client.value, platform }));
    onChange({ platform, values, isComplete: bundle.isGood && client.isGood });
  };
  restore();
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  changed();
}

/** The blocks of a platform, with the values in their text. */
export function blocks(platform, values) {
  const fill = (line) => line.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
  return setup.blocks.filter(({ platforms }) => platforms.includes(platform)).map(({ id, file, lines }) => ({ id, file, text: lines.map(fill).join("\n") }));
}

/** A block with its buttons. Nothing goes out: the file is made here. */
export function blockCard({ title, note, file, text }, isReady = true) {
  const buttons = [copyButton(t("native.copy"), () => text)];
  if (file) buttons.push(button(t("native.download"), () => download(file, text)));
  buttons.forEach((each, index) => {
    each.disabled = !isReady;
    each.setAttribute("aria-label", `${t(index ? "native.download" : "native.copy")}: ${title}`);
  });
  const head = element("div", "block-head", element("h2", "", title, ...(file ? [" ", element("span", "mono", file)] : [])), ...buttons);
  const lines = element("pre", "", element("code", "", text));
  lines.tabIndex = 0;
  return element("section", "card", head, element("p", "note", note), lines);
}

function download(name, text) {
  const href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/octet-stream" }));
  Object.assign(element("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
