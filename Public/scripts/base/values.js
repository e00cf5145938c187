// The reader's own values: typed once, kept in this browser, and put into everything that is made for the reader's app. On a shared
// device they last as long as the page.

import { judgeAuthority } from "./authority-rules.js";
import { isShared, ofBrowser } from "./page.js";
import { demoClientID, demoOrigin, demoValues, graphRoot, isUnknown, policyPieces } from "./project.js";

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

/** The demo's tenant, as `companion tenant` announces it. */
function demo({ kind, demo_url: url }) {
  const root = new URL(address(url) ?? demoOrigin);
  /** @type {any} */
  const values = demoValues(kind, root.origin);
  const more = { control: `${root.origin}/control`, root_url: `http://${root.hostname}:${Number(root.port || 443) + 1}/root.pem` };
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
  const isB2C = values.kind === "b2c";
  const authority = isB2C ? policyAuthority(found) : found.authority;
  return { ...found, authority, graph: graphRoot(authority), isNamed: (isB2C ? ["host", "tenant_name"] : ["authority"]).every(isTyped) };
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
