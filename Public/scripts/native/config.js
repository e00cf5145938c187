// Reads what the admin center shows as "MSAL configuration", or what an app already has of it: Swift, Objective-C, JSON, a property list,
// JavaScript, C#, YAML, or lines of settings. A value is known by what it is, and where that is not enough, by its name. What is seen and
// not taken is said.

import { judgeAuthority } from "../base/values.js";
import { cloudOf, graphOf, isB2C } from "../base/project.js";
import { isRefused } from "./setup.js";

/** A name and the text or the list after it; a type may stand between them. */
const pair =
  /([A-Za-z_]\w{0,60})["']?(?:[ \t]{0,9}:[ \t]{0,9}\[?[A-Za-z]\w{0,30}\]?)?\s{0,9}[:=]\s{0,9}(?:URL\(string:\s{0,9})?@?("(?:[^"\\\n]|\\.){0,500}"|'(?:[^'\\\n]|\\.){0,500}'|\[[^\][{}]{0,1000}\])/g;

const texts = (list) => [...list.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, text, other]) => text ?? other);

const identifier = String.raw`(?<![\w.$])[A-Za-z_$][\w.$]{0,60}`;
const literal = String.raw`"[^"\\\n]{0,300}"|'[^'\\\n]{0,300}'`;
const piece = `(?:${literal}|${identifier})`;
const chain = new RegExp(`${piece}(?:\\s{0,9}\\+\\s{0,9}${piece}){1,9}`, "g");

/** Texts and variables that are put together with +, as one text with the variables in it. */
const joined = (text) =>
  text.replace(chain, (all) => {
    const parts = all.match(new RegExp(piece, "g"));
    if (!parts.some((each) => /^["']/.test(each))) return all;
    return `"${parts.map((each) => (/^["']/.test(each) ? each.slice(1, -1) : `\\(${each})`)).join("")}"`;
  });

/** MSAL.NET's builder has its values in calls. */
const called = (text) =>
  text.replace(/ApplicationBuilder\s{0,99}\.Create\(\s{0,99}/g, "Builder client_id = ")
    .replace(
      /\.With((?:B2C|Oidc)?Authority|ClientSecret|RedirectUri|TenantId)\(\s{0,99}(?:new Uri\()?[$@]{0,2}(?!AzureCloudInstance)(?=["A-Za-z])/g,
      " $1 = ",
    );

/** Values that stand without quotation marks in a line of YAML or of settings. */
const bare = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|https?:\/\/\S+|[\w-]+(?:\.[\w-]+)+(?::\/\/\S*)?)$/i;

/** The keys of a property list and the lines of an xcconfig file, in the form of the others. */
const flattened = (text) =>
  text.replace(
    /^[ \t]{0,20}([A-Z][A-Z\d_]{0,60})[ \t]{0,9}=[ \t]{0,9}([^\s"';[{][^\s"';]{0,500})[ \t]{0,9}$/gm,
    (_, name, value) => `${name} = "${value.replace(/\$\(\)/g, "")}"`,
  )
    .replace(
      /^[ \t]{0,20}(?:export[ \t]|-[ \t])?([A-Za-z][\w.-]{0,60})[ \t]{0,9}[=:][ \t]{0,9}([^\s"'`,;[\]{}()<>#][^"'`,;[\]{}()<>\r\n]{0,500})$/gm,
      (all, name, value) => bare.test(value.trim()) || /scopes?$/i.test(name) ? `${name.replace(/[.-]/g, "_")} = "${value.trim()}"` : all,
    )
    .replace(/<key>([^<]{0,60})<\/key>\s{0,99}<string>([^<]{0,500})<\/string>/g, '$1 = "$2"')
    .replace(
      /<key>([^<]{0,60})<\/key>\s{0,99}<array>([^[\]]{0,1000}?)<\/array>/g,
      (_, name, items) => `${name} = [${items.replace(/<string>([^<]*)<\/string>/g, '"$1", ')}]`,
    );

const isPlaceholder = (text) => /enter_the|your[_ -]|<.*>|\[.*\]|\{.*\}/i.test(text);
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const loginHost = /(?:^|\.)(?:microsoftonline\.(?:com|us|cn)|(?:ciamlogin|b2clogin)\.(?:com|cn|us)|chinacloudapi\.cn)$/;

/** The bundle ID in a redirect URI or its scheme. */
const bundleOf = (text) => /^msauth\.([A-Za-z0-9.-]+)(?::\/\/auth)?$/.exec(text)?.[1];

/** The values in an authority, which says of what kind its tenant is. */
function ofAuthority(text) {
  const { hostname, host, pathname } = new URL(text);
  const parts = pathname.split("/").filter(Boolean);
  const names = parts.filter((each) => each.toLowerCase() !== "tfp");
  const [name, flow] = /^b2c_1/i.test(names[0]) && names[1] ? [names[1], names[0]] : names;
  if (names.length < parts.length || isB2C(hostname)) {
    return { kind: "b2c", host, ...(name && { tenant_name: name }), ...(flow && { sign_in_policy: flow }) };
  }
  return { kind: hostname.split(".")[1] === "ciamlogin" ? "external" : "workforce", authority: text };
}

/** The authority of an endpoint or of a discovery document, and what the address is; an authority is its own. */
function authorityIn(text) {
  const url = new URL(text);
  const rule = /\/\.well-known/i.test(url.pathname)
    ? "discovery"
    : /\/oauth2(?:\/|$)/i.test(url.pathname)
    ? "endpoint"
    : /\/v2\.0(?:\/|$)/i.test(url.pathname)
    ? "version"
    : undefined;
  const path = url.pathname.replace(/(?:\/oauth2(?=\/|$)|\/v2\.0(?=\/|$)|\/\.well-known).*$/i, "");
  const flow = url.searchParams.get("p");
  const authority = flow
    ? `https://${url.host}/tfp${path}/${flow}`
    : rule
    ? `https://${url.host}${path}`
    : text.replace(/^http:/i, "https:");
  return { authority, rule: flow ? "endpoint" : rule };
}

/** The tenant that an audience of an Android or cross-platform configuration stands for. */
const audiences = {
  AzureADandPersonalMicrosoftAccount: "common",
  AzureADMultipleOrgs: "organizations",
  PersonalMicrosoftAccount: "consumers",
};

const ofB2C = ["host", "tenant_name", "sign_in_policy"];

const authorityOf = (found) =>
  found.kind !== "b2c"
    ? found.authority
    : ofB2C.every((name) => found[name]) && `https://${found.host}/tfp/${found.tenant_name}/${found.sign_in_policy}`;

/** Of an authority, these say nothing that a configuration's reader would miss. */
const plain = ["rest", "known", "known_b2c", "port", "no_tfp", "ciam_tenant", "other_kind"];

/** Leaves out values that the form would refuse. The authority is judged as it was given. */
function accepted(found, given, report) {
  const authority = given ?? authorityOf(found);
  const { isSound, found: judged } = authority ? judgeAuthority(authority, found.kind) : { isSound: true, found: [] };
  for (const about of judged.filter(({ rule }) => !plain.includes(rule))) report(about.level, "authority", { about });
  if (!isSound) { for (const name of ["kind", "authority", ...ofB2C]) delete found[name]; }
  for (const name of ["bundle_id", "client_id"]) if (name in found && isRefused(name, found[name])) delete found[name];
}

/**
 * The names of values that cannot be told by themselves.
 * @type {[string, RegExp][]}
 */
const named = [
  ["tenant_name", /tenant_?name$/i],
  ["host", /host_?name$|^k?host$/i],
  ["sign_in_policy", /sign.*policy/i],
  ["edit_policy", /edit.*policy/i],
  ["reset_policy", /reset.*policy/i],
  ["api", /api.*endpoint|^kGraphURI$/i],
];

const isClientName = (name) => /(?:client|app|application)_?id$/i.test(name);

/** The field of the form for which a variable or a placeholder stands. */
const fieldOf = (name, text = "") =>
  isClientName(name)
    ? "client_id"
    : /redirect|bundle/i.test(name) || /^msa(?:l|uth)/i.test(text)
    ? "bundle_id"
    : /authorit|tenant|issuer|(?:auth\w*|token)_?(?:url|uri|endpoint)$/i.test(name) ||
        /^https:\/\/[^/]*(?:login|microsoftonline)/i.test(text)
    ? "authority"
    : undefined;

/** A variable alone, as the value of one of these names. */
const alone =
  /\b(\w{0,40}(?:client_?id|app_?id|application_?id|tenant_?id|authority|issuer|redirect_?ur[il]|bundle_?id))["']?\s{0,9}[:=]\s{0,9}([A-Za-z_$][\w.$]{0,80})(?=\s{0,9}(?:[,;)}\]]|\r?\n|$))/gi;
const notVariables = /^(?:true|false|null|nil|none|undefined|let|var|await|new|try|n?s?string|str|ur[il]|any|object|optional|guid)$/i;

const secret = /[\w.-]{0,40}(?:secret|password)[\w.-]{0,20}["']?\s{0,9}[:=]\s{0,9}@?["']?([^\s"',;<>()]{6,200})/gi;
const isVariable = (text) =>
  /^(?:process|os|env|config|settings|builder|Environment|getenv|String)\b|^[A-Z][A-Z\d_]*$|^[a-z_.]*secret[a-z_.]*$|[$%{\\]/i.test(text);

/**
 * Other libraries' and programs' configurations, by what only they have.
 * @type {[string, RegExp][]}
 */
const others = [
  ["AppAuth", /\bserviceConfiguration\b|OIDServiceConfiguration|AuthorizationServiceConfiguration|flutter_appauth|react-native-app-auth/],
  ["OidcClient", /\bOidcClientOptions\b/],
  ["Grafana", /^\[auth\.(?:azuread|generic_oauth)\]/m],
  ["Spring Security", /spring[.:]\s{0,9}(?:security|cloud)/],
  ["passport-azure-ad", /\bidentityMetadata\b/],
  ["NextAuth.js", /\bNextAuth\b|AZURE_AD_CLIENT_ID/],
];

/** MSAL adds these itself, and refuses them when they are passed to it. */
const reserved = ["openid", "profile", "offline_access"];

/**
 * Reads a text: { values, seen: [{ level, rule, … }] }: the values that it has, as `remember` takes them, and what was seen and not
 * taken. A secret is in neither.
 */
export function readConfiguration(pasted) {
  const found = {};
  const said = new Map();
  const report = (level, rule, more = {}) => void said.set(JSON.stringify([rule, more]), { level, rule, ...more });
  const text = flattened(joined(called(pasted.slice(0, 20_000))));
  const pairs = [...text.matchAll(pair)].map(([, name, value]) => [name, value]);
  const constants = new Map(pairs.map(([name, value]) => [name, value.slice(1, -1)]));
  const resolved = (value) =>
    value.replace(/\\\((?:\w{1,60}\.)?(\w{1,60})\)|\$\{?\(?(\w{1,60})\)?\}?/g, (all, name, other) => constants.get(name ?? other) ?? all);
  const open = new Map();
  const leave = (rule, field, item) => field && open.set(`${rule} ${item}`, { rule, field, item });
  let given;
  const putAuthority = (address) => {
    const { authority, rule } = authorityIn(address);
    const shown = address.replace(/[?#].*$/, "");
    if (/^http:/i.test(address)) report("bad", "http", { found: shown });
    // Several endpoints have the same authority.
    if (rule && ![...said.values()].some((each) => each.rule === rule && each.item === authority)) {
      report("info", rule, { found: shown, item: authority });
    }
    Object.assign(found, ofAuthority(authority));
    given = authority;
  };
  let [instance, tenant] = ["https://login.microsoftonline.com/", undefined];
  for (const [name, value] of pairs) {
    if (value.startsWith("[")) {
      const list = texts(value).map(resolved).filter((each) => !isPlaceholder(each));
      if (/scope/i.test(name) && list.length > 0) found.scopes = list;
      if (/authorit/i.test(name) && URL.canParse(list[0])) putAuthority(list[0]);
      const scheme = list.map(bundleOf).find(Boolean);
      if (scheme) found.bundle_id = scheme;
      continue;
    }
    const text = resolved(value.slice(1, -1));
    if (/secret|password/i.test(name)) continue;
    const variables = [...text.matchAll(/\\\(([\w.$]{1,80})\)|\$\{([^{}]{1,80})\}|\$\(([\w:]{1,80})\)/g)].map(([, a, b, c]) => a ?? b ?? c);
    if (variables.length > 0) {
      for (const each of variables) leave("variables", fieldOf(name, text), each);
      continue;
    }
    if (isPlaceholder(text)) {
      leave("placeholders", fieldOf(name), text);
      continue;
    }
    const bundle = bundleOf(text);
    const other = named.find(([, pattern]) => pattern.test(name));
    const isAddress = /^https?:/i.test(text) && URL.canParse(text);
    if (guid.test(text) && /client|app/i.test(name)) found.client_id = text.toLowerCase();
    else if (bundle) found.bundle_id = bundle;
    else if (/bundle/i.test(name) && /^[A-Za-z0-9.-]+\.[A-Za-z0-9.-]+$/.test(text)) found.bundle_id = text;
    else if (other) found[other[0]] = text;
    else if (/tenant(?:_?id)?$/i.test(name) && /^[\w.-]+$/.test(text)) tenant = text;
    else if (audiences[text]) tenant ??= audiences[text];
    else if (/scopes?$/i.test(name) && text.trim()) found.scopes = text.trim().split(/[\s,]+/);
    else if (/redirect|callback/i.test(name) && /^[a-z][\w.+-]*:/i.test(text)) report("info", "redirect", { found: text });
    else if (isAddress && /^(?:.*_)?instance$/i.test(name)) instance = text;
    else if (isAddress && !/jwks|keys|log_?out/i.test(name) && (/authorit/i.test(name) || loginHost.test(new URL(text).hostname))) {
      putAuthority(text);
    } else if (isClientName(name) && text.trim()) {
      const isSecret = /~|^[^-]{34,}$/.test(text);
      report("bad", isSecret ? "secret" : "client_id", isSecret ? {} : { found: text });
    }
  }
  if (found.tenant_name && found.host) found.kind = "b2c";
  if (tenant && !found.kind) Object.assign(found, ofAuthority(new URL(tenant, instance).href));
  const isSecretIn = [...text.matchAll(secret)].some(([, value]) =>
    !isVariable(value) && !isPlaceholder(value) && !notVariables.test(value)
  );
  if (isSecretIn) report("bad", "secret");
  const library = others.find(([, pattern]) => pattern.test(pasted.slice(0, 20_000)))?.[0];
  if (library) report("info", "library", { library });
  for (const [, name, value] of text.matchAll(alone)) {
    if (!notVariables.test(value) && !constants.has(value)) leave("variables", fieldOf(name), value);
  }
  const passed = found.scopes?.filter((each) => !reserved.includes(each));
  if (found.scopes && passed.length < found.scopes.length) {
    report("info", "reserved", { item: found.scopes.filter((each) => reserved.includes(each)).join(", ") });
    found.scopes = passed;
    if (passed.length === 0) delete found.scopes;
  }
  judgeGraph(found, report);
  accepted(found, given, report);
  const has = { client_id: found.client_id, bundle_id: found.bundle_id, authority: found.kind };
  for (const rule of ["variables", "placeholders"]) {
    const left = [...open.values()].filter((each) => each.rule === rule && !has[each.field]);
    if (left.length === 0) continue;
    report("info", rule, {
      item: [...new Set(left.map(({ item }) => item))].join(", "),
      fields: [...new Set(left.map(({ field }) => field))],
    });
    // Scopes alone are another app's as well as this one's.
    if (Object.keys(found).every((name) => name === "scopes")) delete found.scopes;
  }
  const seen = [...said.values()];
  if (seen.length === 0 && Object.keys(found).length === 0) seen.push({ level: "info", rule: "unread" });
  return { values: found, seen };
}

/** Tokens of a cloud are for its own Graph. */
function judgeGraph(found, report) {
  const authority = authorityOf(found);
  const host = authority && URL.parse(authority)?.hostname;
  for (const address of [found.api, ...(found.scopes ?? [])].filter((each) => /^https:\/\/[\w-]{0,40}graph\./i.test(each ?? ""))) {
    if (host && cloudOf(URL.parse(address)?.hostname ?? "") !== cloudOf(host)) {
      report("bad", "graph", { found: address, item: graphOf(host) });
    }
  }
}

/** The values that a text has; what it does not have is not among them. */
export const configuration = (pasted) => readConfiguration(pasted).values;
