// Explains a pasted error in the page: nothing that is pasted leaves it.

import { element, loadTexts, t } from "./page.js";
import { findings } from "./error-text.js";

const paste = document.getElementById("paste");
const place = document.getElementById("found");

/** Who can fix it, where that is not the developer. */
const who = { cancelled: "user", other_user: "user", network: "user", device: "administrator", protection: "administrator" };

/** What a number means for a native app, where the platform's table speaks of the one that is configured here. */
const native = {
  AADSTS50011: "redirect", AADSTS500112: "redirect", AADSTS7000218: "public", AADSTS700025: "secret", AADSTS7000215: "secret", AADSTS7000222: "secret",
  AADSTS700027: "secret", AADSTS700016: "tenant", AADSTS50194: "multi", AADSTS50196: "loop", AADSTS70011: "scope",
};

const advice = (label, remedy) => element("p", "", element("strong", "", label), " ", remedy);
const card = (title, ...content) => element("section", "card", element("h2", "mono", title), ...content);

function number(name) {
  const cause = t(`platform.${name}.cause`);
  const own = native[name];
  const content = cause ? [element("p", "", cause)] : [element("p", "", t("explain.unknown_number"))];
  const audience = t(`platform.${name}.who`);
  if (own) content.push(advice(t("explain.who.developer"), t(`explain.native.${own}`)));
  if (cause) content.push(advice(own ? t("explain.here") : t(`problem.who.${audience}`), t(`platform.${name}.remedy`)));
  if (name.startsWith("AADSTS")) {
    const href = `https://login.microsoftonline.com/error?code=${name.slice(6)}`;
    content.push(element("p", "", Object.assign(element("a", "", t("explain.look_up")), { href, target: "_blank", rel: "noreferrer" })));
  }
  return card(name, ...content);
}

function explained({ title, about }) {
  const audience = who[about] ?? "developer";
  const label = audience === "developer" ? t("explain.who.developer") : t(`problem.who.${audience}`);
  return card(title, element("p", "", t(`explain.cause.${about}`)), advice(label, t(`explain.remedy.${about}`)));
}

function explain() {
  const text = paste.value;
  if (!text.trim()) return place.replaceChildren();
  const { facts, numbers, errors } = findings(text);
  if (facts.length === 0 && numbers.length === 0 && errors.length === 0) return place.replaceChildren(element("section", "card", element("p", "", t("explain.nothing"))));
  const rows = facts.flatMap(([name, value]) => [element("dt", "", t(`explain.fact.${name}`)), element("dd", "mono", value)]);
  const summary = rows.length > 0 ? [element("section", "card", element("h2", "", t("explain.found")), element("dl", "facts", ...rows))] : [];
  place.replaceChildren(...summary, ...numbers.map(number), ...errors.map(explained));
}

// All texts are here before the first paste: none brings a request.
await loadTexts("platform");
// Another page of this product links to the explanation of a number.
paste.value ||= /^#((?:AADSTS|AADB2C)\d{4,8})$/.exec(location.hash)?.[1] ?? "";
paste.addEventListener("input", explain);
explain();
