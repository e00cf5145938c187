// A signed token (JWT, RFC 7519 and RFC 7515), read and verified in the page. Nothing in a token decides what is fetched.

import { cloudOf, graphOf, isB2C, loginOf } from "../base/project.js";

function bytes(part) {
  if (!/^[\w-]*$/.test(part) || part.length % 4 === 1) throw new TypeError("not base64url");
  return Uint8Array.from(atob(part.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
}

function object(part) {
  const made = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes(part)));
  if (made === null || typeof made !== "object" || Array.isArray(made)) throw new TypeError("not an object");
  return made;
}

/**
 * The parts of a compact token: { header, claims, input, signature }; of an encrypted one { header, isEncrypted }. Undefined for a text
 * that is no token.
 */
export function readToken(text) {
  const given = text.split(".", 6);
  const parts = given.map((part) => part.replace(/={1,2}$/, ""));
  try {
    const header = object(parts[0]);
    // Five parts alone do not make an encrypted token: two tokens without a blank between them have as many.
    if (parts.length === 5 && "enc" in header) return { header, isEncrypted: true };
    if (parts.length !== 3) return undefined;
    const isPadded = given.some((part) => part.endsWith("="));
    return { header, claims: object(parts[1]), input: `${parts[0]}.${parts[1]}`, signature: bytes(parts[2]), isPadded };
  } catch {
    return undefined;
  }
}

/** The type of a key alone determines how its signatures are made. */
const methods = {
  RSA: { alg: "RS256", from: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, with: "RSASSA-PKCS1-v1_5" },
  "EC P-256": { alg: "ES256", from: { name: "ECDSA", namedCurve: "P-256" }, with: { name: "ECDSA", hash: "SHA-256" } },
};
const methodOf = ({ kty, crv, alg }) => {
  const method = methods[kty === "EC" ? `EC ${crv}` : kty];
  return method && (alg ?? method.alg) === method.alg ? method : undefined;
};

const originOf = (address) => {
  try {
    return new URL(address).origin;
  } catch {
    return undefined;
  }
};

/** Whether the issuer that a token names is at the tenant that publishes the key. */
const isOwnIssuer = ({ issuer }, { iss }) => originOf(issuer) !== undefined && originOf(issuer) === originOf(iss);

/**
 * Whether a token's signature is right: { result, reason, … }, where the result is verified, wrong or unchecked.
 *
 * `keys` are those of the demo's tenant; undefined where this server has none, null where they could not be fetched.
 */
export async function checkSignature({ header, claims, input, signature, isEncrypted, isPadded }, keys) {
  if (isEncrypted) return { result: "unchecked", reason: "encrypted" };
  if (isPadded) return { result: "wrong", reason: "padded" };
  const { alg, kid } = header;
  if (typeof alg !== "string" || /^none$/i.test(alg)) return { result: "wrong", reason: "not_signed" };
  // Microsoft Graph's tokens are signed over a hash of this value.
  if ("nonce" in header) return { result: "unchecked", reason: "graph" };
  if (keys === undefined) return { result: "unchecked", reason: "no_demo" };
  if (keys === null) return { result: "unchecked", reason: "no_keys" };
  const key = keys.find((each) => typeof kid === "string" && each.kid === kid);
  if (!key) {
    return keys.some((each) => isOwnIssuer(each, claims))
      ? { result: "wrong", reason: "unknown_key" }
      : { result: "unchecked", reason: "other_issuer" };
  }
  const method = methodOf(key);
  if (!method) return { result: "unchecked", reason: "key_type" };
  if (alg !== method.alg) return { result: "wrong", reason: "algorithm", alg, expected: method.alg };
  if (!globalThis.crypto?.subtle) return { result: "unchecked", reason: "insecure" };
  const { kty, crv, n, e, x, y } = key;
  const made = await crypto.subtle.importKey("jwk", { kty, crv, n, e, x, y }, method.from, false, ["verify"]);
  const isRight = await crypto.subtle.verify(method.with, made, signature, new TextEncoder().encode(input));
  if (!isRight) return { result: "wrong", reason: "signature" };
  return isOwnIssuer(key, claims) ? { result: "verified", reason: "verified" } : { result: "wrong", reason: "issuer" };
}

/** Whether a token is valid now: { result, reason, time } with the time in seconds; undefined for one that names no times. */
export function checkTimes({ exp, nbf }, now = Date.now() / 1000) {
  if (typeof exp === "number" && now >= exp) return { result: "wrong", reason: "expired", time: exp };
  if (typeof nbf === "number" && now < nbf) return { result: "wrong", reason: "not_yet", time: nbf };
  return typeof exp === "number" ? { result: "verified", reason: "valid", time: exp } : undefined;
}

// MARK: Judgment

/** The tenant of all personal Microsoft accounts. */
const personalTenant = "9188040d-6c67-4c5b-b112-36a304b66dad";

/** Microsoft Graph as an audience, in each cloud, and Azure AD Graph, which has been retired. */
const graph =
  /^(?:00000003-0000-0000-c000-000000000000|https:\/\/(?:(?:dod-)?graph\.microsoft\.(?:com|us)|microsoftgraph\.chinacloudapi\.cn))\/?$/i;
const oldGraph = /^(?:00000002-0000-0000-c000-000000000000|https:\/\/graph\.(?:windows\.net|chinacloudapi\.cn|microsoftazure\.us))\/?$/i;

const hostOf = (address) => URL.parse(address)?.hostname ?? "";
const isTrue = (value) => value === true || /^(?:true|1)$/i.test(String(value));
const textOf = (value) => (typeof value === "string" ? value : "");

/** The user flow of B2C that issued a token; empty where only the issuer says that it was one. Undefined for all others. */
function flowOf({ tfp, acr, iss }) {
  const named = [tfp, acr].map(textOf).find((each) => /^b2c_1/i.test(each));
  return named ?? (isB2C(hostOf(iss)) || /\/tfp\//i.test(textOf(iss)) ? textOf(tfp) : undefined);
}

/**
 * A host or a domain of the national cloud that issued a token; the issuer's own host where it is of none. In the cloud for the US
 * government, the issuer of version 1 may be the worldwide one: then the API's address or the account's domain shows the cloud.
 */
function placeOf({ iss, aud, upn, unique_name: unique }) {
  const host = hostOf(iss);
  const names = [hostOf(aud), ...[upn, unique].map((each) => textOf(each).split("@").at(-1))];
  return (host === "sts.windows.net" && names.find(cloudOf)) || host;
}

/** The parties that issue tokens, by the issuer's host; undefined for all but Microsoft's. */
function platformOf({ iss, ver }) {
  const host = hostOf(iss);
  if (host.split(".")[1] === "ciamlogin" || host.startsWith("ciamlogin.")) return "external";
  if (/^sts\.(?:windows\.net|chinacloudapi\.cn)$/.test(host)) return "version_1";
  const isOwn = /^login\.(?:microsoftonline\.(?:com|us)|partner\.microsoftonline\.cn|chinacloudapi\.cn)$/.test(host);
  return isOwn ? (String(ver) === "1.0" ? "version_1" : "version_2") : undefined;
}

/** Whether the person is at home in another tenant. */
const isGuest = ({ acct, idp, tid, upn, unique_name: unique, preferred_username: preferred }) =>
  String(acct) === "1" || [upn, unique, preferred].some((each) => /#EXT#|^live\.com#/i.test(textOf(each))) ||
  (textOf(idp) !== "" && !textOf(idp).includes(tid) && /^https:\/\/sts\.|^(?:live\.com|mail)$/.test(idp));

/**
 * The nature of a token and its lacks: [{ level, rule, … }], of which each answers a question that brings people to a token. Its name is id or access
 * where the text around it told.
 */
export function judgeToken({ claims }, name) {
  const found = [];
  const report = (rule, more = {}) => found.push({ level: "info", rule, ...more });
  const { aud, iss, tid, ver, scp, roles, azp, appid, oid, sub, idtyp } = claims;
  const platform = platformOf(claims);
  const flow = flowOf(claims);
  const audience = textOf(aud);
  const isForGraph = graph.test(audience);
  const isAccess = name === "access" ||
    (name !== "id" && ([scp, roles && azp, appid, idtyp].some(Boolean) || /^(?:api|https?):/.test(audience)));
  const place = placeOf(claims);
  const root = graphOf(place);

  if (isForGraph) report("for_graph");
  else if (oldGraph.test(audience)) report("for_old_graph", { graph: root });
  if (isTrue(claims.hasgroups) || JSON.stringify(claims._claim_names ?? "").includes("groups")) {
    const person = isAccess && !isForGraph && oid ? `users/${oid}` : "me";
    report("overage", { address: `${root}v1.0/${person}/transitiveMemberOf/microsoft.graph.group` });
  }
  if (flow !== undefined) {
    report("b2c", { item: flow || "–" });
    if (!isAccess && !claims.emails && !claims.email) report("no_emails");
    return found;
  }
  if (tid === personalTenant || textOf(iss).includes(personalTenant)) report("personal", { tenant: personalTenant });
  if (platform === undefined) return found;
  if (platform === "external") report("external", { iss });
  const isApp = idtyp === "app" || (isAccess && !scp && oid !== undefined && oid === sub);
  if (isApp) report("app_only");
  else if (platform !== "external" && isGuest(claims)) report("guest", { tid });
  if (isAccess && !isForGraph && !oldGraph.test(audience)) {
    if (platform === "version_1") report("version_1", { iss, aud: audience, wanted: `https://${loginOf(place)}/${tid}/v2.0` });
    else if (String(ver) === "2.0") report("version_2", { iss, aud: audience });
  } else if (!isAccess && platform === "version_1") report("version_1_id", { iss });
  if (!isAccess && !claims.email) report("no_email");
  if (!isAccess && !oid) report("no_profile");
  return found;
}
