// MSAL's demands on an authority, and its verdict, as its sources have them (version 2.13.0).

import { isUnknown } from "./project.js";

/** MSAL's class for the authorities of a kind of tenant. */
export const authorityClass = { workforce: "MSALAADAuthority", external: "MSALCIAMAuthority", b2c: "MSALB2CAuthority" };

/** Whether MSAL takes a host for an external tenant's: by its second part, whatever follows (MSIDCIAMAuthority.m:88). */
const isExternal = (host) => host.split(".")[1] === "ciamlogin";

/** The kind of tenant whose hosts have this name. */
export const kindOf = (
  host,
) => (isExternal(host)
  ? "external"
  : host.endsWith(".b2clogin.com")
  ? "b2c"
  : isUnknown("workforce", `https://${host}`)
  ? undefined
  : "workforce");

const segments = (url) => url.pathname.split("/").filter(Boolean);
const metadata = (authority) => `${authority}/v2.0/.well-known/openid-configuration`;

const judges = {
  workforce(url, report) {
    const [tenant, ...rest] = segments(url);
    if (!tenant) return report("bad", "tenant");
    if (tenant.toLowerCase() === "tfp" && rest.length > 1) return report("bad", "is_b2c");
    if (tenant.toLowerCase() === "adfs") return report("bad", "adfs");
    const authority = `https://${url.host}/${tenant}`;
    if (rest.length > 0) report("info", "rest", { normalized: authority });
    if (isUnknown("workforce", authority)) report("info", "known", { host: url.host });
    if (url.port) report("info", "port");
    const discovery = `https://${url.host}/common/discovery/instance?api-version=1.1&authorization_endpoint=${
      encodeURIComponent(`${authority}/oauth2/v2.0/authorize`)
    }`;
    return [discovery, metadata(authority)];
  },
  external(url, report) {
    if (!url.hostname.includes(".")) return report("bad", "dot", { host: url.hostname });
    const parts = segments(url);
    if (parts.length === 0 && isExternal(url.hostname)) {
      parts.push(`${url.hostname.split(".")[0]}.onmicrosoft.com`);
      report("info", "ciam_tenant", { tenant: parts[0] });
    }
    return [metadata([`https://${url.host}`, ...parts].join("/"))];
  },
  b2c(url, report) {
    const parts = segments(url);
    const isUsual = parts[0]?.toLowerCase() === "tfp";
    if (parts.length < (isUsual ? 3 : 2)) return report("bad", "policy");
    if (!isUsual) report("info", "no_tfp");
    report("info", "known_b2c");
    return [metadata(`https://${url.host}/${parts.join("/")}`)];
  },
};

/**
 * Judges what was typed for a kind of tenant.
 *
 * Returns { isAccepted, found: [{ level, rule, … }], requests }: what there is to know, the decisive first, and the addresses that
 * MSAL asks before the sign-in page opens. Nothing is asked here.
 */
export function judgeAuthority(text, kind) {
  const found = [];
  const report = (level, rule, more = {}) => {
    found.push({ level, rule, ...more });
    return [];
  };
  const url = /\s/.test(text) || !URL.canParse(text) ? null : new URL(text);
  let requests = [];
  if (!url?.host) report("bad", "unreadable");
  else if (url.protocol !== "https:") report("bad", "https");
  else {
    const other = kindOf(url.hostname);
    if (other && other !== kind) report("info", "other_kind", { host: url.hostname, kind: other });
    const [, before] = url.pathname.match(/^(.*?)\/(?:v2\.0|\.well-known)(?:\/|$)/i) ?? [];
    requests = before === undefined ? judges[kind](url, report) : report("bad", "version", { normalized: `https://${url.host}${before}` });
  }
  return { isAccepted: requests.length > 0, found, requests };
}
