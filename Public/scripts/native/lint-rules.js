// MSAL's needs in an Info.plist or an entitlements file, and people's mistakes there. The templates of native.json say what
// is needed; this file names the mistakes. Everything that is not MSAL's stays as it is.

import { unwrapped } from "./lint-text.js";
import { add, addPair, items, pairs, readPlist, remove, replace, strings, valueOf, writePlist } from "./plist.js";
import { blocks } from "./setup.js";

// The files that people take for one of the two: of each, what MSAL needs in it. They are not corrected.

/** A value of JSON as a node of a property list; what is nested deeper than any such file is cut off. */
function node(value, depth = 0) {
  if (depth > 20) return { tag: "string", text: "" };
  if (Array.isArray(value)) return { tag: "array", nodes: value.map((each) => node(each, depth + 1)) };
  if (typeof value === "boolean") return { tag: String(value), text: "" };
  if (typeof value === "number") return { tag: "integer", text: String(value) };
  if (value === null || typeof value !== "object") return { tag: "string", text: String(value ?? "") };
  const nodes = Object.entries(value).flatMap(([name, each]) => [{ tag: "key", text: name }, node(each, depth + 1)]);
  return { tag: "dict", nodes };
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Expo's app.json: prebuild makes the two files of it, and config plugins may add to them. */
function appJSON(text, { judge, values, report }) {
  let app;
  try {
    app = JSON.parse(text);
  } catch {
    return report("bad", "no_json");
  }
  const ios = (app?.expo ?? app)?.ios;
  if (!isObject(ios)) return report("info", "no_ios", { item: "expo.ios" });
  const { bundleIdentifier: found } = ios;
  if (found !== values.bundle_id) {
    report("info", "bundle", { key: "expo.ios.bundleIdentifier", found: String(found ?? "–"), bundle_id: values.bundle_id });
  }
  for (const [file, name] of [["info", "infoPlist"], ["entitlements", "entitlements"]]) {
    const dict = node(isObject(ios[name]) ? ios[name] : {});
    for (const { level, rule, ...more } of judge(dict, file)) {
      if (rule === "missing") report("info", "plugin", { key: more.key, item: `expo.ios.${name}` });
      else report(level, rule, more);
    }
  }
}

const pod = /^\s*pod\s{1,9}['"]MSAL(?:\/[\w-]{1,40})?['"](?:\s{0,9},\s{0,9}['"]([^'"\n]{1,40})['"])?/m;
const constraint = /^\s*(~>|>=|<=|<|=)?\s*(\d{1,4})(?:\.(\d{1,4}))?/;

/** Podfile: the version of MSAL that it allows. */
function podfile(text, { report }) {
  const line = pod.exec(text);
  if (!line) return report("info", "no_pod");
  const [, relation = "=", major, minor = "0"] = constraint.exec(line[1] ?? "") ?? [];
  const isBelow = relation === "<" && Number(major) === 2 && Number(minor) === 0;
  if (major !== undefined && relation !== ">=" && (Number(major) < 2 || isBelow)) report("info", "old_pod", { found: line[1] });
}

const setting = (settings, name) => settings.match(new RegExp(`\\b${name} = "?([^";\\n]{1,300})"?;`))?.[1].trim();

/** A project file: the settings of each build of the app. */
function project(text, { values, report }) {
  const all = [...text.matchAll(/buildSettings = \{([^{}]*)\}/g)].map(([, settings]) => settings);
  const named = all.map((settings) => [settings, setting(settings, "PRODUCT_BUNDLE_IDENTIFIER")]).filter(([, id]) => id);
  const own = named.filter(([, id]) => id === values.bundle_id);
  const others = [...new Set(named.map(([, id]) => id))].filter((id) => !id.includes("$"));
  if (own.length === 0 && others.length > 0) {
    report("info", "bundle", { key: "PRODUCT_BUNDLE_IDENTIFIER", found: others.slice(0, 5).join(", "), bundle_id: values.bundle_id });
  }
  for (const [settings, id] of own) {
    if (!setting(settings, "CODE_SIGN_ENTITLEMENTS")) report("info", "no_entitlements", { found: id, key: "CODE_SIGN_ENTITLEMENTS" });
    if (setting(settings, "GENERATE_INFOPLIST_FILE") === "YES" && !setting(settings, "INFOPLIST_FILE")) {
      report("info", "no_info", { found: id, key: "INFOPLIST_FILE" });
    }
  }
}

const judges = { app_json: appJSON, podfile, project };

/** The findings about one of these files; `judge` has those about a dictionary as one of the two. */
function judgeOther(file, text, values, judge) {
  if (!(file in judges)) return [];
  const found = new Map();
  const report = (level, rule, more = {}) => void found.set(JSON.stringify([rule, more]), { level, rule, ...more });
  judges[file](text, { judge, values, report });
  return [...found.values()];
}

const templateIDs = { info: "info_plist", entitlements: "entitlements" };
const isEntitlement = (name) =>
  /^(?:com\.apple\.|keychain-access-groups$|aps-environment$|application-identifier$|get-task-allow$|beta-reports-active$)/.test(name);
const isInfo = (name) => /^(?:CFBundle|(?:LS|UI|NS|DT|ITS|WK|BG)[A-Z]|MinimumOSVersion$)/.test(name);
const isExport = (name) => ["method", "provisioningProfiles", "signingStyle", "uploadSymbols"].includes(name);
const prefix = "$(AppIdentifierPrefix)";
const queries = ["msauthv2", "msauthv3"];

/** Without the sandbox an app may connect to anything. */
const isSandboxed = (dict) => !["false", undefined].includes(valueOf(dict, "com.apple.security.app-sandbox")?.tag);

/** Property lists that are neither of the two, by what only they have. */
const isPrivacy = (name) => /^NSPrivacy(?:Tracking|TrackingDomains|CollectedDataTypes|AccessedAPITypes)$/.test(name);
const isFirebase = (name) => ["GOOGLE_APP_ID", "REVERSED_CLIENT_ID", "GCM_SENDER_ID"].includes(name);

/** The file that has these keys, by those that only it can have. An Info.plist is never empty, while Xcode's new entitlements file is. */
function fileOf(names) {
  if (names.some(isFirebase)) return "firebase";
  if (names.length > 0 && names.every(isPrivacy)) return "privacy";
  const [entitled, informed] = [isEntitlement, isInfo].map((has) => names.filter(has).length);
  if (names.length === 0 || entitled > informed) return "entitlements";
  if (informed > entitled) return "info";
  return entitled === 0 && names.some(isExport) ? "export_options" : "unsure";
}

/** A text as the system reads it, once Xcode has put values in the place of its variables. */
const read = (text, { bundle_id: bundleID }) =>
  text
    .replace(/\$[({](?:PRODUCT_BUNDLE_IDENTIFIER|CFBundleIdentifier)(?::rfc1034identifier)?[)}]/g, () => bundleID)
    .replace(/^(?:[A-Z0-9]{10}\.|\$[({](?:App|Team)IdentifierPrefix[)}])/, () => prefix);

const variable = /\$\([^()]{0,200}\)|\$\{[^{}]{0,200}\}|\\\([^()]{0,200}\)/;

/** Whether a text has a variable with some value of which it is what is wanted. */
function mayBe(text, item, values) {
  const bare = (each) => read(each, values).replace(prefix, "\0");
  const [first, ...rest] = bare(text.trim()).split(variable);
  const whole = bare(item);
  const last = rest.pop();
  if (last === undefined || !whole.startsWith(first) || !whole.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const next = whole.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return at + last.length <= whole.length;
}

/**
 * Reads a pasted file, finds what is wrong with it and corrects it. A correction adds, moves and renames; no key is lost.
 *
 * Returns { file, forms, found: [{ level, rule, … }], text }: the file is info, entitlements, or one that is not checked, and the text is
 * undefined where nothing is corrected. Throws PlistFault.
 */
export function lint(pasted, { platform, values }) {
  const { text, forms, other } = unwrapped(pasted);
  if (other) {
    return { file: other, forms, found: judgeOther(other, text, values, (dict, file) => judge(dict, file, { platform: "ios", values })) };
  }
  const dict = readPlist(text);
  const file = fileOf(pairs(dict).map(({ name }) => name.trim()));
  if (!(file in templateIDs)) return { file, forms, found: [] };
  if (file === "info" && isPart(dict)) return { file, forms, found: [{ level: "info", rule: "part" }] };
  const all = judge(dict, file, { platform, values });
  return { file, forms, found: all, text: all.some(({ level }) => level === "bad") ? writePlist(dict) : undefined };
}

/** Finds what is wrong in a dictionary, and corrects it. */
function judge(dict, file, { platform, values }) {
  const template = blocks(platform, values).find(({ id }) => id === templateIDs[file]);
  const wanted = template ? pairs(readPlist(template.text)) : [];
  const found = new Map();
  const report = (level, rule, more = {}) => found.set(JSON.stringify([rule, more]), { level, rule, ...more });
  judgeKeys(dict, wanted.map(({ name }) => name), file, report);
  const needed = wanted.filter(({ name }) => isSandboxed(dict) || !name.startsWith("com.apple.security."));
  for (const { name, value } of needed) shape(dict, name, value, report);
  (file === "info" ? info : entitlements)(dict, { platform, values, report });
  complete(dict, needed, values, report);
  return [...found.values()];
}

/** Extensions and frameworks have an Info.plist of their own, to which nothing of MSAL's belongs. */
const isPart = (dict) => valueOf(dict, "NSExtension") || /^(?:FMWK|XPC!|BNDL)$/.test(valueOf(dict, "CFBundlePackageType")?.text?.trim());

/** Keys with blanks, keys that stand twice, and those that belong into the other file. */
function judgeKeys(dict, wanted, file, report) {
  unblank(dict, wanted, report);
  const seen = new Set();
  for (const { name } of pairs(dict)) {
    if ((file === "info" ? isEntitlement : isInfo)(name)) report("info", file === "info" ? "in_info" : "in_entitlements", { key: name });
    else if (seen.has(name)) report("info", "twice", { key: name });
    seen.add(name);
  }
}

/** Takes the blanks out of the names that are needed. */
function unblank(dict, names, report) {
  for (const name of names.filter((name) => !valueOf(dict, name))) {
    const pair = pairs(dict).find((each) => each.name.trim() === name);
    if (!pair) continue;
    report("bad", "whitespace", { item: name });
    pair.key.text = name;
  }
}

function info(dict, { platform, values, report }) {
  const bundle = valueOf(dict, "CFBundleIdentifier");
  const found = bundle?.text?.trim();
  if (found && !found.includes("$")) {
    if (found !== values.bundle_id) report("info", "bundle", { key: "CFBundleIdentifier", found, bundle_id: values.bundle_id });
    else if (found !== bundle.text) {
      report("bad", "whitespace", { item: found });
      bundle.text = found;
    }
  }
  // On a Mac the web view itself recognizes the redirect URI, and no app asks for the broker.
  if (platform !== "ios") return;
  lift(dict, report);
  const types = items(valueOf(dict, "CFBundleURLTypes")).filter(({ tag }) => tag === "dict");
  for (const type of types) {
    unblank(type, ["CFBundleURLSchemes"], report);
    shape(type, "CFBundleURLSchemes", { tag: "array", nodes: [{ tag: "string" }] }, report);
  }
  judgeSchemes(types.map((type) => valueOf(type, "CFBundleURLSchemes")).filter((each) => each?.tag === "array"), values, report);
  judgeQueries(strings(valueOf(dict, "LSApplicationQueriesSchemes")), report);
}

/** The types of one scheme that stands in their place. */
const schemesOf = (scheme) => ({
  tag: "array",
  nodes: [{ tag: "dict", nodes: [{ tag: "key", text: "CFBundleURLSchemes" }, { tag: "array", nodes: [scheme] }] }],
});

/** Gives a key's value the form that is wanted: an array around what stands alone; a dictionary or an array keeps what it has. */
function shape(dict, key, value, report) {
  const there = valueOf(dict, key);
  if (!there || there.tag === value.tag) return;
  const isAlone = value.tag === "array" && value.nodes.some(({ tag }) => tag === there.tag);
  report(isAlone || !there.nodes ? "bad" : "info", "value", { key, found: shown(there), item: shown(value) });
  if (isAlone) replace(dict, there, { tag: "array", nodes: [there] });
  else if (there.tag === "string" && key === "CFBundleURLTypes" && there.text.trim()) replace(dict, there, schemesOf(there));
  else if (!there.nodes) replace(dict, there, value.tag === "array" ? { tag: "array", nodes: [] } : value);
}

/** Moves the schemes that stand beside the array in which they belong. */
function lift(dict, report) {
  const key = "CFBundleURLSchemes";
  const pair = pairs(dict).find(({ name }) => name === key);
  const types = valueOf(dict, "CFBundleURLTypes");
  if (!pair || (types && types.tag !== "array")) return;
  report("bad", "nested", { key, item: "CFBundleURLTypes" });
  remove(dict, new Set([pair.key, pair.value]));
  const type = { tag: "dict", nodes: [pair.key, pair.value] };
  if (types) add(types, type);
  else addPair(dict, "CFBundleURLTypes", { tag: "array", nodes: [type] });
}

/**
 * The schemes that are meant to be MSAL's and are not quite, the likeliest first: the mistake, and whether a scheme has it.
 * @type {[string, (text: string, item: string, values: any) => boolean][]}
 */
const almost = [
  ["whitespace", (text, item, values) => read(text.replace(/\s+/g, ""), values) === item],
  ["case", (text, item) => text.toLowerCase() === item.toLowerCase()],
  ["uri", (text) => /^msauth\.?[^:]*:/i.test(text)],
  ["placeholder", (text) => /^msauth\./i.test(text) && /your|bundle.?id|[[\]<>]/i.test(text)],
  ["other", (text) => /^msauth(\.|$)/i.test(text)],
];

/** The scheme of older versions, msal<client ID>: whole, in part, or with something in its place. */
const oldScheme = /^msal([0-9a-f-]{6,}|[-_]?[{[<$(].*|[-_]?(?:your|enter)?[-_]?(?:client|app)(?:lication)?[-_]?id.*)$/i;

/** A scheme is rewritten only where MSAL's is missing, and only one that is no app's own. */
function judgeSchemes(arrays, values, report) {
  const { bundle_id: bundleID, client_id: clientID } = values;
  const item = `msauth.${bundleID}`;
  for (const schemes of arrays) {
    const gone = new Set(strings(schemes).filter(({ text }) => queries.includes(text.trim().toLowerCase())));
    for (const { text } of gone) report("bad", "query_as_scheme", { found: text.trim(), item });
    remove(schemes, gone);
  }
  const all = arrays.flatMap(strings);
  for (const { text } of all) {
    const old = text.trim().match(oldScheme);
    const isOpen = old && variable.test(old[1]);
    if (old && !isOpen && !/^[0-9a-f-]{36}$/i.test(old[1])) report("info", "old_part", { found: text.trim(), item });
    else if (old) {
      report("info", isOpen || !clientID || old[1].toLowerCase() === clientID.toLowerCase() ? "old" : "old_client", {
        found: text.trim(),
        item,
        client_id: clientID,
      });
    }
  }
  if (all.some(({ text }) => read(text, values) === item)) return;
  const open = all.find(({ text }) => mayBe(text, item, values));
  if (open) return report("info", "variable", { found: open.text.trim(), item });
  for (const [rule, fits] of almost) {
    const scheme = all.find(({ text }) => fits(text.trim(), item, values));
    if (!scheme) continue;
    report("bad", rule, { found: scheme.text.trim(), item });
    scheme.text = item;
    return;
  }
  // It may be the app's own for something else.
  const own = arrays.find((schemes) => strings(schemes).some(({ text }) => text.trim() === bundleID));
  if (!own) return;
  report("bad", "no_msauth", { found: bundleID, item });
  add(own, { tag: "string", text: item });
}

function judgeQueries(found, report) {
  for (const meant of queries.filter((name) => !found.some(({ text }) => text === name))) {
    const query = found.find(({ text }) => text.trim().replace(/:\/*$/, "").toLowerCase() === meant);
    if (!query) continue;
    const text = query.text.trim();
    report("bad", text === meant ? "whitespace" : "query", { found: text, item: meant });
    query.text = meant;
  }
}

function entitlements(dict, { platform, values, report }) {
  const [own, others] = platform === "ios"
    ? ["com.microsoft.adalcache", "com.microsoft.identity.universalstorage"]
    : ["com.microsoft.identity.universalstorage", "com.microsoft.adalcache"];
  const groups = strings(valueOf(dict, "keychain-access-groups"));
  for (const { text } of groups) if (text.trim().endsWith(others)) report("info", "other_group", { found: others, item: own });
  const item = prefix + own;
  const isOwn = (text) => read(text, values) === item;
  if (!groups.some(({ text }) => isOwn(text))) {
    /** @type {[string, (text: string) => boolean][]} */
    const near = [
      ["whitespace", (text) => isOwn(text.trim())],
      ["prefix", (text) => text.trim() === own],
      ["dot", (text) => read(text.trim(), values) === `${prefix}.${own}`],
    ];
    const [rule, fits] = near.find(([, each]) => groups.some(({ text }) => each(text))) ?? [];
    const group = rule && groups.find(({ text }) => fits(text));
    const open = groups.find(({ text }) => mayBe(text, item, values));
    const shared = groups.find(({ text }) => !text.trim().endsWith(others));
    if (group) {
      const found = group.text.trim();
      group.text = rule === "whitespace" ? found : item;
      report("bad", rule, rule === "whitespace" ? { item: found } : { found, item });
    } else if (open) report("info", "variable", { found: open.text.trim(), item });
    else if (shared) report("info", "own_group", { found: shared.text.trim(), item });
  }
  if (platform === "macos" && !isSandboxed(dict)) report("info", "sandbox");
}

const shown = ({ tag }) => (["true", "false"].includes(tag) ? `<${tag}/>` : `<${tag}>`);

/** Adds what the template has and the file lacks. */
function complete(have, wanted, values, report) {
  for (const { name, value } of wanted) {
    const there = valueOf(have, name);
    if (!there) {
      report("bad", "missing", { key: name });
      addPair(have, name, value);
    } else if (there.tag === value.tag) {
      for (const item of items(value)) addMissing(there, item, name, values, report);
    }
  }
}

function addMissing(array, item, key, values, report) {
  const texts = (nodes) => nodes.map(({ text }) => read(text, values));
  const schemes = (node) => (node.tag === "dict" ? texts(strings(valueOf(node, "CFBundleURLSchemes"))) : []);
  const [wanted, there] = item.tag === "dict" ? [schemes(item), items(array).flatMap(schemes)] : [[item.text], texts(strings(array))];
  const isThere = (each) => there.includes(each) || there.some((text) => mayBe(text, each, values));
  const missing = wanted.filter((each) => !isThere(each));
  const isShared = key === "keychain-access-groups" &&
    there.some((text) => !/com\.microsoft\.(?:adalcache|identity\.universalstorage)$/.test(text));
  if (missing.length === 0 || isShared) return;
  report("bad", "item", { key, item: missing.join(", ") });
  add(array, item);
}
