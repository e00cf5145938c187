// Finds in a text what identifies an error: an NSError, MSAL's log, a page of the provider's or of ours, JSON, or a bare number.

import { msalError, msalErrorDomain, nativeError } from "./msal-errors.js";
import { messages } from "./msal-messages.js";
import { msidError } from "./msid-errors.js";
import { domainOf, systemError } from "./system-errors.js";

const guid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

// Each of these expressions goes through a paste once: none looks for its end from every place at which it could begin.

/** A name in front of a value, as `Name=value`, `"name": "value"`, `Name: value` and `Name value` have it. */
const named = (name, value) => new RegExp(`(?:${name})["']?\\s*(?:[=:][\\s+]*)?["']?(${value})`, "i");

const patterns = {
  oauth: [named("MSALOAuthErrorKey", "[a-z_]+"), /[?&"'\s{(;]error["']?\s*[=:]\s*["']?([a-z_]{5,})/],
  suberror: [named("MSALOAuthSubErrorKey|suberror", "[a-z_]+")],
  http: [named("MSALHTTPResponseCodeKey", "\\d{3}")],
  correlation: [named("MSALCorrelationIDKey|MSIDCorrelationIdKey|correlation[_ +-]?id", guid), new RegExp(` - (${guid})\\]`)],
  trace: [named("trace[_ +]?id|request[_ ]?id", guid)],
  time: [named("timestamp", "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z?"), /(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?)/],
};

const first = (text, expressions) => expressions.map((each) => text.match(each)?.[1]).find(Boolean);

/** Which explanation fits an OAuth error (RFC 6749 sections 4.1.2.1 and 5.2, OpenID Connect Core section 3.1.2.6). */
const oauth = {
  interaction_required: "interaction", login_required: "interaction", consent_required: "interaction", account_selection_required: "interaction",
  invalid_grant: "grant", access_denied: "authorization", invalid_client: "client", unauthorized_client: "client", invalid_scope: "scope",
  invalid_request: "request", server_error: "server", temporarily_unavailable: "server",
};

/** Domain and code of each error in the text, the outer one first. */
function domains(text) {
  const found = [
    ...text.matchAll(/Domain=([\w.]+)["']?,? Code=(-?\d+)/g), ...text.matchAll(/\(([\w.]*(?:Domain|Session|OSStatus|Error))(?:,| error| エラー| erro| fel| 错误) ?(-?\d+)/gi),
    ...[...text.matchAll(/error: (-?\d+),? error domain: (\w+)/g)].map(([all, code, domain]) => [all, domain, code]),
    ...[...text.matchAll(/\bstatus: ?(-\d{2,6})\b/g)].map(([all, code]) => [all, "OSStatus", code]),
  ].map(([, domain, code]) => ({ domain, code: Number(code) }));
  const alone = Number(text.match(/^\s*(-?\d{2,6})\s*$/)?.[1]);
  if (domainOf(alone)) found.push({ domain: domainOf(alone), code: alone });
  return found.filter(({ code }) => code !== 0);
}

/** The names under which an error has its description, and how MSAL's log begins a line with one. */
const described = /(?:MSALErrorDescriptionKey|MSIDErrorDescriptionKey|NSLocalizedDescription|NSDescription|error_description)\\?["']?\s{0,3}[=:]\s{0,3}|Creating Error with description: |(?=AAD(?:STS|B2C)\d{4,8}: )/g;
const longest = 1000;

/** The words with which the errors of the text describe themselves, without the identifiers at the end. */
function descriptions(text) {
  const found = [];
  for (const { index, 0: name } of text.matchAll(described)) {
    if (found.length === 20) break;
    const rest = text.slice(index + name.length, index + name.length + longest);
    const quote = rest.match(/^\\?["']/)?.[0];
    const end = quote ? rest.indexOf(quote, quote.length) : rest.search(/,\s{1,9}[A-Za-z_]{3,40}\s?=|[}\n]|\\n/);
    const own = rest.slice(quote?.length ?? 0, end < 0 ? rest.length : end).split(/(?:\\[rn]|[\s+])*(?:Trace|Correlation)[ +]ID:|(?:\\[rn]|\s)*Timestamp:/)[0];
    found.push(readable(own).trim());
  }
  // The shorter of two that begin alike is a part of the other.
  return found.filter((each, place) => each && !found.some((other, at) => other.includes(each) && (other !== each || at < place))).slice(0, 3);
}

/** A description as it was before it became a part of an address; a token in it is not for the screen. */
function readable(text) {
  const plain = /[+]|%[\da-f]{2}/i.test(text) && !text.includes(" ") ? text.replace(/\+/g, " ").replace(/%([2-7][\da-f])/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16))) : text;
  return plain.replace(/eyJ[\w-]{8,}[\w.-]*/g, "eyJ…");
}

/** The bundle ID in the scheme that the text names, the one that MSAL wants if it names several. */
function bundleID(text) {
  const found = [...text.matchAll(/msauth\.([A-Za-z\d-]+(?:\.[A-Za-z\d-]+)+)/g)].map(([, id]) => id);
  return found.at(-1);
}

/** Numbers of the platform, also where a bare one was pasted. */
function platformNumbers(text) {
  const found = text.match(/AADSTS\d{4,8}|AADB2C\d{4,8}/g) ?? [];
  const listed = text.match(/error_codes["']?\s*[=:]\s*[[(]\s*(\d{4,8})/)?.[1] ?? text.match(/^\s*(\d{4,8})\s*$/)?.[1];
  if (listed && found.length === 0) found.push(`AADSTS${listed}`);
  return [...new Set(found)];
}

/** Explanations that say less than any other: that something failed, or that there is nothing to be read. */
const vague = new Set(["internal", "unexpected", "keychain_missing"]);

/**
 * What is known about a text.
 *
 * Returns { descriptions, facts: [[name, value]], numbers: ["AADSTS…"], errors: [{ title, about }], bundleID }, the most telling error
 * first. The explanation "unknown" is that of a code that the tables lack.
 */
export function findings(pasted) {
  const text = pasted.replace(/[−‐‑–]/g, "-").replace(/~(?=\d)/g, "-");
  const outer = domains(text);
  const codes = [...new Set((text.match(/(?<![\w-])-(?:42|50|51|52)\d{3}\b|(?<![\w-])-514\d{3}\b/g) ?? []).map(Number))];
  const known = codes.map((code) => msalError(code) ?? msidError(code) ?? { code, about: "unknown" });
  const general = known.filter(({ code }) => code <= -50000 && code > -51000);
  const internal = known.filter(({ code }) => code > -50000);
  const core = known.filter(({ code }) => code <= -51000);
  const parts = Object.fromEntries(Object.entries(patterns).map(([name, expressions]) => [name, first(text, expressions)]));
  const numbers = platformNumbers(text);

  const label = ({ code, name }) => [code, name].filter(Boolean).join(" ");
  const ofCodes = [...internal, ...core, ...general].map((each) => ({ title: label(each), about: each.about }));
  for (const { domain, code } of outer) {
    const { name, about } = systemError(domain, code) ?? {};
    if (about) ofCodes.push({ title: [domain, code, name].filter(Boolean).join(" "), about });
  }
  const said = messages(text);
  const beside = said.telling.filter(({ about }) => !ofCodes.some((each) => each.about === about));
  const replaced = new Set(said.telling.map(({ replaces }) => replaces));
  const errors = [...beside, ...ofCodes.filter(({ about }) => !replaced.has(about))];
  if (oauth[parts.oauth]) errors.push({ title: parts.oauth, about: oauth[parts.oauth] });
  if (!errors.some(({ about }) => !vague.has(about))) errors.push(...said.weak);
  if (errors.length === 0) errors.push(...ourProblem(text));
  const [domain, code] = [outer[0]?.domain ?? (codes.length > 0 ? msalErrorDomain : undefined), general[0] ? label(general[0]) : outer[0]?.code];
  if (errors.length === 0 && numbers.length === 0 && code !== undefined) errors.push({ title: `${domain} ${code}`, about: "unknown" });

  const id = bundleID(text);
  const facts = [
    ["domain", domain], ["code", code], ["internal", [...internal, ...core].map(label).join(", ")], ["oauth", parts.oauth], ["suberror", parts.suberror],
    ["number", numbers.join(", ")], ["bundle_id", id], ["http", parts.http], ["correlation", parts.correlation], ["trace", parts.trace], ["time", parts.time],
  ];
  return {
    descriptions: descriptions(text), facts: facts.filter(([, value]) => value !== undefined && value !== ""), numbers, errors: telling(errors, numbers), bundleID: id,
  };
}

/** One explanation, said once: of those with the same cause the most telling error has it. */
function telling(errors, numbers) {
  const isTelling = numbers.length > 0 || errors.some(({ about }) => !vague.has(about));
  // A refusal by the person has no number that says who refused and why.
  const named = errors.map(({ title, about }) => ({ title, about: about === "authorization" && numbers.length === 0 ? "denied" : about }));
  const distinct = named.filter(({ about }, index) => named.findIndex((each) => each.about === about) === index);
  return isTelling ? distinct.filter(({ about }) => !vague.has(about)) : distinct.slice(0, 1);
}

/** The error that MSAL would have given where one of this server's own problems stands in the text. */
function ourProblem(text) {
  const ours = (text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []).find((word) => nativeError(word));
  const { code, internal } = nativeError(ours) ?? {};
  const found = msalError(internal?.code ?? code);
  return found ? [{ title: ours, about: found.about }] : [];
}
