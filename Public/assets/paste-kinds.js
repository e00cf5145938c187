// Recognizes the kind of a pasted text by its beginning or its form, so that this takes a moment however long the text is.

const jws = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;
const jwe = /^eyJ[\w-]*\.[\w-]*\.[\w-]+\.[\w-]+\.[\w-]+$/;

/** A JSON object; undefined for anything else. */
export function objectOf(text) {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The token in a text that is one, alone, behind “Bearer” or in a token response; undefined where there is none. */
export function tokenIn(text) {
  const bare = text.replace(/^\s*(?:Authorization:\s*)?(?:Bearer\s+)?["']?/i, "").replace(/\s+/g, "").replace(/["',;]{0,3}$/, "");
  if (jws.test(bare) || jwe.test(bare)) return bare;
  const { id_token: id, access_token: access } = objectOf(text) ?? {};
  return [id, access].find((each) => typeof each === "string" && (jws.test(each) || jwe.test(each)));
}

const isFile = (text) => /^(?:\uFEFF)?\s*(?:bplist|<\?xml|<!DOCTYPE plist|<plist|<dict|<key|<!--)/i.test(text);
const isAddress = (text) => /^\s*https?:\/\/\S+$/.test(text.trimEnd()) && (/\/authorize\b/.test(text) || /[?&]response_type=/.test(text));
const isDiscovery = (text) => ["authorization_endpoint", "token_endpoint", "jwks_uri", "tenant_discovery_endpoint"].some((name) => name in (objectOf(text) ?? {}));

/** The kind of a text: file, token, address, discovery, or error for all that is none of these. */
export function kindOf(text) {
  if (isFile(text)) return "file";
  if (tokenIn(text)) return "token";
  if (isAddress(text)) return "address";
  return isDiscovery(text) ? "discovery" : "error";
}

/** All kinds, in the order in which they are offered. */
export const kinds = ["error", "file", "token", "address", "discovery"];
