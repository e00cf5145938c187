// The reader's own values: typed once, kept in this browser, and put into everything that is made for the reader's app; and MSAL's verdict
// on an authority. On a shared device the values last as long as the page.

import { isShared, ofBrowser } from "./page.js";
import { cloudOf, demoClientID, demoOrigin, demoValues, graphRoot, isB2C, isUnknown, loginOf, policyPieces } from "./project.js";

const key = "values";
const followers = [];

/** The values that every kind of tenant has, as they are until something is typed. */
const common = { tenant: "mine", kind: "workforce", platform: "ios", bundle_id: "", client_id: "", demo_url: demoOrigin };

/** The same for the values that each kind of tenant has of its own. */
const ofKind = {
  workforce: { authority: "https://login.microsoftonline.com/common", scopes: ["user.read"], api: "" },
  external: { authority: "", scopes: [], api: "" },
  b2c: {
    host: "",
    tenant_name: "",
    sign_in_policy: "b2c_1_susi",
    edit_policy: "b2c_1_edit_profile",
    reset_policy: "b2c_1_reset",
    scopes: [],
    api: "",
  },
};

/** The types of what was kept are those of the defaults: another version of this page may have kept something else. */
const like = (defaults, kept) =>
  Object.fromEntries(
    Object.entries(defaults).map((
      [name, value],
    ) => [name, Array.isArray(value) === Array.isArray(kept?.[name]) && typeof kept?.[name] === typeof value ? kept[name] : value]),
  );

function read() {
  const found = isShared ? {} : ofBrowser.json(key, {});
  const values = like(common, found);
  if (!(values.kind in ofKind)) values.kind = common.kind;
  return { ...values, of: Object.fromEntries(Object.entries(ofKind).map(([kind, defaults]) => [kind, like(defaults, found.of?.[kind])])) };
}

/** @type {any} */
let kept = read();

/** The reader's values for the chosen kind of tenant; a page that is about one kind alone, or one platform, names it. */
export function own(page = {}) {
  const { of: kinds, ...values } = { ...kept, ...page };
  return { ...values, ...kinds[values.kind] };
}

const tell = () => followers.forEach((follower) => follower(own()));

/** Keeps these values beside the others. What belongs to a kind of tenant is kept for the kind of the page, else for the one that is chosen then. */
export function remember(changes, { kind = undefined } = {}) {
  const { of: kinds, ...before } = kept;
  const values = { ...before, ...Object.fromEntries(Object.entries(changes).filter(([name]) => name in common)) };
  const place = kind ?? values.kind;
  const own = Object.fromEntries(Object.entries(changes).filter(([name]) => name in ofKind[place]));
  kept = { ...values, of: { ...kinds, [place]: { ...kinds[place], ...own } } };
  if (!isShared) ofBrowser.set(key, JSON.stringify(kept));
  tell();
}

/** Calls this now and after each change, in another tab too. */
export function followValues(onChange) {
  followers.push(onChange);
  onChange(own());
}

addEventListener("storage", (event) => {
  if (isShared || event.key !== key) return;
  kept = read();
  tell();
});

// MARK: Filled in

const isBundleID = (text) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text);
const isClientID = (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** An address without the slash at its end; null if it is none. */
export function address(text) {
  try {
    const { protocol, host, pathname } = new URL(text);
    return /^https?:$/.test(protocol) ? `${protocol}//${host}${pathname}`.replace(/\/+$/, "") : null;
  } catch {
    return null;
  }
}

const policyAuthority = ({ host, tenant_name: tenant, sign_in_policy: policy }) => `https://${host}/tfp/${tenant}/${policy}`;

/** The origin of the tenant of this demo, to whose failures the bar of the page leads; undefined at a server that is no demo. */
export const ownTenant = document.querySelector('.rooms a[href*="/control?ui_locales="]')?.origin;

/** The demo's tenant, as `companion tenant` announces it. */
function demo({ kind, demo_url: url }) {
  const root = new URL(address(url) ?? demoOrigin);
  /** @type {any} */
  const values = demoValues(kind, root.origin);
  const more = {
    control: `${root.origin}/control`,
    root_url: `http://${root.hostname}:${Number(root.port || 443) + 1}/root.pem`,
    // The tenant of the demo whose page this is starts with it.
    own_demo: root.origin === ownTenant,
    named: `https://fabrikam.ciamlogin.${root.host}/fabrikam.example`,
  };
  return { ...(kind === "b2c" && { ...ofKind.b2c, ...policyPieces(values.authority) }), ...more, ...values };
}

/** These stand where the reader has typed nothing: a tenant's name has no default. */
const examples = {
  workforce: ofKind.workforce,
  external: {
    authority: "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
    scopes: ["api://Your_API_Client_ID/ToDoList.Read"],
    api: "https://api.example.com/tasks",
  },
  b2c: {
    ...ofKind.b2c,
    host: "contoso.b2clogin.com",
    tenant_name: "contoso.onmicrosoft.com",
    scopes: ["https://contoso.onmicrosoft.com/tasks/demo.read"],
    api: "https://api.example.com/hello",
  },
};

function mine(values) {
  const example = examples[values.kind];
  const isTyped = (name) => values[name]?.length > 0;
  const found = { ...example, ...Object.fromEntries(Object.keys(ofKind[values.kind]).filter(isTyped).map((name) => [name, values[name]])) };
  const hasPolicies = values.kind === "b2c";
  const authority = hasPolicies ? policyAuthority(found) : found.authority;
  return {
    ...found,
    authority,
    graph: graphRoot(authority),
    isNamed: (hasPolicies ? ["host", "tenant_name"] : ["authority"]).every(isTyped),
  };
}

/**
 * The values as templates need them: with what the demo's tenant has, with defaults, and with placeholders where one is missing or
 * cannot be right.
 *
 * `isComplete` is false while the bundle ID, the client ID or the tenant is a placeholder. `page` is that of `own`.
 */
export function filled(page) {
  const values = own(page);
  const { kind, platform, tenant } = values;
  const isDemo = tenant === "demo";
  const { isNamed = true, ...there } = isDemo ? demo(values) : mine(values);
  const hasBundle = isBundleID(values.bundle_id);
  const clientID = isDemo && hasBundle ? demoClientID(values.bundle_id) : values.client_id;
  const hasClient = isDemo ? hasBundle : isClientID(clientID);
  const isGood = judgeAuthority(there.authority, kind).isSound;
  const bundleID = hasBundle ? values.bundle_id : "Your_Bundle_ID";
  return {
    api: "",
    host: "",
    tenant_name: "",
    sign_in_policy: "",
    edit_policy: "",
    reset_policy: "",
    ...there,
    kind,
    platform,
    tenant,
    authority: isGood ? there.authority : (examples[kind].authority ?? policyAuthority(examples.b2c)),
    bundle_id: bundleID,
    client_id: hasClient ? clientID : "Your_Application_Client_ID",
    redirect_uri: `msauth.${bundleID}://auth`,
    // MSAL has nobody to ask about a B2C tenant, asks Microsoft about a workforce tenant, and asks nobody about an external one.
    known_authority: kind === "b2c" || isUnknown(kind, there.authority),
    isComplete: hasBundle && hasClient && isNamed && isGood,
  };
}

// MARK: Authorities

// MSAL's demands on an authority, and its verdict, as its sources have them (version 2.13.0); and, beside it, whether there can be such an
// address at all: MSAL compares forms and asks nobody.

/** Whether MSAL takes a host for an external tenant's: by its second part, whatever follows (MSIDCIAMAuthority.m:88). */
const isExternal = (host) => host.split(".")[1] === "ciamlogin";

/** The kind of tenant whose hosts have this name. */
export const kindOf = (host) => {
  if (isExternal(host)) return "external";
  if (isB2C(host)) return "b2c";
  return isUnknown("workforce", `https://${host}`) ? undefined : "workforce";
};

const segments = (url) => url.pathname.split("/").filter(Boolean);
const metadata = (authority) => `${authority}/v2.0/.well-known/openid-configuration`;

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const aliases = ["common", "organizations", "consumers"];

/** Whether an authority is for the accounts of several tenants. */
export const isAlias = (authority) => aliases.includes(URL.parse(authority)?.pathname.split("/")[1]?.toLowerCase());

/** The domains of a tenant's first name, which has letters and digits alone, 27 at the most. */
const initialDomain = /^(?:onmicrosoft\.(?:com|us|de)|partner\.onmschina\.cn)$/i;

/** Whether a host is the domain of a tenant, in any cloud that there is. */
const isTenantDomain = (host) => initialDomain.test(host.split(".").slice(1).join(".")) && !cloudOf(host)?.closed;

/** The authorities of each kind for the tenant with this domain. */
function hostsOf(host) {
  const [name, end] = [host.split(".")[0], host.split(".").at(-1)];
  return {
    host,
    normalized: `https://${loginOf(host)}/${host}`,
    external: `https://${name}.ciamlogin.${end}/`,
    b2c: `https://${name}.b2clogin.${end}/tfp/${host}/`,
  };
}

/** A name of a user flow or a custom policy. */
const isPolicy = (text) => /^b2c_1/i.test(text);

const judges = {
  workforce(url, report) {
    const [tenant, ...rest] = segments(url);
    if (!tenant) return report("bad", "tenant");
    if (tenant.toLowerCase() === "tfp" && rest.length > 1) return report("bad", "is_b2c");
    if (tenant.toLowerCase() === "adfs") return report("bad", "adfs");
    const authority = `https://${url.host}/${tenant}`;
    if (rest.length > 0) report("info", "rest", { normalized: authority });
    if (isUnknown("workforce", authority)) report("info", "known", { host: url.host });
    // Entra ID's answer is AADSTS900023.
    else if (!guid.test(tenant) && !tenant.includes(".") && !aliases.includes(tenant.toLowerCase())) {
      report("bad", "tenant_form", { tenant });
    }
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
      const [name] = url.hostname.split(".");
      const domain = cloudOf(url.hostname)?.domain;
      parts.push(`${name}.onmicrosoft.com`);
      if (guid.test(name)) report("bad", "guid_host", { tenant: parts[0], normalized: `https://${url.host}/${name}` });
      else if (domain) report("info", "ciam_cloud", { tenant: parts[0], normalized: `https://${url.host}/${name}.${domain}` });
      else report("info", "ciam_tenant", { tenant: parts[0] });
    } else if (isExternal(url.hostname) && aliases.includes(parts[0].toLowerCase())) {
      report("info", "ciam_alias", { tenant: parts[0], normalized: `https://${url.host}/` });
    }
    return [metadata([`https://${url.host}`, ...parts].join("/"))];
  },
  b2c(url, report) {
    const parts = segments(url);
    const isUsual = parts[0]?.toLowerCase() === "tfp";
    if (parts.length < (isUsual ? 3 : 2)) return report("bad", "policy");
    const names = parts.filter((each) => each.toLowerCase() !== "tfp");
    const normalized = (tenant, policy) => ({ normalized: `https://${url.host}/tfp/${tenant}/${policy}` });
    const [tenant, policy] = names;
    if (policy === undefined) report("bad", "policy");
    else if (parts.length > names.length + (isUsual ? 1 : 0)) report("info", "tfp_place", normalized(tenant, policy));
    else if (isPolicy(tenant) && !isPolicy(policy)) report("info", "policy_order", normalized(policy, tenant));
    else if (!isPolicy(policy)) report("info", "policy_name", { policy });
    else if (names.length > 2) report("info", "rest_b2c", normalized(tenant, policy));
    else if (!isUsual) report("info", "no_tfp");
    report("info", "known_b2c");
    return [metadata(`https://${url.host}/${parts.join("/")}`)];
  },
};

/** The cloud of the host, and a domain of the path that is in another; a name that no tenant can have. */
function judgeNames(url, report) {
  const { host, hostname } = url;
  const cloud = cloudOf(hostname);
  const { graph, also = "", portal } = cloud ?? {};
  if (cloud?.closed) report("bad", "cloud_closed", { host });
  else if (portal) report("info", "cloud", { host, cloud: cloud.id, graph: graph + also, portal });
  else if (cloud) report("info", "cloud_own", { host });
  for (const tenant of segments(url)) {
    const other = cloudOf(tenant);
    if (other && other !== cloud && (cloud || kindOf(hostname))) report("info", "cloud_domain", { tenant, host, cloud: other.id });
    const [name, ...rest] = tenant.split(".");
    if (guid.test(name) && initialDomain.test(rest.join("."))) {
      report("bad", "guid_domain", { tenant, normalized: url.href.replace(tenant, name) });
    }
  }
  if (isB2C(hostname) && guid.test(hostname.split(".")[0])) report("bad", "guid_b2c", { host });
}

/**
 * Judges what was typed for a kind of tenant.
 *
 * Returns { isAccepted, isSound, found: [{ level, rule, … }], requests }: what there is to know, the decisive first, and the addresses that
 * MSAL asks before the sign-in page opens. Nothing is asked here. What MSAL accepts is not sound where there can be no such address.
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
    const isDomain = isTenantDomain(url.hostname);
    if (isDomain) report("bad", "domain_host", hostsOf(url.hostname));
    // Of such an address nothing else is worth saying; MSAL compares its form alone.
    const say = isDomain ? () => [] : report;
    const other = kindOf(url.hostname);
    if (other && other !== kind) report("info", "other_kind", { host: url.hostname, kind: other });
    const [, before] = url.pathname.match(/^(.*?)(?:\/oauth2)?\/(?:v2\.0|\.well-known)(?:\/|$)/i) ?? [];
    requests = before === undefined ? judges[kind](url, say) : say("bad", "version", { normalized: `https://${url.host}${before}` });
    judgeNames(url, say);
  }
  const isAccepted = requests.length > 0;
  return { isAccepted, isSound: isAccepted && !found.some(({ level }) => level === "bad"), found, requests };
}
