// The explanation of a text with an error in it, as cards, on the page for it and in the paste box.

import { base, element, loadTexts, t } from "./page.js";
import { findings } from "./error-text.js";

/** Loads what explanations need; to be called before the first one, so that none brings a request. */
export const loadExplanations = () => Promise.all([loadTexts("platform"), loadTexts("explain"), loadTexts("problem")]);

/** Who can fix it, where that is not the developer. */
const who = {
  cancelled: "user", other_user: "user", network: "user", timeout: "user", locked: "user", federated: "user", keychain_denied: "user",
  device: "administrator", enrolled: "user", protection: "administrator",
};

/** Causes of which the file check shows where they are. */
const inFiles = new Set(["scheme", "queries", "redirect", "keychain"]);

/** The remedy for a native app of a number for which the platform's table has that of the application that is configured here. */
const native = {
  AADSTS50011: "unregistered", AADSTS500112: "unregistered", AADSTS7000218: "confidential", AADSTS700025: "secret", AADSTS7000215: "secret", AADSTS7000222: "secret",
  AADSTS700027: "secret", AADSTS700016: "tenant", AADSTS50194: "multi", AADSTS50196: "loop", AADSTS70011: "scope",
};

/** Azure AD B2C's numbers that reach an app, by their explanation (learn.microsoft.com/azure/active-directory-b2c/error-codes). */
const userFlows = {
  unregistered: [90006, 90007], client: [90008, 90011, 90018, 90068, 90092], scope: [90010, 90012, 90055, 90115, 90117, 90146], confidential: [90058, 90079],
  secret: [90081, 90084], grant: [90080, 90087, 90088, 90128, 90129], interaction: [90077], cancelled: [90091], reset: [90118], locked: [90111, 90114],
  pkce: [90182, 90183, 90184], permission: [90205], policy: [90021, 90022, 90031, 90040, 90108], server: [90035, 90037, 90048, 90085], federated: [90273],
};
const ofUserFlow = (name) => Object.keys(userFlows).find((about) => userFlows[about].includes(Number(name.slice("AADB2C".length))));

const advice = (label, remedy) => element("p", "", element("strong", "", label), " ", remedy);
const card = (title, ...content) => element("section", "card", element("h2", "mono", title), ...content);
const link = (text, href) => element("p", "", Object.assign(element("a", "", text), href.startsWith("http") ? { href, target: "_blank", rel: "noreferrer" } : { href }));

function number(name, bundleID) {
  const isUserFlow = name.startsWith("AADB2C");
  const source = isUserFlow ? "https://learn.microsoft.com/azure/active-directory-b2c/error-codes" : `https://login.microsoftonline.com/error?code=${name.slice("AADSTS".length)}`;
  const lookUp = link(t("explain.look_up"), source);
  const about = isUserFlow && ofUserFlow(name);
  if (about) {
    const made = explained({ title: name, about }, bundleID);
    made.append(lookUp);
    return made;
  }
  const cause = isUserFlow ? "" : t(`platform.${name}.cause`);
  const own = native[name];
  const content = [element("p", "", cause || t("explain.unknown_number"))];
  if (own) content.push(advice(t("explain.who.developer"), t(`explain.remedy.${own}`)));
  if (cause) content.push(advice(own ? t("explain.here") : t(`problem.who.${t(`platform.${name}.who`)}`), t(`platform.${name}.remedy`)));
  return card(name, ...content, lookUp);
}

function explained({ title, about }, bundleID) {
  const audience = who[about] ?? "developer";
  const label = audience === "developer" ? t("explain.who.developer") : t(`problem.who.${audience}`);
  const made = card(title, element("p", "", t(`explain.cause.${about}`)), advice(label, t(`explain.remedy.${about}`)));
  if (inFiles.has(about)) {
    // A fragment stays in the browser.
    const known = bundleID ? `#bundle_id=${encodeURIComponent(bundleID)}` : "";
    made.append(link(t("explain.check_file"), `${base}/native/lint${known}`));
  }
  return made;
}

/** The cards of a text; none when nothing of an error is in it. */
export function errorCards(text) {
  const { descriptions, facts, numbers, errors, bundleID } = findings(text);
  if (facts.length === 0 && numbers.length === 0 && errors.length === 0 && descriptions.length === 0) return [];
  const says = descriptions.map((each) => element("blockquote", "says", each));
  const rows = facts.flatMap(([name, value]) => [element("dt", "", t(`explain.fact.${name}`)), element("dd", "mono", value)]);
  const said = says.length > 0 ? [element("section", "card", element("h2", "", t("explain.says")), ...says)] : [];
  const summary = rows.length > 0 ? [element("section", "card", element("h2", "", t("explain.found")), element("dl", "facts", ...rows))] : [];
  const unknown = numbers.length === 0 && errors.length === 0 ? [element("section", "card", element("p", "", t("explain.no_cause")))] : [];
  return [...said, ...unknown, ...numbers.map((each) => number(each, bundleID)), ...errors.map((each) => explained(each, bundleID)), ...summary];
}
