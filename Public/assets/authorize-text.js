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

/**
 * Reads the address: { authority, parameters: [[name, value]], found: [{ level, rule, … }] }; undefined for a text that is no address.
 * The bundle ID is the reader's own; empty where it is not known.
 */
export function readAuthorization(text, bundleID = "") {
  let url;
  try {
    url = new URL(text.trim());
  } catch {
    return undefined;
  }
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const parameters = [...url.searchParams];
  const found = [];
  const report = (level, rule, more = {}) => found.push({ level, rule, ...more });
  if (url.protocol !== "https:") report("bad", "https", { item: url.host });
  if (/\/oauth2\/authorize\/?$/.test(url.pathname)) report("info", "version_1");
  const names = parameters.map(([name]) => name);
  for (const name of new Set(names.filter((name, index) => names.indexOf(name) !== index))) report("bad", "twice", { item: name });
  for (const name of required) if (!url.searchParams.get(name)) report("bad", "missing", { item: name });
  judge(Object.fromEntries([...parameters].reverse()), bundleID, report);
  return { authority: `${url.origin}${url.pathname}`, parameters, found };
}

function judge(values, bundleID, report) {
  const { client_id: client, redirect_uri: redirect, response_type: type, scope, prompt } = values;
  if (client && !guid.test(client)) report("bad", "client_id", { item: client });
  if ("client_secret" in values) report("bad", "client_secret");
  if (type && type !== "code") report("bad", "response_type", { item: type });
  if (redirect) judgeRedirect(redirect, bundleID, report);
  if (scope) judgeScopes(scope.split(/\s+/).filter(Boolean), report);
  if (!values.code_challenge) report("bad", "pkce");
  else if (values.code_challenge_method !== "S256") report("bad", "pkce_method");
  else if (!/^[\w-]{43}$/.test(values.code_challenge)) report("bad", "pkce_length");
  for (const each of (prompt ?? "").split(/\s+/).filter((each) => each && !prompts.includes(each))) report("bad", "prompt", { item: each });
  if (values.login_hint && prompt === "select_account") report("info", "hint");
}

function judgeRedirect(redirect, bundleID, report) {
  const own = redirect.match(/^msauth\.([^:/?#]+):\/\/auth\/?$/i)?.[1];
  const wanted = `msauth.${bundleID || "‹bundle ID›"}://auth`;
  if (own) {
    if (bundleID && own !== bundleID) report("bad", "redirect_bundle", { found: own, item: bundleID });
  } else if (/^msauth/i.test(redirect)) report("bad", "redirect_form", { found: redirect, item: wanted });
  else if (/^https?:/i.test(redirect)) report("info", "redirect_web", { found: redirect, item: wanted });
  else if (/^msal[0-9a-f-]{36}:\/\/auth\/?$/i.test(redirect)) report("info", "redirect_old", { found: redirect, item: wanted });
  else report("bad", "redirect_form", { found: redirect, item: wanted });
}

function judgeScopes(scopes, report) {
  if (!scopes.includes("openid")) report("info", "openid");
  if (!scopes.includes("offline_access")) report("info", "offline_access");
  const resources = new Set(scopes.map(resource).filter((each) => each !== undefined));
  if (resources.size > 1) report("info", "resources", { item: [...resources].map((each) => each || "Microsoft Graph").join(", ") });
}
