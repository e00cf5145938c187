// What MSAL needs in an Info.plist or an entitlements file, and what goes wrong there. The templates of native.json say what
// is needed; this file names the mistakes that people make. What is not MSAL's stays as it is.

import { blocks } from "./native-setup.js";
import { add, addPair, items, pairs, readPlist, remove, replace, strings, valueOf, writePlist } from "./plist.js";

const templateIDs = { info: "info_plist", entitlements: "entitlements" };
const isEntitlement = (name) => name.startsWith("com.apple.") || name === "keychain-access-groups";
const isInfo = (name) => /^(CFBundle|LS[A-Z]|UI[A-Z]|NS[A-Z])/.test(name);
const prefix = "$(AppIdentifierPrefix)";
const queries = ["msauthv2", "msauthv3"];

/** Without the sandbox an app may connect to anything. */
const isSandboxed = (dict) => !["false", undefined].includes(valueOf(dict, "com.apple.security.app-sandbox")?.tag);

/** An Info.plist is never empty, while Xcode's new entitlements file is. */
function fileOf(names) {
  const entitlements = names.filter(isEntitlement).length;
  return names.length === 0 || entitlements > names.length - entitlements ? "entitlements" : "info";
}

/** A text as the system reads it, once Xcode has put values in the place of its variables. */
const read = (text, { bundle_id: bundleID }) =>
  text
    .replace(/^msauth\.\$[({](?:PRODUCT_BUNDLE_IDENTIFIER|CFBundleIdentifier)[)}]$/, () => `msauth.${bundleID}`)
    .replace(/^(?:[A-Z0-9]{10}\.|\$[({](?:App|Team)IdentifierPrefix[)}])/, () => prefix);

/**
 * Reads a pasted file, finds what is wrong with it and corrects it.
 *
 * Returns { file: "info" or "entitlements", found: [{ level, rule, … }], text }; throws PlistFault.
 */
export function lint(pasted, { platform, values }) {
  const dict = readPlist(pasted);
  const file = fileOf(pairs(dict).map(({ name }) => name.trim()));
  const template = blocks(platform, values).find(({ id }) => id === templateIDs[file]);
  const wanted = template ? pairs(readPlist(template.text)) : [];
  const found = new Map();
  const report = (level, rule, more = {}) => found.set(JSON.stringify([rule, more]), { level, rule, ...more });
  judgeKeys(dict, wanted.map(({ name }) => name), file, report);
  (file === "info" ? info : entitlements)(dict, { platform, values, report });
  complete(dict, wanted.filter(({ name }) => isSandboxed(dict) || !name.startsWith("com.apple.security.")), values, report);
  return { file, found: [...found.values()], text: writePlist(dict) };
}

/** Keys with blanks, keys that stand twice, and those that belong into the other file. */
function judgeKeys(dict, wanted, file, report) {
  unblank(dict, wanted, report);
  const seen = new Set();
  const gone = new Set();
  for (const { key, name, value } of pairs(dict)) {
    const isAstray = file === "info" ? isEntitlement(name) : isInfo(name);
    if (isAstray) report("bad", file === "info" ? "in_info" : "in_entitlements", { key: name });
    else if (seen.has(name)) report("bad", "twice", { key: name });
    if (isAstray || seen.has(name)) gone.add(key).add(value);
    seen.add(name);
  }
  remove(dict, gone);
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
    if (found !== values.bundle_id) report("info", "bundle", { found, bundle_id: values.bundle_id });
    else if (found !== bundle.text) {
      report("bad", "whitespace", { item: found });
      bundle.text = found;
    }
  }
  // On a Mac the web view itself recognizes the redirect URI, and no app asks for the broker.
  if (platform !== "ios") return;
  const types = items(valueOf(dict, "CFBundleURLTypes")).filter(({ tag }) => tag === "dict");
  for (const type of types) unblank(type, ["CFBundleURLSchemes"], report);
  judgeSchemes(types.map((type) => valueOf(type, "CFBundleURLSchemes")).filter(Boolean), values, report);
  judgeQueries(strings(valueOf(dict, "LSApplicationQueriesSchemes")), report);
}

/** The schemes that are meant to be MSAL's and are not quite, the likeliest first: the mistake, and whether a scheme has it. */
const almost = [
  ["whitespace", (text, item, values) => read(text.replace(/\s+/g, ""), values) === item],
  ["case", (text, item) => text.toLowerCase() === item.toLowerCase()],
  ["uri", (text) => /^msauth\.?[^:]*:/i.test(text)],
  ["placeholder", (text) => /^msauth\./i.test(text) && /your|bundle.?id|[[\]<>]/i.test(text)],
  ["other", (text) => /^msauth(\.|$)/i.test(text)],
];

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
    const old = text.trim().match(/^msal([0-9a-f-]{36})$/i);
    if (old) report("info", !clientID || old[1].toLowerCase() === clientID.toLowerCase() ? "old" : "old_client", { found: text.trim(), item, client_id: clientID });
  }
  if (all.some(({ text }) => read(text, values) === item)) return;
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
  const [own, others] = platform === "ios" ? ["com.microsoft.adalcache", "com.microsoft.identity.universalstorage"] : ["com.microsoft.identity.universalstorage", "com.microsoft.adalcache"];
  const groups = strings(valueOf(dict, "keychain-access-groups"));
  for (const { text } of groups) if (text.trim().endsWith(others)) report("info", "other_group", { found: others, item: own });
  const isOwn = (text) => read(text, values) === prefix + own;
  if (!groups.some(({ text }) => isOwn(text))) {
    const blank = groups.find(({ text }) => isOwn(text.trim()));
    const bare = groups.find(({ text }) => text.trim() === own);
    if (blank) report("bad", "whitespace", { item: (blank.text = blank.text.trim()) });
    else if (bare) {
      report("bad", "prefix", { found: own, item: prefix + own });
      bare.text = prefix + own;
    }
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
    } else if (there.tag !== value.tag) {
      report("bad", "value", { key: name, found: shown(there), item: shown(value) });
      replace(have, there, value);
    } else {
      for (const item of items(value)) addMissing(there, item, name, values, report);
    }
  }
}

function addMissing(array, item, key, values, report) {
  const texts = (nodes) => nodes.map(({ text }) => read(text, values));
  const schemes = (node) => (node.tag === "dict" ? texts(strings(valueOf(node, "CFBundleURLSchemes"))) : []);
  const [wanted, there] = item.tag === "dict" ? [schemes(item), items(array).flatMap(schemes)] : [[item.text], texts(strings(array))];
  const missing = wanted.filter((each) => !there.includes(each));
  if (missing.length === 0) return;
  report("bad", "item", { key, item: missing.join(", ") });
  add(array, item);
}
