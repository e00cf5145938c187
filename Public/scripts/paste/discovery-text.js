// The two documents in which an authority describes itself, and what MSAL for iOS and macOS needs of them.
//
// Source: MSIDAADOpenIdConfigurationInfoResponseSerializer.m, MSIDAADAuthorityMetadataResponseSerializer.m and MSIDAADAuthority.m in
// AzureAD/microsoft-authentication-library-common-for-objc at 39c211d.

import { objectOf } from "./kinds.js";

const endpoints = ["authorization_endpoint", "token_endpoint", "end_session_endpoint", "jwks_uri"];
const isText = (value) => typeof value === "string" && value !== "";
const hasPort = (name) => /:\d+$/.test(name);

/** Reads a document: { members: [[name, value]], found: [{ level, rule, … }] }; undefined for a text that is none. */
export function readDiscovery(text) {
  const document = objectOf(text);
  if (!document) return undefined;
  const found = [];
  const report = (level, rule, item = "") => found.push({ level, rule, item });
  const isInstance = "tenant_discovery_endpoint" in document || "metadata" in document;
  (isInstance ? judgeInstance : judgeConfiguration)(document, report);
  const names = isInstance ? ["tenant_discovery_endpoint", "metadata"] : ["issuer", ...endpoints];
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return { members: names.filter((name) => name in document).map((name) => [name, shown(document[name])]), found };
}

function judgeConfiguration(document, report) {
  for (const name of ["issuer", "authorization_endpoint", "token_endpoint"]) if (!isText(document[name])) report("bad", "missing", name);
  for (const name of endpoints) if (isText(document[name]) && !document[name].startsWith("https://")) report("bad", "https", name);
  if (!isText(document.end_session_endpoint)) report("info", "no_sign_out");
  if (!isText(document.jwks_uri)) report("info", "no_keys");
  if (String(document.issuer).includes("{tenantid}")) report("info", "template");
  if (Array.isArray(document.response_types_supported) && !document.response_types_supported.includes("code")) report("bad", "no_code");
}

function judgeInstance({ tenant_discovery_endpoint: address, metadata }, report) {
  if (!isText(address)) report("bad", "missing", "tenant_discovery_endpoint");
  else if (!address.startsWith("https://")) report("bad", "https", "tenant_discovery_endpoint");
  if (!Array.isArray(metadata) || metadata.length === 0) return report("bad", "missing", "metadata");
  for (const entry of metadata) {
    const { preferred_network: network, preferred_cache: cache, aliases } = entry ?? {};
    if (!isText(network)) report("bad", "missing", "preferred_network");
    if (!isText(cache)) report("bad", "missing", "preferred_cache");
    if (!Array.isArray(aliases) || !aliases.every(isText)) report("bad", "missing", "aliases");
    else for (const name of aliases.filter(hasPort)) if (!aliases.includes(name.replace(/:\d+$/, ""))) report("bad", "port", name);
  }
}
