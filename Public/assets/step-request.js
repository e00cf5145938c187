// The request that a step of a flow stands for, as MSAL sends it. What is secret, or not known here, is left out as "…".

const hidden = "…";

function lines(method, address, fields, headers = {}) {
  const url = new URL(address);
  const given = Object.entries(fields).filter(([, value]) => value);
  const isGet = method === "GET";
  return [
    `${method} ${url.pathname}${isGet && given.length > 0 ? "?" : ""}`,
    ...(isGet ? given.map(([name, value], index) => `  ${index > 0 ? "&" : ""}${name}=${value}`) : []),
    `Host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(isGet ? [] : ["", ...given.map(([name, value], index) => `${index > 0 ? "&" : ""}${name}=${value}`)]),
  ].join("\n");
}

const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** The text of a step's request; null where it sends none. `settings` are those of the sign-in that it belongs to. */
export function request(kind, { endpoint }, settings) {
  if (!endpoint) return null;
  const scope = settings?.scopes?.join(" ") ?? hidden;
  switch (kind) {
    case "authorize":
      return lines("GET", endpoint, {
        client_id: hidden, response_type: "code", redirect_uri: hidden, scope: `${scope} openid profile offline_access`, prompt: settings?.prompt,
        login_hint: settings?.login_hint && hidden, domain_hint: settings?.domain_hint, claims: settings?.claims, state: hidden, nonce: hidden,
        code_challenge: hidden, code_challenge_method: "S256",
      });
    case "callback":
      return lines("GET", endpoint, { code: hidden, state: hidden });
    case "redeemed":
      return lines("POST", endpoint, { grant_type: "authorization_code", client_id: hidden, code: hidden, redirect_uri: hidden, code_verifier: hidden }, form);
    case "refreshed":
    case "silent":
      return lines("POST", endpoint, { grant_type: "refresh_token", client_id: hidden, refresh_token: hidden, scope }, form);
    case "api":
      return lines("GET", endpoint, {}, { Authorization: `Bearer ${hidden}` });
    case "sign_out":
      return lines("GET", endpoint, { post_logout_redirect_uri: hidden, logout_hint: hidden, state: hidden });
    default:
      return null;
  }
}
