// Reads what the admin center shows as "MSAL configuration", or what an app already has of it: Swift, Objective-C, JSON, or a
// property list. A value is known by what it is, and where that is not enough, by its name.

import { judgeAuthority } from "../base/authority-rules.js";
import { isRefused } from "./setup.js";

/** A name and the text or the list after it; a type may stand between them. */
const pair =
  /([A-Za-z_]\w{0,60})["']?(?:\s{0,9}:\s{0,9}\[?[A-Za-z]\w{0,30}\]?)?\s{0,9}[:=]\s{0,9}(?:URL\(string:\s{0,9})?@?("(?:[^"\\\n]|\\.){0,500}"|'(?:[^'\\\n]|\\.){0,500}'|\[[^\][{}]{0,1000}\])/g;

const texts = (list) => [...list.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, text, other]) => text ?? other);

/** The keys of a property list and the lines of an xcconfig file, in the form of the others. */
const flattened = (text) =>
  text.replace(
    /^[ \t]{0,20}([A-Z][A-Z\d_]{0,60})[ \t]{0,9}=[ \t]{0,9}([^\s"';[{][^\s"';]{0,500})[ \t]{0,9}$/gm,
    (_, name, value) => `${name} = "${value.replace(/\$\(\)/g, "")}"`,
  )
    .replace(/<key>([^<]{0,60})<\/key>\s{0,99}<string>([^<]{0,500})<\/string>/g, '$1 = "$2"')
    .replace(
      /<key>([^<]{0,60})<\/key>\s{0,99}<array>([^[\]]{0,1000}?)<\/array>/g,
      (_, name, items) => `${name} = [${items.replace(/<string>([^<]*)<\/string>/g, '"$1", ')}]`,
    );

const isPlaceholder = (text) => /enter_the|your[_ -]|<.*>|\[.*\]|\{.*\}/i.test(text);
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const loginHost = /(^|\.)(microsoftonline\.(com|us|cn)|ciamlogin\.com|b2clogin\.com)$/;

/** The bundle ID in a redirect URI or its scheme. */
const bundleOf = (text) => /^msauth\.([A-Za-z0-9.-]+)(?::\/\/auth)?$/.exec(text)?.[1];

/** The values in an authority, which says of what kind its tenant is. */
function ofAuthority(text) {
  const { hostname, host, pathname } = new URL(text);
  const [, first, tenant, policy] = pathname.split("/");
  if (first === "tfp" || hostname.endsWith(".b2clogin.com")) {
    const [name, flow] = first === "tfp" ? [tenant, policy] : [first, tenant];
    return { kind: "b2c", host, ...(name && { tenant_name: name }), ...(flow && { sign_in_policy: flow }) };
  }
  return { kind: hostname.endsWith(".ciamlogin.com") ? "external" : "workforce", authority: text };
}

/** The tenant that an audience of an Android or cross-platform configuration stands for. */
const audiences = {
  AzureADandPersonalMicrosoftAccount: "common",
  AzureADMultipleOrgs: "organizations",
  PersonalMicrosoftAccount: "consumers",
};

/** Leaves out values that the form would refuse. */
function accepted(found) {
  const authority = found.kind === "b2c"
    ? found.host && found.tenant_name && found.sign_in_policy && `https://${found.host}/tfp/${found.tenant_name}/${found.sign_in_policy}`
    : found.authority;
  if (authority && !judgeAuthority(authority, found.kind).isAccepted) {
    for (const name of ["kind", "authority", "host", "tenant_name", "sign_in_policy"]) delete found[name];
  }
  for (const name of ["bundle_id", "client_id"]) if (name in found && isRefused(name, found[name])) delete found[name];
  return found;
}

/** The names of values that cannot be told by themselves. */
const named = [
  ["tenant_name", /tenant_?name$/i],
  ["host", /host_?name$|^k?host$/i],
  ["sign_in_policy", /sign.*policy/i],
  ["edit_policy", /edit.*policy/i],
  ["reset_policy", /reset.*policy/i],
  ["api", /api.*endpoint|^kGraphURI$/i],
];

/** The values that a text has, as `remember` takes them; what it does not have is not among them. */
export function configuration(pasted) {
  const found = {};
  const pairs = [...flattened(pasted.slice(0, 20_000)).matchAll(pair)].map(([, name, value]) => [name, value]);
  const constants = new Map(pairs.map(([name, value]) => [name, value.slice(1, -1)]));
  const resolved = (text) =>
    text.replace(/\\\((?:\w{1,60}\.)?(\w{1,60})\)|\$\{?\(?(\w{1,60})\)?\}?/g, (all, name, other) => constants.get(name ?? other) ?? all);
  let [instance, tenant] = ["https://login.microsoftonline.com/"];
  for (const [name, value] of pairs) {
    if (value.startsWith("[")) {
      const list = texts(value).map(resolved).filter((text) => !isPlaceholder(text));
      if (/scope/i.test(name) && list.length > 0) found.scopes = list;
      if (/authorit/i.test(name) && URL.canParse(list[0])) Object.assign(found, ofAuthority(list[0]));
      const scheme = list.map(bundleOf).find(Boolean);
      if (scheme) found.bundle_id = scheme;
      continue;
    }
    const text = resolved(value.slice(1, -1));
    if (isPlaceholder(text) || /[$\\]\(/.test(text)) continue;
    const bundle = bundleOf(text);
    const other = named.find(([, pattern]) => pattern.test(name));
    if (guid.test(text) && /client|app/i.test(name)) found.client_id = text.toLowerCase();
    else if (bundle) found.bundle_id = bundle;
    else if (/bundle/i.test(name) && /^[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+$/.test(text)) found.bundle_id = text;
    else if (other) found[other[0]] = text;
    else if (/tenant_?id$/i.test(name) && /^[\w.-]+$/.test(text)) tenant = text;
    else if (audiences[text]) tenant ??= audiences[text];
    else if (/^scopes?$/i.test(name) && text.trim()) found.scopes = text.trim().split(/[\s,]+/);
    else if (/^https:/.test(text) && URL.canParse(text) && /^(?:.*_)?instance$/i.test(name)) instance = text;
    else if (/^https:/.test(text) && URL.canParse(text) && (/authorit/i.test(name) || loginHost.test(new URL(text).hostname))) {
      Object.assign(found, ofAuthority(text));
    }
  }
  if (found.tenant_name && found.host) found.kind = "b2c";
  if (tenant && !found.kind) Object.assign(found, ofAuthority(new URL(tenant, instance).href));
  return accepted(found);
}
