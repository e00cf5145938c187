// Authorization requests, discovery documents and tokens to paste: right ones, with what differs.

import { Buffer } from "node:buffer";
import { BUNDLE, CLIENT } from "./files.js";

export const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

export const UNSIGNED = `${part({ alg: "none", typ: "JWT" })}.${part({ sub: "somebody", aud: "api", jku: "https://keys.example/" })}.`;
const foreign = { alg: "RS256", kid: "https://keys.example/1", jku: "https://keys.example/", x5u: "https://keys.example/x" };
export const FOREIGN = `${part(foreign)}.${part({ iss: "https://issuer.example/", exp: 4000000000 })}.c2ln`;

const present = (values) => Object.entries(values).filter(([, value]) => value !== null);

/** A right request of a native app, with what differs; null takes a parameter out. */
export function address({ at = "https://login.microsoftonline.com/common/oauth2/v2.0/authorize", ...changes } = {}) {
  const values = {
    client_id: CLIENT,
    response_type: "code",
    redirect_uri: `msauth.${BUNDLE}://auth`,
    scope: "User.Read openid profile offline_access",
    state: "c3RhdGU",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", // RFC 7636, appendix B
    code_challenge_method: "S256",
    ...changes,
  };
  return `${at}?${present(values).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
}

export function configuration(changes = {}) {
  const at = "https://login.microsoftonline.com/common";
  const values = {
    issuer: "https://login.microsoftonline.com/contoso/v2.0",
    authorization_endpoint: `${at}/oauth2/v2.0/authorize`,
    token_endpoint: `${at}/oauth2/v2.0/token`,
    end_session_endpoint: `${at}/oauth2/v2.0/logout`,
    jwks_uri: `${at}/discovery/v2.0/keys`,
    response_types_supported: ["code"],
    ...changes,
  };
  return JSON.stringify(Object.fromEntries(present(values)));
}

/** The answer of instance discovery. */
export const instance = (aliases, changes = {}) =>
  JSON.stringify({
    tenant_discovery_endpoint: "https://localhost:8443/common/v2.0/.well-known/openid-configuration",
    metadata: [{ preferred_network: "localhost:8443", preferred_cache: "localhost:8443", aliases, ...changes }],
  });
