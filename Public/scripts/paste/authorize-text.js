// An authorization request as its address (RFC 6749 section 4.1.1, RFC 7636, OpenID Connect Core section 3.1.2.1), and what goes wrong
// in one of a native app.

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const prompts = ["login", "none", "consent", "select_account", "create"];
const required = ["client_id", "redirect_uri", "response_type", "scope", "state"];

/** MSAL's own, which no standard has. */
const ofMSAL = /^(?:x-client-|haschrome$|return-client-request-id$|instance_aware$|login_req$|domain_req$)/;

/** The key of the text that says what a parameter means. */
export const meaning = (name) => (ofMSAL.test(name) ? "msal" : name.replace(/-/g, "_"));

/** The API of a scope; empty for one of Microsoft Graph without its address, undefined for one of OpenID Connect. */
function resource(scope) {
  if (["openid", "profile", "email", "offline_access"].includes(scope)) return undefined;
  const end = scope.lastIndexOf("/");
  return end < 0 ? "" : scope.slice(0, end).replace(/^https:\/\/graph\.microsoft\.com$/i, "");
}

const lines = (text) => text.replace(/(?<!\s)\s+(?=[?&])|(?<=[?&=%])\s+/g, "");
const request = /(?:^|["'\s])(?:GET|POST|HEAD) (\/[^\s"']{1,8000})(?: HTTP\/[\d.]+)?/;
const host = /^Host:\s*([\w.:-]{1,200})\s*$/im;
const asks = /\/(?:authorize|adminconsent|logout|par)\/?(?:[?#]|$)|[?&]response_type=/i;

/**
 * The address of a request in a text: alone, broken over lines as documentation prints it, or in a line of a log. Undefined where there
 * is none. A log's line has no host; Microsoft's stands for it.
 */
export function addressIn(text) {
  // A log in which the first request comes later is a log.
  const whole = lines(text.slice(0, 100_000).replace(/^\uFEFF/, "").trim());
  if (/^https?:\/\/\S+$/i.test(whole)) return asks.test(whole) ? whole : undefined;
  const path = request.exec(whole)?.[1];
  if (path && asks.test(path)) return `https://${host.exec(whole)?.[1] ?? "login.microsoftonline.com"}${path}`;
  return whole.match(/(?<![\w+.-])https?:\/\/[^\s"'<>`]{1,8000}/gi)?.map((each) => each.replace(/[),.;\]]{1,3}$/, ""))
    .find((each) => each.includes("?") && asks.test(each));
}

/**
 * Reads the address: { authority, parameters: [[name, value]], found: [{ level, rule, … }] }; undefined for a text that is no address.
 * The bundle ID is the reader's own; empty where it is not known.
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
  if (/\/oauth2\/authorize\/?$/.test(url.pathname)) report("info", "version_1");
  const names = parameters.map(([name]) => name);
  for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index))) report("bad", "twice", { item: name });
  const values = Object.fromEntries([...parameters].reverse());
  const isPushed = "request_uri" in values;
  const needed = { adminconsent: ["client_id"], logout: [], par: [] }[kind] ?? (isPushed ? ["client_id"] : required);
  for (const name of needed) if (!values[name]) report("bad", "missing", { item: name });
  if (kind) report("info", kind);
  else if (isPushed) report("info", "pushed");
  else judge(values, { bundleID, comparesRedirect: comparesRedirect(url) }, report);
  if ("client_secret" in values) report("bad", "client_secret");
  return { authority: `${url.origin}${url.pathname}`, parameters, found };
}

function judge(values, app, report) {
  const { client_id: client, redirect_uri: redirect, response_type: type, scope, prompt } = values;
  if (client && !guid.test(client)) report("bad", "client_id", { item: client });
  if (type && type !== "code") report("bad", "response_type", { item: type });
  if (redirect) judgeRedirect(redirect, app, report);
  if (scope) judgeScopes(scope.split(/\s+/).filter(Boolean), report);
  if (!values.code_challenge) report("bad", "pkce");
  else if (values.code_challenge_method !== "S256") report("bad", "pkce_method");
  else if (!/^[\w-]{43}$/.test(values.code_challenge)) report("bad", "pkce_length");
  for (const each of (prompt ?? "").split(/\s+/).filter((each) => each && !prompts.includes(each))) report("bad", "prompt", { item: each });
  if (values.login_hint && prompt === "select_account") report("info", "hint");
}

/**
 * Whether MSAL refuses a redirect URI for its form (-42011): only for accounts of work or school, MSALPublicClientApplication.m:199 and :921
 * at fae6844. For B2C, External ID and consumers it takes any whose scheme is in Info.plist.
 */
const comparesRedirect = ({ hostname, pathname }) =>
  !/\.(?:ciamlogin|b2clogin)\.com$/i.test(hostname) && !/^\/(?:tfp\/|consumers\/)|\/b2c_1/i.test(pathname);

/**
 * As the common core compares, MSIDRedirectUri.m:86 and :92 at 39c211d: with msauth.<bundle ID>://auth as NSURL does, so that capitals
 * and a slash at the end count, or any scheme with the bundle ID as the host, letter for letter. Info.plist is searched for the scheme
 * as it is written (ios/MSIDRedirectUriVerifier.m).
 */
function judgeRedirect(redirect, { bundleID, comparesRedirect }, report) {
  const own = redirect.match(/^msauth\.([^:/?#]+):\/\/auth$/)?.[1];
  const host = redirect.match(/^(?!https?:)[a-z][a-z\d+.-]*:\/\/([^/?#:]*\.[^/?#:]*)(?:[/?#]|$)/i)?.[1];
  const wanted = `msauth.${bundleID || "‹bundle ID›"}://auth`;
  const refuse = (rule, values) => comparesRedirect ? report("bad", rule, values) : report("info", "redirect_any", { found: redirect });
  if (own) {
    if (bundleID && own !== bundleID) refuse("redirect_bundle", { found: own, item: bundleID });
  } else if (host && (!bundleID || host === bundleID)) {
    if (!bundleID && comparesRedirect) report("info", "redirect_host", { found: redirect, item: host });
  } else if (/^https?:/i.test(redirect)) report("info", "redirect_web", { found: redirect, item: wanted });
  else if (/^msal[0-9a-f-]{36}:\/\/auth\/?$/i.test(redirect)) report("info", "redirect_old", { found: redirect, item: wanted });
  else refuse("redirect_form", { found: redirect, item: wanted });
}

function judgeScopes(scopes, report) {
  if (!scopes.includes("openid")) report("info", "openid");
  if (!scopes.includes("offline_access")) report("info", "offline_access");
  const resources = new Set(scopes.map(resource).filter((each) => each !== undefined));
  if (resources.size > 1) report("info", "resources", { item: [...resources].map((each) => each || "Microsoft Graph").join(", ") });
}
