// A signed token (JWT, RFC 7519 and RFC 7515), read and verified in the page. Nothing in a token decides what is fetched.

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
