// The form in which a file is pasted: in a Markdown fence, as a diff, escaped for HTML, printed by codesign, in the middle of a question, or
// another file altogether.

const known = /^(?:bplist|<\?xml|<!DOCTYPE plist|<plist|<dict|<key|<!--)/i;

/**
 * The other files that people take for one of the two, by what only they have. Of the first three, what MSAL needs is checked.
 * @type {[string, RegExp][]}
 */
const others = [
  ["project", /^\/\/ !\$\*UTF8\*\$!|\bisa = (?:PBX|XC)[A-Z]\w|^\s*PRODUCT_BUNDLE_IDENTIFIER = /m],
  ["podfile", /^\s*(?:pod ['"]|platform :(?:ios|osx)\b|use_frameworks!)/m],
  ["capacitor", /^\s*\{[\s\S]{0,2000}"webDir"\s{0,9}:|\bCapacitorConfig\b/],
  ["tauri", /^\s*\{[\s\S]{0,2000}(?:schema\.tauri\.app|"tauri"\s{0,9}:|"beforeDevCommand"\s{0,9}:)/],
  ["app_json", /^\s*\{[^{}]{0,400}"(?:expo|ios)"\s{0,9}:\s{0,9}\{/],
  ["firebase", /^\s*\{[\s\S]{0,2000}(?:"project_info"\s{0,9}:|"mobilesdk_app_id"\s{0,9}:)/],
  ["msal_android", /^\s*\{[\s\S]{0,2000}"(?:broker_redirect_uri_registered|account_mode)"\s{0,9}:/],
  ["package_json", /^\s*\{[\s\S]{0,2000}"(?:dev|peer)?[dD]ependencies"\s{0,9}:\s{0,9}\{/],
  ["android", /^\s*android:[a-z]\w{0,40}\s{0,9}=\s{0,9}"/],
  ["gradle", /^\s*(?:apply plugin:|(?:plugins|android|buildscript|dependencies|defaultConfig)[ \t]{0,9}\{|implementation[ \t(]{0,9}['"])/m],
  ["pubspec", /^(?:flutter:[ \t]*$|environment:[ \t]*\r?\n[ \t]{1,9}sdk:|dependencies:[ \t]*\r?\n[ \t]{1,9}flutter:)/m],
  [
    "generator",
    /^\s*(?:- )?(?:CFBundle[A-Z]\w{0,60}|LSApplicationQueriesSchemes|infoPlist|keychain-access-groups)["']?:[ \t]*(?:\[|$)|\bimport ProjectDescription\b/m,
  ],
  ["source", /^\s*(?:import (?:UIKit|SwiftUI|Foundation|MSAL|PackageDescription)\b|[@#]import\b|\/\/ swift-tools-version)/],
];

/** The same for XML, by its first element. */
const roots = {
  android: ["manifest", "application", "activity", "activity-alias", "intent-filter", "action", "category", "queries", "resources"],
  cordova: ["widget", "plugin", "platform", "config-file", "edit-config"],
  interface: ["document"],
  maui: ["Project", "PropertyGroup", "ItemGroup"],
};

const first = /^(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->|<!DOCTYPE[^>]*>)*<([A-Za-z][\w.:-]*)/;

/** The other file that a text is; undefined for a property list, and for what is none. */
function otherIn(text) {
  const start = text.slice(0, 20_000);
  const root = first.exec(start)?.[1];
  if (root === "data" && /^[^>]{0,400}\sandroid:/.test(start)) return "android";
  if (root) return Object.keys(roots).find((name) => roots[name].includes(root));
  return known.test(text) ? undefined : others.find(([, form]) => form.test(start))?.[0];
}

/** A property list's values in an element that no property list has. */
const strange = /^<([A-Za-z][\w.-]{0,80})>\s{0,99}<(?:key|dict|array|string)\b/;

/** The beginning of a property list, or of a fence with one, at the beginning of a line. */
const starts = [
  /^[ \t]{0,9}(?:<\?xml\b[^>]{0,200}>\s{0,99})?<(?:!DOCTYPE plist|plist|dict|key)\b/m,
  /^(?:```|~~~)[^\n]{0,99}\n\s{0,99}(?:<(?:\?xml|!DOCTYPE plist|plist|dict|key)\b|[+-][ \t]{0,99}<)/m,
];

/** The place at which a file begins behind words of a person; 0 where there are none. */
export function beginning(text) {
  if (known.test(text) || otherIn(text)) return 0;
  const places = starts.map((each) => text.search(each)).filter((place) => place > 0);
  return places.length > 0 ? Math.min(...places) : 0;
}

/** Pairs that have no property list around them, up to the end of the last value; words of a person follow, and no key or comment. */
const pairs = /^<(?:key|dict)\b[\s\S]*<(?:\/(?:array|dict|string|integer|real|date|data)|(?:array|dict|string|true|false)\s?\/)>/;
const ending = (text) => {
  const end = pairs.exec(text)?.[0].length ?? text.length;
  return /<(?:key|dict|array|string|!--)/.test(text.slice(end)) ? text.length : end;
};

const escapes = { lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'", amp: "&" };

/**
 * Takes a form off: its name, whether a text has it, and the text inside.
 * @type {[string, { test(text: string): boolean }, (text: string) => string][]}
 */
const wraps = [
  ["fence", /^(?:```|~~~)/, (text) => text.replace(/^(?:```|~~~)[^\n]*\n?/, "").replace(/\n?(?:```|~~~)[\s\S]*$/, "")],
  [
    "diff",
    /^(?:diff --git |--- |@@ |[+-]\s{0,99}<)/,
    (text) =>
      text.split("\n").filter((line) => !/^(?:-|\+\+\+ |@@ |diff |index |new file |\\ )/.test(line)).map((line) =>
        line.replace(/^[+ ]/, "")
      )
        .join("\n"),
  ],
  ["escaped", /^&lt;[?!a-z]/i, (text) => text.replace(/&(lt|gt|quot|#34|#39|amp);/g, (_, name) => escapes[name])],
  ["codesign", /^(?:Executable=[^\n]*\s+)?\[Dict\]/, (text) => ofCodesign(text)],
  ["codesign", /^Executable=[^\n]*\s+(?:<|.{0,8}<\?xml)/, (text) => text.slice(text.indexOf("<"))],
  ["prose", { test: (text) => beginning(text) > 0 }, (text) => text.slice(beginning(text))],
  ["prose", /^(?:<|[^\n]{0,200}\n<)[\s\S]*<\/plist>\s*[^\s<]/, (text) => text.slice(0, text.indexOf("</plist>") + "</plist>".length)],
  ["prose", { test: (text) => ending(text) < text.length }, (text) => text.slice(0, ending(text))],
  ["prose", /^(?:>[^\n]*(?:\n|$))+$/, (text) => text.replace(/^> ?/gm, "")],
];

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** The list that newer versions of codesign print, with an indent for each level, as a property list. */
function ofCodesign(text) {
  const made = [];
  const open = [];
  for (const [, indent, tag, value] of text.matchAll(/^([ \t]*)\[(Dict|Array|Key|String|Bool|Int|Value)\][ \t]*([^\n\r]*)/gm)) {
    if (tag === "Value") continue;
    while (open.length > 0 && open.at(-1).depth >= indent.length) made.push(`</${open.pop().name}>`);
    const name = { Int: "integer" }[tag] ?? tag.toLowerCase();
    if (["dict", "array"].includes(name)) {
      open.push({ depth: indent.length, name });
      made.push(`<${name}>`);
    } else made.push(tag === "Bool" ? `<${value.trim() === "true"}/>` : `<${name}>${escaped(value.trim())}</${name}>`);
  }
  while (open.length > 0) made.push(`</${open.pop().name}>`);
  return `<plist>${made.join("")}</plist>`;
}

/** Takes all forms off: { text, forms, other }, where `other` names a file that is neither of the two. */
export function unwrapped(pasted) {
  let text = pasted.replace(/^\uFEFF/, "").trim();
  const forms = [];
  for (let rounds = 0, wrap; rounds < 6 && (wrap = wraps.find(([, form]) => form.test(text))); rounds++) {
    if (!forms.includes(wrap[0])) forms.push(wrap[0]);
    text = wrap[2](text).trim();
  }
  return { text, forms, other: otherIn(text) };
}

/** Whether a text is a property list in any form, or a file that people take for one. */
export function isFile(pasted) {
  const { text, other } = unwrapped(pasted.slice(0, 20_000));
  return other !== undefined || (known.test(text) && !/^<\?xml/i.test(text)) || strange.test(text) || isXMLList(text);
}

/** XML of which the first element can be a property list's; of what is not whole, none is seen. */
const isXMLList = (text) => /^<\?xml/i.test(text) && /^(?:plist|dict|key|array)?$/.test(first.exec(text)?.[1] ?? "");

/** Whether a text is another file of which nothing is checked, for whatever app. */
export function isOther(pasted) {
  const { other } = unwrapped(pasted.slice(0, 20_000));
  return other !== undefined && !["project", "podfile", "app_json"].includes(other);
}
