// The request that a step stands for, as MSAL sends it, and the meaning of each of its parameters, a line each.

import { element, loadTexts, t } from "../base/page.js";
import { fine } from "../base/steps.js";

/** It stands for what is secret, or not known here. */
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

/** Whether the provider sent an error to the redirect URI, and no code: what is wrong with a code's own answer, the client finds out. */
const isRefused = (outcome) => !fine.has(outcome) && !["state_mismatch", "issuer_mismatch"].includes(outcome);

/**
 * The text of a step's request; null where it sends none. `settings` are those of the sign-in that it belongs to, and `client`
 * has what is public of the registration: its client ID and redirect URI, where they are known.
 */
export function request(kind, { endpoint, outcome }, settings, client = {}) {
  if (!endpoint) return null;
  const { client_id = hidden, redirect_uri = hidden } = client;
  const scope = settings?.scopes?.join(" ") ?? hidden;
  switch (kind) {
    case "authorize":
      return lines("GET", endpoint, {
        client_id,
        response_type: "code",
        redirect_uri,
        scope: `${scope} openid profile offline_access`,
        prompt: settings?.prompt,
        login_hint: settings?.login_hint && hidden,
        domain_hint: settings?.domain_hint,
        claims: settings?.claims,
        state: hidden,
        nonce: hidden,
        code_challenge: hidden,
        code_challenge_method: "S256",
      });
    case "callback":
      return lines("GET", endpoint, {
        ...(isRefused(outcome) ? { error: hidden, error_description: hidden } : { code: hidden }),
        state: hidden,
      });
    case "redeemed":
    case "unredeemed":
      return lines("POST", endpoint, {
        grant_type: "authorization_code",
        client_id,
        code: hidden,
        redirect_uri,
        code_verifier: hidden,
      }, form);
    case "refreshed":
    case "silent":
      return lines("POST", endpoint, { grant_type: "refresh_token", client_id, refresh_token: hidden, scope }, form);
    case "api":
      return lines("GET", endpoint, {}, { Authorization: `Bearer ${hidden}` });
    case "challenge":
      return `${
        lines("GET", endpoint, {}, { Authorization: `Bearer ${hidden}` })
      }\n\nHTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer error="insufficient_claims", claims="${hidden}"`;
    case "sign_out":
      return lines("GET", endpoint, { post_logout_redirect_uri: hidden, logout_hint: hidden, state: hidden });
    default:
      return null;
  }
}

// MARK: Parameters

/** The names of a request's parameters, in its order; the field with its token is one of them. */
export const names = (request) => [...request.matchAll(/^ *&?(\w+)=|^(Authorization): /gm)].map(([, name, field]) => name ?? field);

/** A list: each name with its meaning. */
export async function meanings(request) {
  await loadTexts("parameter");
  const rows = names(request).flatMap((name) => [element("dt", "mono", name), element("dd", "", t(`parameter.${name.toLowerCase()}`))]);
  return element("dl", "", ...rows);
}
