// Recognizes the kind of a pasted text by its beginning or its form, so that this takes a moment however long the text is.

import { beginning, isFile } from "../native/lint-text.js";
import { ofFragment } from "../base/case.js";
import { findings } from "../base/error-text.js";
import { addressIn } from "./authorize-text.js";
import { readToken } from "./token-text.js";

/** A JSON object, alone or between a few words, as in a fence, behind a command or in a quoted mail; undefined for anything else. */
export function objectOf(text) {
  const start = text.slice(0, 2_000).indexOf("{");
  if (start < 0) return undefined;
  const json = text.slice(start, text.lastIndexOf("}") + 1);
  try {
    return JSON.parse(/^\s{0,9}>/.test(text) ? json.replace(/^> ?/gm, "") : json);
  } catch {
    return undefined;
  }
}

/** A token at the beginning of a word or behind a percent-encoded character; some write padding at the end of its parts. */
const signed = /eyJ(?<=(?:(?<![\w-])|%[0-9A-Fa-f]{2})eyJ)[\w-]*={0,2}(?:\.[\w-]*={0,2}){2,4}/g;

/** A token of a personal account, which is encrypted in Microsoft's own way. */
const opaque = /Ew(?<=(?<![\w+/-])Ew)[A-Z](?:[\w+/-]|%2[BF]){60,}={0,2}/g;

/** The name of the token before which a text ends. */
const nameBefore = (text) => text.match(/(id|access)[_ ]token\b[^.\n]{0,20}$/i)?.[1].toLowerCase();

const alone = /^[\s\uFEFF]*(?:Authorization:\s*)?(?:Bearer\s+)?["'`]?\s*e\s*y/i;

/** The token in a text that is one, alone or behind “Bearer”, perhaps broken over lines; undefined where there is none. */
function pure(text) {
  if (!alone.test(text.slice(0, 1_000))) return undefined;
  const bare = text.replace(/^[\s\uFEFF]*(?:Authorization:\s*)?(?:Bearer\s+)?["'`]?/i, "").replace(/\s+/g, "").replace(/["'`,;]{0,3}$/, "");
  const read = bare.startsWith("eyJ") ? readToken(bare) : undefined;
  return read && { read };
}

/** All tokens in a text: { name, read }, of which an opaque one has nothing to read; the name is id or access where the text tells. */
export function tokensIn(text) {
  const alone = pure(text);
  if (alone) return [alone];
  const found = new Map();
  const put = (token, name, read) => found.get(token)?.name || found.set(token, { name, read });
  const look = (inside) => {
    for (const { 0: token, index } of inside.matchAll(signed)) {
      const read = readToken(token);
      if (read) put(token, nameBefore(inside.slice(Math.max(0, index - 60), index)), read);
    }
  };
  look(text);
  // A terminal or a mail may have broken it over lines.
  if (found.size === 0 && text.includes("eyJ")) look(text.replace(/(?<=[\w.-])\\?\r?\n[ \t]{0,40}(?:> ?)?(?=[\w.-])/g, ""));
  for (const { 0: token, index } of text.matchAll(opaque)) put(token, nameBefore(text.slice(Math.max(0, index - 60), index)));
  const { access_token: access } = objectOf(text) ?? {};
  if (typeof access === "string" && !found.has(access)) put(access, "access");
  return [...found.values()];
}

const namesError = (text) => /\berror|AADSTS|AADB2C/i.test(text);
const isAddress = (text) => addressIn(text) !== undefined && (/^\s*https?:\S+\s*$/i.test(text) || !namesError(text));

/** The text of a case, which the page of a problem gives as JSON or in a link; undefined where a text has none. */
export function caseIn(text) {
  const json = ofFragment(text.match(/^\s*https?:\/\/[^\s#]+(#case=\S+)\s*$/)?.[1] ?? "") ?? text;
  const found = objectOf(json);
  if (typeof found?.case !== "number") return undefined;
  return /^[\s\uFEFF]*\{/.test(json) ? json : JSON.stringify(found);
}

const isDiscovery = (text) => {
  const document = objectOf(text) ?? {};
  return ["authorization_endpoint", "token_endpoint", "jwks_uri", "tenant_discovery_endpoint"].some((name) => name in document) &&
    !tellsError(text, text.indexOf("{"));
};

const authority =
  /^\s*(?:(?:let |var |const |static )*["']?\w{0,40}authority["']?\s{0,9}[:=]\s{0,9}@?)?["'`<]{0,3}(https?:\/\/[^\s?#"'`<>]+)["'`>]{0,3}[,;]?\s*$/i;

/** An address alone that asks for nothing: an authority, as MSAL is given one, perhaps with its name before it. */
export const authorityIn = (text) => authority.exec(text)?.[1];

/** Whether the words before this place tell an error, to which what follows is an annex. */
const tellsError = (text, place) => place > 0 && findings(text.slice(0, place)).causes.length > 0;

/** The kind of a text: file, token, address, authority, discovery, case, or error for all that is none of these. */
export function kindOf(text) {
  if (isFile(text) && !tellsError(text, beginning(text.slice(0, 20_000)))) return "file";
  if (pure(text)) return "token";
  if (isAddress(text)) return "address";
  if (authorityIn(text)) return "authority";
  if (isDiscovery(text)) return "discovery";
  if (caseIn(text)) return "case";
  return !namesError(text) && tokensIn(text).length > 0 ? "token" : "error";
}

/** Terms that have another one's meaning. */
const alike = {
  "2fa": "second_factor",
  acquiretoken: "interactive",
  acquiretokensilent: "silent",
  acquiretokensilently: "silent",
  administrator_consent: "admin_consent",
  app_id: "client_id",
  application_id: "client_id",
  application_registration: "app_registration",
  authorization_code: "code",
  bundle_identifier: "bundle_id",
  cert: "certificate",
  claims: "claim",
  client_capability: "cp1",
  continuous_access_evaluation: "cae",
  discovery: "discovery_document",
  discovery_metadata: "discovery_document",
  jwt: "token",
  keychain_group: "keychain",
  keychain_sharing: "keychain",
  login: "interactive",
  metadata: "discovery_document",
  mfa: "second_factor",
  multi_factor: "second_factor",
  multi_factor_authentication: "second_factor",
  multifactor: "second_factor",
  multifactor_authentication: "second_factor",
  openid_configuration: "discovery_document",
  permission: "scope",
  redirect: "redirect_uri",
  redirect_url: "redirect_uri",
  registration: "app_registration",
  scp: "scope",
  secret: "client_secret",
  silently: "silent",
  single_sign_on: "sso",
  test_portal: "portal",
  two_factor: "second_factor",
  two_factor_authentication: "second_factor",
  www_authenticate: "claims_challenge",
};

/** A question around a term, in the pages' languages, and its articles. */
const questions = [
  /^(?:(?:what(?:'?s|’s| is| are| does| do)?|vad (?:är|betyder|innebär)|o que (?:é|são|significa|quer dizer))(?![a-z_])|什么是) ?/,
  / ?(?:(?: mean| means| stand for)|とは(?:何ですか|何|なんですか)?|って何(?:ですか)?|の意味は?|是?什么(?:意思)?)$/,
  /^(?:an?|the|ett?|en|os?|as?|uma?) /,
];

/** The names below which a term alone can stand in the tables of meanings: as it is written there, and without an s at its end. */
export function termsIn(text) {
  const bare = text.slice(0, 200).trim().toLowerCase().replace(/[?？.。:]{1,3}$/, "").replace(/["“”'«»「」*`]/g, "");
  const asked = questions.reduce((left, part) => left.replace(part, ""), bare.trim()).replace(/\((?:with:)?\)$/, "");
  const [word] = /^[a-z\d][a-z\d_]{0,39}$/.exec(asked.trim().replace(/[\s-]+/g, "_")) ?? [];
  return word === undefined ? [] : [...new Set([word, word.replace(/s$/, "")].map((each) => alike[each] ?? each))];
}

/** All kinds, in the order in which they are offered. */
export const kinds = ["error", "file", "token", "address", "authority", "discovery", "case", "term"];
