// An authorization request as its address (RFC 6749 section 4.1.1, RFC 7636, OpenID Connect Core section 3.1.2.1), and what goes wrong
// in one of a native app or a web application, at the endpoint that is asked.

import { cloudOf } from "../base/project.js";

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const prompts = ["login", "none", "consent", "select_account", "create"];
const modes = ["query", "fragment", "form_post"];
const required = ["client_id", "redirect_uri", "response_type", "scope", "state"];

/** MSAL's own, which no standard has. */
const ofMSAL = /^(?:x-client-|haschrome$|return-client-request-id$|instance_aware$|login_req$|domain_req$)/;

/** The key of the text that says what a parameter means. */
export const meaning = (name) => (ofMSAL.test(name) ? "msal" : name.replace(/-/g, "_"));

const ofOpenID = ["openid", "profile", "email", "offline_access", "address", "phone"];

/** An API in one spelling: without a slash at its end, and an application ID for its address. Microsoft Graph is empty. */
const spelled = (api) =>
  api.replace(/\/{1,9}$/, "").toLowerCase().replace(/^api:\/\/(?=[0-9a-f-]{36}$)/, "")
    .replace(/^(?:https:\/\/graph\.microsoft\.com|00000003-0000-0000-c000-000000000000)$/, "");

/** The API of a scope; empty for one of Microsoft Graph, undefined for one of OpenID Connect. */
function resource(scope) {
  if (ofOpenID.includes(scope)) return undefined;
  const end = scope.lastIndexOf("/");
  return end < 0 ? "" : scope.slice(0, end);
}

const lines = (text) => text.replace(/(?<!\s)\s+(?=[?&])|(?<=[?&=%])\s+/g, "");

/** An address alone of which a terminal or a mail has broken the lines anywhere; a word with a mark at its end is a person's. */
const isBroken = (text) => /^https?:\/\/\S+(?:[ \t]*\r?\n[ \t]*(?![a-z]{1,20}:)\S+)+(?<![!?.,:])$/i.test(text);

/** A request as it was before it stood in an address or in JSON, which may escape slashes. */
function plain(text) {
  try {
    return /^https?%3A%2F%2F\S+$/i.test(text) ? decodeURIComponent(text) : text.replaceAll("\\/", "/");
  } catch {
    return text;
  }
}
const request = /(?:^|["'\s])(?:GET|POST|HEAD) (\/[^\s"']{1,8000})(?: HTTP\/[\d.]+)?/;
const host = /^Host:\s*([\w.:-]{1,200})\s*$/im;
const asks = /\/(?:authorize|adminconsent|logout|par)\/?(?:[?#]|$)|[?&]response_type=/i;

/**
 * The address of a request in a text: alone, broken over lines as documentation prints it, or in a line of a log. Undefined where there
 * is none. A log's line has no host; Microsoft's stands for it.
 */
export function addressIn(text) {
  // A log in which the first request comes later is a log.
  const given = plain(text.slice(0, 100_000).replace(/^\uFEFF/, "").trim());
  const whole = isBroken(given) ? given.replace(/\s+/g, "") : lines(given);
  if (/^https?:\/\/\S+$/i.test(whole)) return asks.test(whole) ? whole : undefined;
  const path = request.exec(whole)?.[1];
  if (path && asks.test(path)) return `https://${host.exec(whole)?.[1] ?? "login.microsoftonline.com"}${path}`;
  return whole.match(/(?<![\w+.-])https?:\/\/[^\s"'<>`]{1,8000}/gi)?.map((each) => each.replace(/[),.;\]]{1,3}$/, ""))
    .find((each) => each.includes("?") && asks.test(each));
}

/**
 * Reads the address: { authority, parameters: [[name, value]], isWeb, found: [{ level, rule, … }] }; undefined for a text that is no
 * address. A web application's request is not judged as a native app's. The bundle ID is the reader's own; empty where it is not known.
 */
export function readAuthorization(text, bundleID = "") {
  const found = [];
  const report = (level, rule, more = {}) => found.push({ level, rule, ...more });
  const given = addressIn(text) ?? text.trim();
  const isEscaped = given.includes("&amp;");
  if (isEscaped) report("info", "escaped");
  let url;
  try {
    url = new URL(isEscaped ? given.replaceAll("&amp;", "&") : given);
  } catch {
    return undefined;
  }
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const parameters = [...url.searchParams];
  if (url.protocol !== "https:") report("bad", "https", { item: url.host });
  const kind = url.pathname.match(/\/(adminconsent|logout|par)\/?$/i)?.[1].toLowerCase();
  const version = /\/oauth2\/authorize\/?$/i.test(url.pathname) ? 1 : /\/oauth2\/v2\.0\//i.test(url.pathname) ? 2 : undefined;
  if (version === 1) report("info", "version_1");
  const names = parameters.map(([name]) => name);
  for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index))) report("bad", "twice", { item: name });
  /** @type {any} */
  const values = Object.fromEntries([...parameters].reverse());
  const isPushed = "request_uri" in values;
  const ofCode = required.filter((name) => name !== "scope" || version !== 1);
  const needed = { adminconsent: ["client_id"], logout: [], par: [] }[kind] ?? (isPushed ? ["client_id"] : ofCode);
  for (const name of needed) if (!values[name]) report("bad", "missing", { item: name });
  const isWeb = isOfWeb(values);
  if (kind) report("info", kind);
  else if (isPushed) report("info", "pushed");
  else judge(values, { bundleID, comparesRedirect: comparesRedirect(url), isWeb, version, cloud: cloudOf(url.hostname) }, report);
  if ("client_secret" in values) report("bad", "client_secret");
  return { authority: `${url.origin}${url.pathname}`, parameters, isWeb, found };
}

const isLoopback = (redirect) => /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?#]|$)/i.test(redirect);

/** The redirect URIs of a desktop app's browser; on its own machine http is allowed. */
const isOfDesktop = (redirect) => isLoopback(redirect) || /^https:\/\/[^/]+\/common\/oauth2\/nativeclient$/i.test(redirect);

/** Whether a request is a web application's: by how and where the response goes, or by ASP.NET's name. MSAL's names decide nothing. */
const isOfWeb = ({ response_mode: mode, redirect_uri: redirect = "", "x-client-SKU": maker = "" }) =>
  mode === "form_post" || /^ID_NET/i.test(maker) || (/^https?:/i.test(redirect) && !isOfDesktop(redirect));

function judge(values, app, report) {
  const { isWeb, version } = app;
  const { client_id: client, redirect_uri: redirect, response_type: type, response_mode: mode, scope, prompt, nonce, claims } = values;
  if (client && !guid.test(client)) report("bad", "client_id", { item: client });
  if (type && type !== "code" && !isWeb) report("bad", "response_type", { item: type });
  if (mode && !modes.includes(mode)) report("bad", "response_mode", { item: mode });
  else if (mode === "query" && /token/.test(type ?? "")) report("bad", "mode_query", { item: type });
  if (/\bid_token\b/.test(type ?? "") && !nonce) report("bad", "missing", { item: "nonce" });
  if (redirect) judgeRedirect(redirect, app, report);
  if (scope) judgeScopes(scope, { ...app, isNative: !isWeb && !isOfDesktop(redirect ?? "") }, report);
  if (values.resource && version === 2) judgeResource(values.resource, scope ?? "", report);
  if (values.code_challenge) {
    if (values.code_challenge_method !== "S256") report("bad", "pkce_method");
    else if (!/^[\w-]{43}$/.test(values.code_challenge)) report("bad", "pkce_length");
  } else if (!isWeb) report("bad", "pkce");
  if (claims && !isObject(claims)) report("bad", "claims");
  for (const each of (prompt ?? "").split(/\s+/).filter((each) => each && !prompts.includes(each))) {
    if (each !== "admin_consent") report("bad", "prompt", { item: each });
    else if (version !== 1) report("bad", "prompt_v1", { item: each });
  }
  if (values.login_hint && prompt === "select_account") report("info", "hint");
  if (nonce && nonce === values.state) report("info", "state_nonce");
}

function isObject(json) {
  try {
    const value = JSON.parse(json);
    return value !== null && typeof value === "object" && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Whether MSAL refuses a redirect URI for its form (-42011): only for accounts of work or school, MSALPublicClientApplication.m:199 and :921
 * at fae6844. For B2C, External ID and consumers it takes any whose scheme is in Info.plist.
 */
const comparesRedirect = ({ hostname, pathname }) =>
  !/\.(?:ciamlogin|b2clogin)\.(?:com|cn|us|de)$/i.test(hostname) && !/^\/(?:tfp\/|consumers\/)|\/b2c_1/i.test(pathname);

/**
 * As the common core compares, MSIDRedirectUri.m:86 and :92 at 39c211d: with msauth.<bundle ID>://auth as NSURL does, so that capitals
 * and a slash at the end count, or any scheme with the bundle ID as the host, letter for letter. Info.plist is searched for the scheme
 * as it is written (ios/MSIDRedirectUriVerifier.m).
 */
function judgeRedirect(redirect, { bundleID, comparesRedirect, isWeb }, report) {
  if (redirect.includes("#")) report("bad", "redirect_fragment", { found: redirect });
  if (redirect.includes("*")) report("bad", "redirect_wildcard", { found: redirect });
  // Entra ID refuses http anywhere else, whatever is registered.
  if (/^http:/i.test(redirect) && !isLoopback(redirect)) report("bad", "redirect_http", { found: redirect });
  if (isWeb) return;
  const own = redirect.match(/^msauth\.([^:/?#]+):\/\/auth$/)?.[1];
  const host = redirect.match(/^(?!https?:)[a-z][a-z\d+.-]*:\/\/([^/?#:]*\.[^/?#:]*)(?:[/?#]|$)/i)?.[1];
  const wanted = `msauth.${bundleID || "‹bundle ID›"}://auth`;
  const refuse = (rule, values) => comparesRedirect ? report("bad", rule, values) : report("info", "redirect_any", { found: redirect });
  if (own) {
    if (bundleID && own !== bundleID) refuse("redirect_bundle", { found: own, item: bundleID });
  } else if (host && (!bundleID || host === bundleID)) {
    if (!bundleID && comparesRedirect) report("info", "redirect_host", { found: redirect, item: host });
  } else if (isOfDesktop(redirect)) report("fine", "redirect_desktop", { found: redirect, item: wanted });
  else if (/^msal[0-9a-f-]{36}:\/\/auth\/?$/i.test(redirect)) report("info", "redirect_old", { found: redirect, item: wanted });
  else refuse("redirect_form", { found: redirect, item: wanted });
}

/** The grammar of scopes (RFC 6749 section 3.3), and what the endpoint's version makes of them. */
function judgeScopes(scope, { version, cloud, isNative }, report) {
  if (version === 1) {
    const unread = scope.split(/\s+/).filter((each) => each && !ofOpenID.includes(each));
    if (unread.length > 0) report("info", "scope_v1", { item: unread.join(" ") });
    return;
  }
  if (/%[0-9a-f]{2}|\+/i.test(scope)) return report("bad", "scope_encoded");
  if (/[,;]/.test(scope)) return report("bad", "scope_comma");
  const scopes = [...new Set(scope.split(/\s+/).filter(Boolean))];
  const isFormed = (each) => !/[^\x21\x23-\x5b\x5d-\x7e]|^[[{('‹<]|[\]})'›>]$/.test(each);
  const isOpenID = (each) => ofOpenID.includes(each.toLowerCase());
  const ofAPIs = scopes.filter((each) => !isOpenID(each) && isFormed(each));
  const isDefault = (each) => /^(?:.*\/)?\.default$/.test(each);
  /** @type {[string, string, (each: string) => boolean][]} */
  const judges = [
    ["bad", "scope_form", (each) => !isFormed(each)],
    ["info", "scope_case", (each) => isOpenID(each) && !ofOpenID.includes(each)],
    ["bad", "scope_bare", (each) => /^(?:api|https):\/\/[^/]+\/?$/i.test(each)],
    // MSAL.js asks B2C for tokens of the app itself so.
    ["info", "scope_client", (each) => isNative && guid.test(each)],
    // Also with those of another API: microsoft-authentication-library-for-js issues 1718 and 4071.
    ["bad", "scope_default", (each) => isDefault(each) && !ofAPIs.every(isDefault)],
    ["info", "scope_cloud", (each) => /^https:\/\/[\w-]{0,40}graph\./i.test(each) && cloudOf(URL.parse(each)?.hostname ?? "") !== cloud],
  ];
  for (const [level, rule, isOne] of judges) {
    const found = scopes.filter(isOne).slice(0, 5).join(" ");
    if (found) report(level, rule, { item: found, wanted: found.toLowerCase() });
  }
  if (isNative && !scopes.includes("openid")) report("info", "openid");
  if (isNative && !scopes.includes("offline_access")) report("info", "offline_access");
  const resources = new Map(ofAPIs.map(resource).map((each) => [spelled(each), each]));
  if (resources.size > 1) {
    report("info", "resources", { item: [...resources].map(([api, each]) => api && each || "Microsoft Graph").join(", ") });
  }
}

/** At v2.0 the scopes name the API; since March 2026 a resource that is another's is refused. */
function judgeResource(item, scope, report) {
  const apis = scope.split(/\s+/).filter((each) => each && !ofOpenID.includes(each.toLowerCase())).map(resource);
  if (apis.length === 0) report("info", "resource_alone", { item });
  else if (!apis.some((each) => spelled(each) === spelled(item))) {
    report("bad", "resource_other", { item, wanted: apis[0] || "https://graph.microsoft.com" });
  }
}
