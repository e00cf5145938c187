// Reads what the admin center shows as "MSAL configuration", or what an app already has of it: Swift, Objective-C, JSON, or a
// property list. A value is known by what it is, and where that is not enough, by its name.

/** A name and the text or the list after it; a type may stand between them. */
const pair = /([A-Za-z_]\w{0,60})"?(?:\s{0,9}:\s{0,9}\[?[A-Za-z]\w{0,30}\]?)?\s{0,9}[:=]\s{0,9}(?:URL\(string:\s{0,9})?@?("(?:[^"\\\n]|\\.){0,500}"|\[[^\][]{0,1000}\])/g;

const texts = (list) => [...list.matchAll(/"([^"]*)"/g)].map(([, text]) => text);

/** The keys of a property list, in the form of the others. */
const flattened = (text) => text.replace(/<key>([^<]{0,60})<\/key>\s{0,99}<string>([^<]{0,500})<\/string>/g, '$1 = "$2"')
  .replace(/<key>([^<]{0,60})<\/key>\s{0,99}<array>([^[\]]{0,1000}?)<\/array>/g, (_, name, items) => `${name} = [${items.replace(/<string>([^<]*)<\/string>/g, '"$1", ')}]`);

const isPlaceholder = (text) => /enter_the|your[_ -]|<.*>|\[.*\]|\{.*\}/i.test(text);
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const loginHost = /(^|\.)(microsoftonline\.(com|us|cn)|ciamlogin\.com|b2clogin\.com)$/;

/** The bundle ID in a redirect URI or its scheme. */
const bundleOf = (text) => /^msauth\.([A-Za-z0-9.-]+)(?::\/\/auth)?$/.exec(text)?.[1];

/** What an authority says of its kind of tenant. */
function ofAuthority(text) {
  const { hostname, host, pathname } = new URL(text);
  const [, first, tenant, policy] = pathname.split("/");
  if (first === "tfp" || hostname.endsWith(".b2clogin.com")) {
    const [name, flow] = first === "tfp" ? [tenant, policy] : [first, tenant];
    return { kind: "b2c", host, ...(name && { tenant_name: name }), ...(flow && { sign_in_policy: flow }) };
  }
  return { kind: hostname.endsWith(".ciamlogin.com") ? "external" : "workforce", authority: text };
}

/** The names of values that cannot be told by themselves. */
const named = [
  ["tenant_name", /tenant_?name$/i], ["host", /host_?name$|^k?host$/i], ["sign_in_policy", /sign.*policy/i], ["edit_policy", /edit.*policy/i], ["reset_policy", /reset.*policy/i],
  ["api", /api.*endpoint|^kGraphURI$/i],
];

/** The values that a text has, as `remember` takes them; what it does not have is not among them. */
export function configuration(pasted) {
  const found = {};
  for (const [, name, value] of flattened(pasted.slice(0, 20_000)).matchAll(pair)) {
    if (value.startsWith("[")) {
      const list = texts(value).filter((text) => !isPlaceholder(text));
      if (/scope/i.test(name) && list.length > 0) found.scopes = list;
      if (/authorit/i.test(name) && URL.canParse(list[0])) Object.assign(found, ofAuthority(list[0]));
      const scheme = list.map(bundleOf).find(Boolean);
      if (scheme) found.bundle_id = scheme;
      continue;
    }
    const text = value.slice(1, -1);
    if (isPlaceholder(text)) continue;
    const bundle = bundleOf(text);
    const other = named.find(([, pattern]) => pattern.test(name));
    if (guid.test(text) && /client|app/i.test(name)) found.client_id = text.toLowerCase();
    else if (bundle) found.bundle_id = bundle;
    else if (/bundle/i.test(name) && /^[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+$/.test(text)) found.bundle_id = text;
    else if (other) found[other[0]] = text;
    else if (/^https:/.test(text) && URL.canParse(text) && (/authorit/i.test(name) || loginHost.test(new URL(text).hostname))) Object.assign(found, ofAuthority(text));
  }
  if (found.tenant_name && found.host) found.kind = "b2c";
  return found;
}
