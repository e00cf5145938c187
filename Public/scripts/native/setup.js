// A native app's needs, as native.json has them, and the form that asks for what is put into it.

import { button, copyButton } from "../base/buttons.js";
import { element, loadJSON, t } from "../base/page.js";
import { swiftList, swiftText } from "../base/project.js";
import { filled, followValues, ownTenant, remember } from "../base/values.js";

export const setup = await loadJSON(new URL("../../data/native.json", import.meta.url));

const form = document.getElementById("form");

/** Guesses: they are shown, and everything can still be made and checked. */
const hints = { bundle_id: ["placeholder", "sample", "team"], client_id: ["sample"] };

/** The names of the mistakes that fit a value. */
const mistakesOf = (field, value) =>
  setup.mistakes[field].filter(([, pattern]) => new RegExp(pattern, "i").test(value)).map(([name]) => name);

/** The name of the first mistake that fits a value; null when it may be right. */
export const mistake = (field, value) => mistakesOf(field, value)[0] ?? null;

/** Whether a value cannot be right. */
export const isRefused = (field, value) => mistakesOf(field, value).some((name) => !hints[field].includes(name));

/** Shows what is wrong with a field, unless it is still empty; returns whether it may be right. */
function judge(name) {
  const field = form.elements[name];
  const found = mistake(name, field.value.trim());
  const shown = field.value.trim() && found ? t(`native.mistake.${name}.${found}`) : "";
  const place = document.getElementById(`${name}-mistake`);
  if (place.textContent !== shown) place.textContent = shown;
  if (shown) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  return !isRefused(name, field.value.trim());
}

/** A field's text as one of the values: scopes are a list. */
const value = ({ name, value: typed }) => (name === "scopes" ? typed.split(/[\s,]+/).filter(Boolean) : typed.trim());

/** Puts the values into the form, except into the field in which they are being typed. */
function show(values) {
  for (const field of form.elements) {
    if (!(field.name in values)) continue;
    if (field.type === "radio") field.checked = field.value === values[field.name];
    else if (JSON.stringify(value(field)) !== JSON.stringify(values[field.name])) field.value = [values[field.name]].flat().join(" ");
  }
  // The questions depend on the tenant and on its kind.
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").every((choice) =>
      choice.split("|").some((each) => [values.tenant, values.kind].includes(each))
    );
  }
}

/**
 * Calls `onChange` now and after each change of the form, with { platform, isComplete, hasIDs, values }. While a value is missing
 * or wrong, a placeholder stands for it.
 */
export function followForm(onChange) {
  // MSAL takes no plain http: such a tenant is not filled in.
  const isSecure = ownTenant?.startsWith("https:");
  form.addEventListener("input", ({ target }) => {
    if (!target.name) return;
    const isOwn = isSecure && target.name === "tenant" && target.value === "demo";
    remember({ [target.name]: value(target), ...(isOwn && { demo_url: ownTenant }) });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  // The page comes with an empty form, of which no browser restores anything: what is in it was chosen or typed before this script came.
  for (const field of form.querySelectorAll("input[name]")) {
    if (field.type === "radio" ? field.checked : field.value) remember({ [field.name]: value(field) });
  }
  followValues((values) => {
    show(values);
    const isDemo = values.tenant === "demo";
    const goodIDs = [judge("bundle_id"), judge("client_id") || isDemo];
    const hasIDs = goodIDs.every(Boolean);
    const made = filled();
    onChange({ platform: made.platform, values: made, hasIDs, isComplete: hasIDs && made.isComplete });
  });
}

/** Whether a section, a step or a block is meant for an app with these values. */
export const isFor = ({ kinds, tenants, platforms, known, own }, values) =>
  [[kinds, values.kind], [tenants, values.tenant], [platforms, values.platform]].every(([only, one]) => !only || only.includes(one)) &&
  [undefined, values.known_authority].includes(known) && [undefined, values.own_demo ?? false].includes(own);

/** The blocks of a platform, with the values in their text. Names that end in _text or _list stand for literals of Swift. */
export function blocks(platform, values) {
  const literal = (
    name,
  ) => (name.endsWith("_text")
    ? `"${swiftText(String(values[name.slice(0, -5)]))}"`
    : name.endsWith("_list")
    ? swiftList(values[name.slice(0, -5)])
    : undefined);
  const fill = (line) => line.replace(/\{(\w+)\}/g, (place, name) => values[name] ?? literal(name) ?? place);
  return setup.blocks.filter((block) => isFor(block, { ...values, platform })).map(({ lines, ...block }) => ({
    ...block,
    text: lines.map(fill).join("\n"),
  }));
}

/** The keys of a property list, as they are added to another. */
const keysOf = (plist) => plist.split("\n").slice(4, -2).map((line) => line.replace(/^\t/, "")).join("\n");

/** A block with its buttons. Nothing goes out: the file is made here. */
export function blockCard({ title, note = undefined, file = undefined, text, keys = false }, isReady = true, level = "h2") {
  const whole = keys ? t("native.copy_file") : t("native.copy");
  const buttons = [[whole, copyButton(whole, () => text)]];
  if (keys) buttons.unshift([t("native.copy_keys"), copyButton(t("native.copy_keys"), () => keysOf(text))]);
  if (file) buttons.push([t("native.download"), button(t("native.download"), () => download(file, text))]);
  for (const [name, each] of buttons) {
    each.disabled = !isReady;
    each.setAttribute("aria-label", `${name}: ${title}`);
  }
  const head = element(
    "div",
    "block-head",
    element(level, "", title, ...(file ? [" ", element("span", "mono", file)] : [])),
    ...buttons.map(([, each]) => each),
  );
  const lines = element("pre", "", element("code", "", text));
  lines.tabIndex = 0;
  return element("section", level === "h2" ? "card" : "block", head, ...(note ? [element("p", "note", note)] : []), lines);
}

function download(name, text) {
  const href = URL.createObjectURL(new Blob([text, "\n"], { type: "application/octet-stream" }));
  Object.assign(element("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
