// What MSAL needs in an Info.plist or an entitlements file, and what goes wrong there. The templates of native.json say what
// is needed; this file names the mistakes that people make.

import { blocks } from "./native-setup.js";
import { add, addPair, items, pairs, readPlist, remove, replace, strings, valueOf, writePlist } from "./plist.js";

const templateIDs = { info: "info_plist", entitlements: "entitlements" };
const isEntitlement = (name) => name.startsWith("com.apple.") || name === "keychain-access-groups";
const isInfo = (name) => /^(CFBundle|LS[A-Z]|UI[A-Z]|NS[A-Z])/.test(name);
const prefix = "$(AppIdentifierPrefix)";
const queries = ["msauthv2", "msauthv3"];

/** An Info.plist is never empty, while Xcode's new entitlements file is. */
function fileOf(names) {
  const entitlements = names.filter(isEntitlement).length;
  return names.length === 0 || entitlements > names.length - entitlements ? "entitlements" : "info";
}

/**
 * Reads a pasted file, finds what is wrong with it and corrects it.
 *
 * Returns { file: "info" or "entitlements", found: [{ level, rule, … }], text }; throws PlistFault.
 */
export function lint(pasted, { platform, values }) {
  const dict = readPlist(pasted);
  const file = fileOf(pairs(dict).map(({ name }) => name));
  const templates = Object.fromEntries(blocks(platform, values).map(({ id, text }) => [id, text]));
  const found = [];
  const report = (level, rule, more = {}) => found.push({ level, rule, ...more });
  pairsOf(dict, file, report);
  (file === "info" ? info : entitlements)(dict, { platform, values, report });
  complete(dict, readPlist(templates[templateIDs[file]]), report);
  return { file, found, text: writePlist(dict) };
}

/** Keys that stand twice, or that belong into the other file. */
function pairsOf(dict, file, report) {
  const seen = new Set();
  for (const pair of pairs(dict)) {
    const isAstray = file === "info" ? isEntitlement(pair.name) : isInfo(pair.name);
    if (isAstray) report("bad", file === "info" ? "in_info" : "in_entitlements", { key: pair.name });
    else if (seen.has(pair.name)) report("bad", "twice", { key: pair.name });
    if (isAstray || seen.has(pair.name)) remove(dict, pair.key, pair.value);
    seen.add(pair.name);
  }
}

function info(dict, { platform, values, report }) {
  const bundle = valueOf(dict, "CFBundleIdentifier")?.text?.trim();
  if (bundle && !bundle.includes("$") && bundle !== values.bundle_id) report("info", "bundle", { found: bundle, bundle_id: values.bundle_id });
  for (const type of items(valueOf(dict, "CFBundleURLTypes")).filter(({ tag }) => tag === "dict")) {
    const schemes = valueOf(type, "CFBundleURLSchemes");
    for (const scheme of strings(schemes)) judgeScheme(scheme, schemes, values, report);
  }
  if (platform !== "ios") return;
  for (const query of strings(valueOf(dict, "LSApplicationQueriesSchemes"))) {
    const text = query.text.trim();
    const meant = text.replace(/:\/*$/, "").toLowerCase();
    if (queries.includes(meant) && meant !== text) {
      report("bad", "query", { found: text, item: meant });
      query.text = meant;
    }
  }
}

/** A scheme that is meant to be the app's, and is not quite. */
function judgeScheme(scheme, schemes, { bundle_id: bundleID, client_id: clientID }, report) {
  const text = scheme.text.trim();
  const item = `msauth.${bundleID}`;
  const values = { found: text, item };
  if (queries.includes(text.toLowerCase())) {
    report("bad", "query_as_scheme", values);
    remove(schemes, scheme);
    return;
  }
  const old = text.match(/^msal([0-9a-f-]{36})$/i);
  if (old) return report("info", old[1].toLowerCase() === clientID.toLowerCase() ? "old" : "old_client", { ...values, client_id: clientID });
  if (!/^msauth(\.|$)/i.test(text) && !text.includes(bundleID)) return;
  const rest = text.replace(/^msauth\./i, "");
  if (/^\$[({](PRODUCT_BUNDLE_IDENTIFIER|CFBundleIdentifier)[)}]$/.test(rest)) {
    // Xcode puts the bundle id there.
    scheme.text = item;
    return;
  }
  if (text === item) return;
  const rule = text.includes(":") ? "uri" : /your|bundle.?id|[[\]<>]/i.test(rest) ? "placeholder" : text.toLowerCase() === item.toLowerCase() ? "case" : "other";
  report("bad", rule, values);
  scheme.text = item;
}

function entitlements(dict, { platform, report }) {
  const [own, others] = platform === "ios" ? ["com.microsoft.adalcache", "com.microsoft.identity.universalstorage"] : ["com.microsoft.identity.universalstorage", "com.microsoft.adalcache"];
  for (const group of strings(valueOf(dict, "keychain-access-groups"))) {
    const text = group.text.trim();
    if (text === own) {
      report("bad", "prefix", { found: text, item: prefix + own });
      group.text = prefix + own;
    } else if (/^[A-Z0-9]{10}\./.test(text) && text.slice(11) === own) {
      // The team's id in place of Xcode's variable.
      group.text = prefix + own;
    } else if (text.endsWith(others)) {
      report("info", "other_group", { found: others, item: own });
    }
  }
}

const shown = ({ tag }) => (["true", "false"].includes(tag) ? `<${tag}/>` : `<${tag}>`);

/** Adds what the template has and the file lacks. */
function complete(have, want, report) {
  for (const { name, value } of pairs(want)) {
    const there = valueOf(have, name);
    if (!there) {
      report("bad", "missing", { key: name });
      addPair(have, name, value);
    } else if (there.tag !== value.tag) {
      report("bad", "value", { key: name, found: shown(there), item: shown(value) });
      replace(have, there, value);
    } else {
      for (const item of items(value)) addMissing(there, item, name, report);
    }
  }
}

function addMissing(array, item, key, report) {
  const texts = (nodes) => nodes.map(({ text }) => text.trim());
  const schemes = (node) => (node.tag === "dict" ? texts(strings(valueOf(node, "CFBundleURLSchemes"))) : []);
  const [wanted, there] = item.tag === "dict" ? [schemes(item), items(array).flatMap(schemes)] : [[item.text], texts(strings(array))];
  const missing = wanted.filter((each) => !there.includes(each));
  if (missing.length === 0) return;
  report("bad", "item", { key, item: missing.join(", ") });
  add(array, item);
}
