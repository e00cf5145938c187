// The evidence of errors in a text: an NSError, MSAL's log, a page of the provider's or of ours, JSON, a name, or a bare number. A long
// text is read piece by piece, and what the pieces have is put together.

import { oauthErrors, subErrors } from "./error-words.js";
import { msalErrorDomain, msalNames, nativeError } from "./msal-errors.js";
import { msidNames, wordsIn } from "./msal-messages.js";
import { fullNumber, graphCodes } from "./platform-numbers.js";
import { domainOf, systemDomains, systemNames } from "./system-errors.js";

const guid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

// Each of these expressions goes through a paste once: none looks for its end from every place at which it could begin.

/** A quotation mark, escaped as often as JSON stands in JSON. */
const quote = `(?:\\\\{0,7}["'])`;

/** A name in front of a value, as `Name=value`, `"name": "value"`, `Name: value` and `Name value` have it. */
const named = (name, value) => new RegExp(`(?:${name})${quote}?\\s*(?:[=:][\\s+]*)?${quote}?(${value})`, "i");

/** The platform's labels of the identifiers at the end of a description, in the languages in which its answers were seen. */
const labels = {
  trace: "trace[_ +]?id|sp[åa]rnings-id|id de (?:rastreamento|rastreio|seguimiento|suivi)|ablaufverfolgungs-id|トレース id|跟踪 id",
  correlation: "correlation[_ +-]?id|korrelations-id|id de (?:correlaç[ãa]o|correlación|corrélation)|関連付け id|相関 id|相关 id|关联 id",
  time: "timestamp|tidsst[äa]mpel|zeitstempel|carimbo de (?:data/hora|tempo)|marca de tiempo|horodatage|タイムスタンプ|时间戳",
};

const patterns = {
  suberror: [named("MSALOAuthSubErrorKey|suberror", "[a-z_]+")],
  http: [named("MSALHTTPResponseCodeKey", "\\d{3}")],
  correlation: [named(`MSALCorrelationIDKey|MSIDCorrelationIdKey|${labels.correlation}`, guid), new RegExp(` - (${guid})\\]`)],
  trace: [named(`${labels.trace}|(?<!client[_-])request[_ -]?id`, guid)],
  time: [
    named(labels.time, "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z?"),
    // At the beginning of a log's line, which a mail may quote, behind a bracket of MSAL's, or as Graph's date or the time of a log in JSON;
    // elsewhere it may be that of a token.
    /(?:^|[\n[]|\n> ?|"(?:date|time|ts)\\*":\s*\\*")[ \t]{0,9}(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?)/,
  ],
};

const escaped = (text) => text.replace(/\./g, "\\.");
const key = (name) => name.replace(/\.(?:Code\.)?/g, "").toLowerCase();

const whole = (words) => new RegExp(`(?<!\\w)(?:${[...words].join("|")})(?!\\w)`);
const [oauthWord, subWord] = [whole(oauthErrors.keys()), whole(subErrors.keys())];

// MARK: Domains and codes

const domainNames = [...systemDomains, msalErrorDomain, "MSIDErrorDomain", "MSALOAuthErrorDomain", "MSIDOAuthErrorDomain"].map(escaped)
  .join("|");
const knownDomain = new RegExp(domainNames, "g");
const anyDomain =
  /Domain=([\w.]+)["']?,?\s{1,9}Code=(-?\d+)|[(（]["“„「]?([A-Za-z]\w*(?:\.\w+)+|[A-Za-z]\w*(?:Domain|Error))["”“」]?[^\d\n()（）[]{1,20}?(-?\d{1,7})\b/g;

/** Languages put their own words, brackets and blanks, or the end of a line, between a domain and its number; some put the number first. */
const behind =
  /^(?:[^\d\n]{0,40}?|[^\d\n]{0,20}\n\s{0,40}(?:Code=|(?:error|erreur|erro|Fehler|fel|エラー|错误)\s?|[^\d\n]{0,20}?(?=-?\d{1,7}[.。]?[)）])))(?<![A-Za-z\d])(-?\d{1,7})(?![\d.:-]*\d)/;
const before =
  /(?:(?:error|err?eur|errore|erro|fehler|fel|エラー|错误|code|コード|代码)[\s:=#(]{0,3}(-?\d{1,6})|(?<![\w.:-])(-\d{3,6}))[^\d\n]{0,30}$/i;
const atOnce = /error:?[\s+](-?\d{1,6}),?[\s+]{1,40}error[\s+]domain:[\s+]{1,40}$/i;

/** CFNetwork's line in the log, which leaves out its domain. */
const loadFailed = /HTTP[\s+]load[\s+]failed[^\n(]{0,60}\(error[\s+]code:[\s+](-?\d{1,5})\b/g;

/** Numbers that stand behind a word for an error and belong to one domain alone. */
const alone =
  /(?:^\s{0,9}|(?:error|err?eur|erro|fehler|fel|エラー|错误|status|code|result|fail(?:ed|ure))[^\d\n-]{0,20}(?:\n\s{0,40}(?=-\d{3,6}[).,"\]]{0,3}\s{0,9}(?:\n|$)))?)(-\d{3,6})\b/gi;

/** Domain and code of each error in the text, in their order. */
function domains(text) {
  const found = [];
  for (const { index, 0: domain } of text.matchAll(knownDomain)) {
    const earlier = text.slice(Math.max(0, index - 60), index);
    const [, first, second] = earlier.match(atOnce) ?? text.slice(index + domain.length, index + domain.length + 60).match(behind) ??
      earlier.match(before) ?? [];
    if (first ?? second) found.push({ index, domain, code: Number(first ?? second) });
  }
  for (const { index, 1: one, 2: code, 3: two, 4: other } of text.matchAll(anyDomain)) {
    found.push({ index, domain: one ?? two, code: Number(code ?? other) });
  }
  for (const { index, 1: code } of text.matchAll(loadFailed)) found.push({ index, domain: "NSURLErrorDomain", code: Number(code) });
  return found.sort((a, b) => a.index - b.index);
}

const codeNames = new Map([...msalNames, ...msidNames].map(([name, code]) => [key(name), code]));
const nameTable = new Map(systemNames.map(([name, error]) => [key(name), error]));
const aName = /\b(?:MSAL|MSID|errSec|kLS|kCFError|NSURLError|URLError\.|ASWeb|ASAuth|SFAuth|OIDError|userCanceledErr)[\w.]{0,80}/g;

// MARK: Words of the error's own

/** The names under which an error has its description, and how MSAL's log begins a line with one. */
const described =
  /(?:MSALErrorDescriptionKey|MSIDErrorDescriptionKey|NSLocalizedDescription|NSDescription|error_description)(?:\\{0,7}["'])?\s{0,3}[=:]\s{0,3}|Creating Error with description: |AAD(?:STS|B2C)\d{4,8}: /g;
const longest = 1000;
const identifiers = new RegExp(`(?:\\\\[rn]|[\\s+])*(?:${Object.values(labels).join("|")})\\+?:`, "i");

/** The words with which an error describes itself, behind the name that was found, without the identifiers at the end. */
function description(text, { index, 0: name }) {
  // A number is a part of its own description.
  const start = index + (name.startsWith("AAD") ? 0 : name.length);
  const rest = text.slice(start, start + longest);
  const mark = rest.match(/^\\{0,7}["']/)?.[0];
  const end = mark ? rest.indexOf(mark, mark.length) : rest.search(/,\s{1,9}[A-Za-z_]{3,40}\s?=|(?<!\{\w{1,40})\}|\n|\\n/);
  const own = rest.slice(mark?.length ?? 0, end < 0 ? rest.length : end).split(identifiers)[0];
  return readable(own).replace(/(?:\\[rn]|[\s"'])+$/, "").trim();
}

/** A description as it was before it became a part of an address; a token in it is not for the screen. */
function readable(text) {
  const plain = /[+]|%[\da-f]{2}/i.test(text) && !text.includes(" ")
    ? text.replace(/\+/g, " ").replace(/%([2-7][\da-f])/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16)))
    : text;
  return plain.replace(/eyJ[\w-]{8,}[\w.-]*/g, "eyJ…");
}

const graphWord = whole(graphCodes.filter((code) => code.includes("_") || (code.length > 14 && /[a-z][A-Z]/.test(code))));

// MARK: Piece by piece

/** Where one alone is of interest: the first that each expression finds in the text. */
const firsts = {
  oauth: oauthWord,
  sub: subWord,
  graphWord,
  graphCode: new RegExp(`["']code${quote}\\s*:\\s*${quote}(\\w{3,60})\\\\*["']`),
  codesOfJSON: /error_codes\\{0,7}["']?\s*[=:]\s*[[(]\s*(\d{4,8})/,
  codeOfAddress: /\/error\?code=(\d{4,8})/,
  codeInWords:
    /(?<![A-Za-z])(?:error[\s+]?code|error|err?eur|errore|erro|fehler|fel|code|código|エラー|コード|错误|代码)["']?[\s:=#+-]{0,4}(?<![\d-])(\d{5,8})(?![\d.:-])/i,
  ...Object.fromEntries(
    Object.entries(patterns).flatMap(([name, all]) => all.map((expression, place) => [`${name} ${place}`, expression])),
  ),
};

/** The first that the expressions of this name have found, in the order of the expressions. */
export const firstOf = ({ first }, name) => patterns[name].map((_, place) => first[`${name} ${place}`]).find(Boolean);

const perPiece = 32_000;
/** More than an expression can look back or ahead. */
const overlap = 1_500;
const mostDescriptions = 20;

/** The end of a piece: a line's, else a word's, else anywhere. */
function cut(text, place) {
  if (place >= text.length) return text.length;
  const near = text.slice(place, place + overlap);
  const end = Math.max(near.indexOf("\n"), -1) + 1 || Math.max(near.search(/\s/), -1) + 1;
  return place + end;
}

/** The pieces of a text, which overlap: { piece, isFirst, share }, with the share of the text that is read after it. */
export function* pieces(text, size = perPiece) {
  for (let start = 0, isFirst = true; isFirst || start < text.length; isFirst = false) {
    const end = cut(text, start + size);
    yield { piece: text.slice(start, cut(text, end + overlap)), isFirst, share: end / text.length || 1 };
    start = end;
  }
}

/** The evidence of nothing. */
export const noEvidence = () => ({
  codes: new Set(),
  errors: new Map(),
  alone: new Set(),
  names: new Set(),
  numbers: new Map(),
  words: new Map(),
  descriptions: [],
  bundleID: undefined,
  ours: undefined,
  first: {},
});

const keep = (map, key, value) => map.has(key) || map.set(key, value);

const entities = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#34": '"', "#39": "'", "#x27": "'", nbsp: " " };

function decoded(octets) {
  try {
    return decodeURIComponent(octets);
  } catch {
    return octets;
  }
}

/** The end of a line as JSON writes it, perhaps twice over; what a small letter follows may be a name behind a domain. */
const ends = /\\{1,7}(?:r\\{1,7})?n(?![a-z])/g;

/** A text that stood in an address, in XML or in JSON, perhaps twice over, as it was before. */
function unwrapped(text) {
  if (text.includes("\\n")) text = text.replace(ends, "\n");
  for (let times = 0; times < 2 && /%[\da-f]{2}/i.test(text); times++) text = text.replace(/(?:%[\da-f]{2})+/gi, decoded);
  return text.includes("&") ? text.replace(/&(lt|gt|quot|apos|amp|nbsp|#34|#39|#x27);/g, (_, name) => entities[name]) : text;
}

/** A piece as it is read. One in ASCII stays one: with a wider character in it, all expressions take half as long again. */
export function asRead({ piece, isFirst }) {
  const plain = unwrapped(piece).replace(/[−‐‑–]/g, "-").replace(/~(?=\d)/g, "-");
  // Only the beginning of the text is one.
  return isFirst ? plain : `#\n${plain}`;
}

/** Adds the evidence of a piece. */
export function gather(found, each) {
  const { isFirst, share } = each;
  const text = asRead(each);
  // A log says each of its names on many lines.
  for (const name of new Set(text.match(aName))) found.names.add(key(name.replace(/(?:\.rawValue)?\.*$/, "")));
  for (const { domain, code } of domains(text)) keep(found.errors, `${domain} ${code}`, { domain, code });
  for (const [, number] of text.matchAll(alone)) found.alone.add(Number(number));
  for (const code of text.match(/(?<![\w-])-(?:42|50|51|52)\d{3}\b|(?<![\w-])-514\d{3}\b/g) ?? []) found.codes.add(Number(code));
  const parts = text.split(/(AAD(?:STS|B2C)[\s:_+-]{0,2}\d{4,8})/i);
  for (let place = 1; place < parts.length; place += 2) {
    const number = parts[place].toUpperCase().replace(/[\s:_+-]/g, "");
    const beside = found.numbers.get(number) ?? "";
    found.numbers.set(number, beside.length < 4_000 ? beside + parts[place + 1].slice(0, 400) : beside);
  }
  for (const [words, written] of wordsIn(text)) keep(found.words, words, written);
  for (const match of text.matchAll(described)) {
    if (found.descriptions.length === mostDescriptions) break;
    const own = description(text, match);
    if (own && !found.descriptions.includes(own)) found.descriptions.push(own);
  }
  for (const [, id] of text.matchAll(/msauth\.([A-Za-z\d-]+(?:\.[A-Za-z\d-]+)+)/g)) found.bundleID = id;
  for (const [name, expression] of Object.entries(firsts)) {
    const match = found.first[name] ? null : text.match(expression);
    found.first[name] ??= match?.[1] ?? match?.[0];
  }
  found.ours ??= (text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []).find((word) => nativeError(word));
  if (isFirst) found.head = text.slice(0, 400);
  // Where a number or a word is all that there is.
  if (isFirst && share === 1) {
    found.bare = text.match(/^[\s("[]*(-?\d{2,6})[\s)\].,"]*$/)?.[1];
    found.digits = text.match(/^\s*(\d{4,8})\s*$/)?.[1];
    found.word = text.match(/^\s*(\w{3,60})\s*$/)?.[1];
  }
}

// MARK: Put together

/** The errors of the systems, the outer one first, of which one that stands alone is known by its number. */
export function errorsIn({ errors, alone, bare }) {
  const all = [...errors.values()];
  const codes = new Set(all.map(({ code }) => code));
  for (const code of new Set([...alone, Number(bare)])) {
    if (domainOf(code) && !codes.has(code)) all.push({ domain: domainOf(code), code });
  }
  return all;
}

/** The errors that stand in the text by name and not by number: { codes, errors }. */
export function namesIn({ names }) {
  const all = [...names];
  return {
    codes: all.map((name) => codeNames.get(name)).filter(Boolean),
    errors: all.map((name) => nameTable.get(name)).filter(Boolean),
  };
}

/** Numbers of the platform and codes of Graph, each with the words beside it: [{ number, beside }]. */
export function platformNumbers({ numbers, first, digits, word, head }) {
  const found = new Map(numbers);
  if (found.size === 0) {
    const own = first.codesOfJSON ?? first.codeOfAddress ?? digits;
    const number = own ? fullNumber(own) ?? `AADSTS${own}` : first.codeInWords && fullNumber(first.codeInWords);
    if (number) found.set(number, head);
  }
  const code = first.graphCode ?? word;
  const graph = graphCodes.includes(code) ? code : first.graphWord;
  if (graph) found.set(graph, "");
  return [...found].map(([number, beside]) => ({ number, beside }));
}

/** The words of the errors about themselves: the first of them, and of two that begin alike the longer one. */
export const descriptionsOf = ({ descriptions: found }) =>
  found.filter((each, place) => !found.some((other, at) => other.includes(each) && (other !== each || at < place))).slice(0, 3);
