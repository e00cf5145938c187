// Finds in a text what identifies an error, and weighs it: the cause first.

import { descriptionsOf, errorsIn, firstOf, gather, namesIn, noEvidence, pieces, platformNumbers } from "./error-evidence.js";
import { oauthErrors, subErrors } from "./error-words.js";
import { msalError, msalErrorDomain, nativeError } from "./msal-errors.js";
import { messages, msidError, platformWords, wordsIn } from "./msal-messages.js";
import { platformNumber } from "./platform-numbers.js";
import { systemError } from "./system-errors.js";

// MARK: The findings

/** The worth of a finding: a cause, what follows from one, or what says next to nothing and is often harmless. */
const [cause, consequence, harmless] = [0, 1, 2];
const following = new Set(["cancelled", "aborted"]);
const empty = new Set(["internal", "unexpected"]);
const madeOfOAuth = new Set(oauthErrors.values());
const vague = new Set([...empty, "keychain_missing", "ciam", "no_app"]);

/**
 * The findings about a text.
 *
 * Returns { descriptions, facts: [[name, value]], causes, follows, bundleID }. Of causes and follows each is { title, about }, the most
 * telling first; that of a number has { number, name } too. The explanation "unknown" is that of a code that the tables lack, and
 * "unknown_number" that of such a number of the platform.
 */
export function findings(text, size) {
  const found = noEvidence();
  for (const each of pieces(text, size)) gather(found, each);
  return concluded(found);
}

/** The same for a long text. It calls and awaits `onPiece` with the share that was read; once that returns false, the result is undefined. */
export async function findingsOfLong(text, onPiece) {
  const found = noEvidence();
  for (const each of pieces(text)) {
    gather(found, each);
    if (await onPiece(each.share) === false) return undefined;
  }
  return concluded(found);
}

function concluded(found) {
  const names = namesIn(found);
  const outer = errorsIn(found).filter(({ domain, code }) => code !== 0 || systemError(domain, 0)?.name);
  const codes = [...new Set([...found.codes, ...names.codes])];
  const known = codes.map((code) => msalError(code) ?? msidError(code) ?? { code, about: "unknown" });
  const general = known.filter(({ code }) => code <= -50000 && code > -51000);
  const internal = known.filter(({ code }) => code > -50000);
  const core = known.filter(({ code }) => code <= -51000);
  const word = (title, table) => title && { title, about: table.get(title) };
  const numbers = platformNumbers(found);
  const oauth = word(found.first.oauth, oauthErrors);
  const sub = word(found.first.sub, subErrors);
  const said = messages(found.words);

  const label = (/** @type {any} */ { code, name }) => [code, name].filter(Boolean).join(" ");
  const replaced = new Set(said.telling.map(({ replaces }) => replaces));
  const rank = (about) => (vague.has(about) ? harmless : following.has(about) || replaced.has(about) ? consequence : cause);
  const isWrapper = ({ number }) => Boolean(platformNumber(number)?.wraps);
  const isAlone = numbers.every(isWrapper);
  /** @type {any[]} */
  const errors = numbers.map(({ number, beside }) => {
    const { name, cause: own } = platformNumber(number) ?? {};
    const rank = isWrapper({ number }) && !isAlone ? consequence : cause;
    return { title: number, number, name, about: platformWords(beside) ?? own ?? "unknown_number", rank };
  });
  const add = (title, about, least = cause) => errors.push({ title, about, rank: Math.max(least, rank(about)) });
  // Of words that stand beside a number which only wraps another, no more is known than of it.
  const ofWrappers = new Set(errors.filter(({ rank }) => rank === consequence).map(({ about }) => about));
  for (const { title, about } of said.telling) add(title, about, ofWrappers.has(about) ? consequence : cause);
  // The name of an exception that asks for the person says less than a number.
  if (sub) add(sub.title, sub.about, sub.about === "interaction" && numbers.length > 0 ? consequence : cause);
  // MSAL makes these codes of the OAuth error, of which the platform's number and words tell more.
  const isMadeOf = (about) => about === "unknown" || (numbers.length > 0 && madeOfOAuth.has(about));
  for (const each of [...internal, ...core]) add(label(each), each.about, isMadeOf(each.about) ? consequence : cause);
  for (const { domain, code } of [...outer, ...names.errors]) {
    const { name, about } = systemError(domain, code) ?? {};
    if (about) add([domain, code, name].filter(Boolean).join(" "), about, about === "unknown" ? consequence : cause);
  }
  for (const each of general) add(label(each), each.about, consequence);
  const isTold = () => errors.some(({ rank }) => rank < harmless);
  // A code or a suberror says more than the OAuth error, which it was made of.
  if (oauth && !isTold()) add(oauth.title, oauth.about);
  if (!isTold()) { for (const { title, about } of said.weak) add(title, about); }
  if (errors.length === 0) { for (const { title, about } of ourProblem(found.ours)) add(title, about); }
  const [domain, code] = [
    outer[0]?.domain ?? (codes.length > 0 ? msalErrorDomain : undefined),
    general[0] ? label(general[0]) : outer[0]?.code,
  ];
  if (errors.length === 0 && code !== undefined) add(`${domain} ${code}`, "unknown");

  const { causes, follows } = weighed(errors, numbers);
  const id = found.bundleID;
  const facts = [
    ["domain", domain],
    ["code", code],
    ["internal", [...internal, ...core].map(label).join(", ")],
    ["oauth", oauth?.title],
    ["suberror", firstOf(found, "suberror")],
    ["number", numbers.map(({ number }) => number).join(", ")],
    ["bundle_id", id],
    ["http", firstOf(found, "http")],
    ["correlation", firstOf(found, "correlation")],
    ["trace", firstOf(found, "trace")],
    ["time", firstOf(found, "time")],
  ];
  const isHarmless = (each) =>
    messages(wordsIn(each)).telling.some(({ about }) => vague.has(about) && !causes.some((one) => one.about === about));
  return {
    descriptions: descriptionsOf(found).filter((each) => !isHarmless(each)),
    facts: facts.filter(([, value]) => value !== undefined && value !== ""),
    causes,
    follows,
    bundleID: id,
  };
}

/** One explanation, said once: of those with the same cause the most telling error has it. Numbers are all shown. */
function weighed(errors, numbers) {
  // A refusal by the person has no number that says who refused and why.
  const all = errors.map((each) => ({ ...each, about: each.about === "authorization" && numbers.length === 0 ? "denied" : each.about }))
    .sort((a, b) => a.rank - b.rank || Number(a.about === "unknown_number") - Number(b.about === "unknown_number"));
  const distinct = all.filter(({ about, number }, place) => number || all.findIndex((each) => each.about === about) === place);
  const least = distinct[0]?.rank;
  const isCause = ({ rank }, place) => rank === least && (rank !== harmless || place === 0);
  const shown = ({ rank: _, ...each }) => each;
  const follows = distinct.filter((each, place) => !isCause(each, place) && !empty.has(each.about));
  return { causes: distinct.filter(isCause).map(shown), follows: follows.map(shown) };
}

/** The error that MSAL would have given where one of this server's own problems stands in the text. */
function ourProblem(word) {
  const { code, internal } = nativeError(word) ?? {};
  const found = msalError(internal?.code ?? code);
  return found ? [{ title: word, about: found.about }] : [];
}
