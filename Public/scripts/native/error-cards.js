// The explanation of a text with an error in it, as cards, on the page for it and in the paste box.

import { missionLink, missionOfNumber } from "../base/mission-link.js";
import { base, element, loadTexts, t } from "../base/page.js";
import { findings, findingsOfLong } from "../base/error-text.js";
import { pageOf, personFor, platformNumber } from "../base/platform-numbers.js";

/** Loads what explanations need; to be called before the first one, so that none brings a request. */
export const loadExplanations = () => Promise.all([loadTexts("platform"), loadTexts("explain"), loadTexts("problem")]);

/** Causes at which a person acts in a browser, and a native app by its code. */
const ofCode = new Set([
  "assertion",
  "broker_missing",
  "grant",
  "interaction",
  "pkce",
  "post",
  "protection",
  "reset",
  "second_factor",
  "server",
]);

/** Causes of which the file check shows where they are. */
const inFiles = new Set(["scheme", "scheme_form", "queries", "redirect", "keychain"]);

const advice = (label, remedy) => element("p", "", element("strong", "", label), " ", remedy);
const card = (title, ...content) => element("section", "card", element("h2", "mono", title), ...content);
const link = (text, href) =>
  element(
    "p",
    "",
    Object.assign(element("a", "", text), href.startsWith("http") ? { href, target: "_blank", rel: "noreferrer" } : { href }),
  );

/** The remedy for an application that is configured here, for one of its own numbers. */
function here(number) {
  const remedy = t(`platform.${number}.remedy`);
  return remedy && !personFor(platformNumber(number)?.cause) ? [advice(t("explain.here"), remedy)] : [];
}

/** A number that no table has says what its words say, and where Microsoft explains it. */
const unknown = ({ title }) => card(title, element("p", "", t("explain.unknown_number")), link(t("explain.look_up"), pageOf(title)));

function explained({ title, about, number, name }, bundleID) {
  if (about === "unknown_number") return unknown({ title });
  // Where its words tell another cause than the table, a number's own sentence is not true of it.
  const own = platformNumber(number)?.cause;
  const person = ofCode.has(about) ? undefined : personFor(about);
  const label = person ? t(`problem.who.${person}`) : t("explain.who.developer");
  const made = card(
    title,
    ...(name ? [element("p", "mono", name)] : []),
    element("p", "", (own === about && t(`platform.${number}.cause`)) || t(`explain.cause.${about}`)),
    advice(label, t(`explain.remedy.${about}`)),
  );
  if (inFiles.has(about)) {
    // A fragment stays in the browser.
    const known = bundleID ? `#bundle_id=${encodeURIComponent(bundleID)}` : "";
    made.append(link(t("explain.check_file"), `${base}/paste${known}`));
  }
  if (number) made.append(...here(number), ...missionLink(missionOfNumber(number, about)), link(t("explain.look_up"), pageOf(number)));
  return made;
}

/** Less telling findings, folded. */
function folded(follows, bundleID) {
  if (follows.length === 0) return [];
  return [element("details", "", element("summary", "", t("explain.follows")), ...follows.map((each) => explained(each, bundleID)))];
}

/** The cards of a text; those of a long one take the place of what shows how much of it is read. */
export const errorCards = (text) => isLong(text) ? [reading(text)] : cards(findings(text));

/** Whether there is nothing in a text that could be explained. */
export const tellsNothing = (text) => hasNothing(findings(text));

const hasNothing = ({ descriptions, facts, causes }) => facts.length === 0 && causes.length === 0 && descriptions.length === 0;

/** Whether it takes more than a moment to read a text. */
export const isLong = (text) => text.length > 200_000;

/** Milliseconds after which the page has its turn. */
const turn = 15;

/** Not scheduler.yield: what continues there comes before the tasks of others. */
const pause = () => new Promise((resolve) => setTimeout(resolve));

function reading(text) {
  const progress = Object.assign(element("progress"), { max: 1, value: 0 });
  const shown = element("section", "card", element("label", "", `${t("explain.reading")} `, progress));
  readLong(text, shown, progress);
  return shown;
}

/** Reads a long text in turns with the page, until another text is shown. */
async function readLong(text, shown, progress) {
  await pause();
  let began = performance.now();
  const found = await findingsOfLong(text, async (share) => {
    if (performance.now() - began < turn) return true;
    progress.value = share;
    await pause();
    began = performance.now();
    return shown.isConnected;
  });
  if (found) shown.replaceWith(...cards(found));
}

function cards(found) {
  const { descriptions, facts, causes, follows, bundleID } = found;
  if (hasNothing(found)) {
    return [element("section", "card", element("p", "", t("explain.nothing")))];
  }
  const says = descriptions.map((each) => element("blockquote", "says", each));
  const rows = facts.flatMap(([name, value]) => [element("dt", "", t(`explain.fact.${name}`)), element("dd", "mono", value)]);
  const said = says.length > 0 ? [element("section", "card", element("h2", "", t("explain.says")), ...says)] : [];
  // A number alone is its card's title.
  const isMore = facts.some(([, value]) => causes.every(({ title }) => title !== value));
  const summary = isMore ? [element("section", "card", element("h2", "", t("explain.found")), element("dl", "facts", ...rows))] : [];
  const none = causes.length === 0 ? [element("section", "card", element("p", "", t("explain.no_cause")))] : [];
  return [...said, ...none, ...causes.map((each) => explained(each, bundleID)), ...folded(follows, bundleID), ...summary];
}
