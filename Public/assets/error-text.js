// Finds in a text what identifies an error: an NSError, MSAL's log, a page of the provider's or of ours, JSON, or a bare number.

import { msalError, msalErrorDomain, nativeError } from "./msal-errors.js";

const guid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

// Each of these expressions goes through a paste once: none looks for its end from every place at which it could begin.

/** A name in front of a value, as `Name=value`, `"name": "value"`, `Name: value` and `Name value` have it. */
const named = (name, value) => new RegExp(`(?:${name})["']?\\s*(?:[=:]\\s*)?["']?(${value})`, "i");

const patterns = {
  oauth: [named("MSALOAuthErrorKey", "[a-z_]+"), /[?&"'\s{(;]error["']?\s*[=:]\s*["']?([a-z_]{5,})/],
  suberror: [named("MSALOAuthSubErrorKey|suberror", "[a-z_]+")],
  correlation: [named("MSALCorrelationIDKey|correlation[_ -]?id", guid), new RegExp(` - (${guid})\\]`)],
  trace: [named("trace[_ ]?id|request[_ ]?id", guid)],
  time: [named("timestamp", "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z?"), /(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?)/],
};

const first = (text, expressions) => expressions.map((each) => text.match(each)?.[1]).find(Boolean);

/** Which explanation fits an OAuth error (RFC 6749 sections 4.1.2.1 and 5.2, OpenID Connect Core section 3.1.2.6). */
const oauth = {
  interaction_required: "interaction", login_required: "interaction", consent_required: "interaction", account_selection_required: "interaction",
  invalid_grant: "grant", access_denied: "authorization", invalid_client: "client", unauthorized_client: "client", invalid_scope: "scope",
  invalid_request: "request", server_error: "server", temporarily_unavailable: "server",
};

/** Errors of the system that MSAL hands on as they are. */
function systemError(domain, code) {
  if (domain === "NSURLErrorDomain") return code <= -1200 && code >= -1204 ? "certificate" : ({ "-999": "cancelled", "-1022": "https" }[code] ?? "network");
  if (domain === "NSOSStatusErrorDomain") return "keychain";
  if (/WebAuthenticationSession|SFAuthentication/.test(domain)) return code === 1 ? "cancelled" : "view_controller";
  return undefined;
}

/** Domain and code of each error in the text, the outer one first. */
function domains(text) {
  const found = [...text.matchAll(/Domain=([\w.]+)["']?,? Code=(-?\d+)/g), ...text.matchAll(/\(([\w.]+) (?:error|エラー|erro|fel|错误) ?(-?\d+)/gi)];
  return found.map(([, domain, code]) => ({ domain, code: Number(code) }));
}

/** Numbers of the platform, also where a bare one was pasted. */
function platformNumbers(text) {
  const found = text.match(/AADSTS\d{4,8}|AADB2C\d{4,8}/g) ?? [];
  const listed = text.match(/error_codes["']?\s*[=:]\s*[[(]\s*(\d{4,8})/)?.[1] ?? text.match(/^\s*(\d{4,8})\s*$/)?.[1];
  if (listed && found.length === 0) found.push(`AADSTS${listed}`);
  return [...new Set(found)];
}

/**
 * What is known about a text.
 *
 * Returns { facts: [[name, value]], numbers: ["AADSTS…"], errors: [{ title, about }] }, the most telling error first.
 */
export function findings(pasted) {
  const text = pasted.replace(/[−‐‑–]/g, "-");
  const outer = domains(text);
  const codes = [...new Set((text.match(/(?<![\w-])-(?:42|50)\d{3}\b/g) ?? []).map(Number))].map(msalError).filter(Boolean);
  const general = codes.filter(({ code }) => code <= -50000);
  const internal = codes.filter(({ code }) => code > -50000);
  const known = Object.fromEntries(Object.entries(patterns).map(([name, expressions]) => [name, first(text, expressions)]));
  const words = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  const numbers = platformNumbers(text);

  const label = ({ code, name }) => `${code} ${name}`;
  const errors = [...internal, ...general].map((each) => ({ title: label(each), about: each.about }));
  for (const { domain, code } of outer) {
    const about = systemError(domain, code);
    if (about) errors.push({ title: `${domain} ${code}`, about });
  }
  if (oauth[known.oauth]) errors.push({ title: known.oauth, about: oauth[known.oauth] });
  if (errors.length === 0) {
    const ours = words.find((word) => nativeError(word));
    const { code, internal: inner } = nativeError(ours) ?? {};
    const found = msalError(inner?.code ?? code);
    if (found) errors.push({ title: ours, about: found.about });
  }

  const domain = outer[0]?.domain ?? (codes.length > 0 ? msalErrorDomain : undefined);
  const code = general[0] ? label(general[0]) : outer[0]?.code;
  const facts = [
    ["domain", domain], ["code", code], ["internal", internal.map(label).join(", ")], ["oauth", known.oauth], ["suberror", known.suberror],
    ["number", numbers.join(", ")], ["correlation", known.correlation], ["trace", known.trace], ["time", known.time],
  ];
  // One explanation, said once: of those with the same cause the most telling error has it.
  const distinct = errors.filter(({ about }, index) => errors.findIndex((each) => each.about === about) === index);
  // −50000 says only that there is an internal code.
  const telling = distinct.filter(({ about }) => about !== "internal" || (internal.length === 0 && numbers.length === 0));
  return { facts: facts.filter(([, value]) => value !== undefined && value !== ""), numbers, errors: telling };
}
