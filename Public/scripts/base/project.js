// The rules of the templates in Public/projects, what the values in them are made from (clouds, and the demo's tenant), and the Swift beside
// a tutorial's screen.

import { loadFile, loadJSON } from "./page.js";

/** The projects, their files and their words. */
export const data = await loadJSON(new URL("../../projects/projects.json", import.meta.url));

/** Whether all of these names are set, and none that has `!` before it. */
export const holds = (condition, set) =>
  !condition || condition.split(" ").every((name) => (name.startsWith("!") ? !set.has(name.slice(1)) : set.has(name)));

/** The words of the templates where all of these are set. */
export function wordsFor(names) {
  const set = new Set(names);
  const words = data.words.filter((row) => holds(row.if, set)).map(({ if: _, ...words }) => words);
  return Object.assign(Object.fromEntries(names.map((name) => [name, "yes"])), ...words);
}

/**
 * The national cloud to which a host or a domain belongs, with its Graph and portal; undefined for those of the worldwide one, and for all
 * others. Source: learn.microsoft.com/entra/identity-platform/authentication-national-cloud and learn.microsoft.com/graph/deployments; the
 * hosts of B2C are in MSAL for Python too (authority.py), and those of External ID are made by analogy.
 */
export const cloudOf = (name) => data.clouds.find(({ names }) => names.some((each) => `.${name.toLowerCase()}`.endsWith(`.${each}`)));

/** Where Microsoft Graph is for those whose tokens come from a host: a national cloud has its own. */
export const graphOf = (host) => cloudOf(host)?.graph ?? "https://graph.microsoft.com/";

/** The same for the accounts of an authority. */
export const graphRoot = (authority) => graphOf(URL.parse(authority)?.hostname ?? "");

/** Where people sign in to the cloud of a host or a domain with accounts for work. */
export const loginOf = (name) => cloudOf(name)?.login ?? "login.microsoftonline.com";

/** Whether a host is one of B2C's, in any cloud. */
export const isB2C = (host) => /\.b2clogin\.(?:com|cn|us|de)$/i.test(host);

/** Whether MSAL has to be told to trust an authority: it asks Microsoft about a host of Entra ID, and trusts these without asking. */
export const isUnknown = (kind, authority) => kind === "workforce" && !data.trusted_hosts.includes(URL.parse(authority)?.host);

/** MSAL's class for the authorities of a kind of tenant. */
export const authorityClass = { workforce: "MSALAADAuthority", external: "MSALCIAMAuthority", b2c: "MSALB2CAuthority" };

/** The usual address of `companion tenant`. */
export const demoOrigin = data.demo.origin;

/** The values of `companion tenant` at an address. MSAL accepts no host without a dot for an external tenant. */
export function demoValues(kind, origin = demoOrigin) {
  const filled = (text) => text.replace("{origin}", origin).replace("{dotted}", origin.replace("://localhost", "://127.0.0.1"));
  const { scopes, ...texts } = data.demo[kind];
  return { scopes, ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(text)])) };
}

// The IDs of the demo are made from a name, as its tenant makes them: the same at each start, and the same here.

const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
const primes = [];
for (let number = 2; primes.length < 64; number += 1) if (primes.every((prime) => number % prime)) primes.push(number);
const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
const start = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** SHA-256 (FIPS 180-4) of a text, as bytes. The browser's own is asynchronous, and there is none without https. */
function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
  new Uint8Array(padded.buffer).set([...bytes, 0x80]);
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const state = [...start];
  for (let block = 0; block < padded.byteLength; block += 64) {
    const schedule = [];
    for (let index = 0; index < 64; index += 1) {
      const [near, far] = [schedule[index - 2], schedule[index - 15]];
      schedule[index] = index < 16
        ? padded.getInt32(block + index * 4)
        : (schedule[index - 16] + schedule[index - 7] + (turned(far, 7) ^ turned(far, 18) ^ (far >>> 3)) +
          (turned(near, 17) ^ turned(near, 19) ^ (near >>> 10))) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    schedule.forEach((word, index) => {
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[index] + word) | 0;
      const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    });
    [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = (state[index] + word) | 0));
  }
  return state.flatMap((word) => [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff));
}

/** The client ID that the demo's tenant gives an app with this bundle ID (DemoClient.id). */
export function demoClientID(bundleID) {
  const bytes = sha256(`companion client ${bundleID.toLowerCase()}`).slice(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Host, tenant and policy of `https://<host>/tfp/<tenant>/<policy>`, with or without `tfp`. */
export function policyPieces(authority) {
  const { host, pathname } = new URL(authority);
  const [policy = "b2c_1_susi", tenant = "contoso.onmicrosoft.com"] = pathname.split("/").filter((part) => part && part !== "tfp")
    .reverse();
  return { host, tenant_name: tenant, sign_in_policy: policy };
}

// MARK: Templates

// Text with conditions, parts, and values that are escaped as the file's format demands.
//
//   %if a !b … %else … %end   keeps lines while a is set and b is not
//   %part name … %end         lines that `%use name` puts in its place, as far indented as itself
//   %steps a b                the steps of a flow that the following lines stand for; a line's own are at its end: ⟦a b⟧
//   %own why … %own           lines that the tutorial does not have, or has otherwise, with the reason
//   {{name}}, {{=name}}       a value, escaped or as it is; {{t name}} a text in the reader's language

const tag = /\{\{(=|t )?(\w+)\}\}/g;

/** A value within a string of Swift, whatever is in it. */
export function swiftText(value) {
  const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  // The marks' own characters would end the line.
  return value.replace(/[\\"\p{Cc}\p{Zl}\p{Zp}⟦⟧]/gu, (found) => escapes[found] ?? `\\u{${found.codePointAt(0).toString(16)}}`);
}

/** A list of strings in Swift. */
export const swiftList = (values) => `[${values.map((value) => `"${swiftText(value)}"`).join(", ")}]`;

const withoutControls = (value) => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
const escapes = {
  swift: swiftText,
  plist: (value) => withoutControls(value).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"),
  pbxproj: (value) => withoutControls(value).replace(/[\\"]/g, "\\$&"),
  md: (value) => withoutControls(value).replace(/[`|]/g, " "),
};

/** The lines up to the %end of the block that begins at `start`: { lines, alternative, next }. */
function block(lines, start) {
  const parts = [[]];
  let depth = 0;
  for (let index = start; index < lines.length; index++) {
    const line = lines[index];
    if (/^\s*%(if|part) /.test(line)) depth += 1;
    else if (/^\s*%end$/.test(line) && depth-- === 0) return { lines: parts[0], alternative: parts[1] ?? [], next: index + 1 };
    else if (/^\s*%else$/.test(line) && depth === 0) {
      parts.push([]);
      continue;
    }
    parts.at(-1).push(line);
  }
  throw new Error(`a block of line ${start} has no %end`);
}

/**
 * Fills in a template.
 *
 * `format` is swift, plist, pbxproj or md; a value that is missing or empty is not set. Returns lines { text, steps, own }, of which
 * no two that follow each other are empty; `own` is the reason why a line is not the tutorial's.
 */
export function fillTemplate(source, { format, values, t = (name) => name }) {
  const parts = new Map();
  const found = [];
  let current = [];
  let reason;
  const filled = (text) =>
    text.replace(tag, (_, kind, name) => {
      if (kind === "t ") {
        return t(name).replace(/\{(\w+)\}/g, (place, value) => (values[value] === undefined ? place : escapes[format](values[value])));
      }
      return kind === "=" ? (values[name] ?? "") : escapes[format](values[name] ?? "");
    });
  const holds = (condition) =>
    condition.split(" ").every((name) => (name.startsWith("!") ? !values[name.slice(1)] : Boolean(values[name])));
  const walk = (lines, margin) => {
    for (let index = 0; index < lines.length;) {
      const line = lines[index];
      const [, indent, word, rest = ""] = line.match(/^(\s*)%(if|part|use|steps|own)(?: (.*))?$/) ?? [];
      index += 1;
      if (word === "if" || word === "part") {
        const inner = block(lines, index);
        index = inner.next;
        if (word === "part") parts.set(rest, inner.lines);
        else walk(holds(rest) ? inner.lines : inner.alternative, margin);
      } else if (word === "use") walk(parts.get(rest) ?? [], margin + indent);
      else if (word === "steps") current = rest.split(" ").filter(Boolean);
      else if (word === "own") reason = rest || undefined;
      else {
        const [, text, steps] = line.match(/^(.*?)\s*(?:⟦(.*)⟧)?$/);
        const shown = { text: text && margin + filled(text), steps: steps?.split(" ") ?? (text ? current : []) };
        found.push(text && reason ? { ...shown, own: reason } : shown);
      }
    }
  };
  walk(source.replace(/\n$/, "").split("\n"), "");
  return found.filter(({ text }, index) => text || (index > 0 && found[index - 1].text));
}

/** The lines as one text, with a line end after the last. */
export const wholeText = (lines) => lines.map(({ text }) => text).join("\n") + "\n";

// MARK: The Swift beside a tutorial's screen

// It is made from what was chosen: the view controller and the scene delegate of the projects, every line with the steps of a flow that it
// stands for.
// MSAL's names and signatures are those of its headers, https://github.com/AzureAD/microsoft-authentication-library-for-objc/tree/dev/MSAL/src/public

const templates = {
  controller: new URL("../../projects/view-controller.txt", import.meta.url),
  b2c: new URL("../../projects/view-controller-b2c.txt", import.meta.url),
  scene: new URL("../../projects/scene-delegate.txt", import.meta.url),
};

/** MSAL's name of a prompt type; it has none for `prompt=none`, for which there is the silent call. */
export const promptTypes = {
  if_necessary: "promptIfNecessary",
  select_account: "selectAccount",
  login: "login",
  consent: "consent",
  create: "create",
};

const webViewTypes = { authentication_session: "authenticationSession", safari: "safariViewController", wk_web_view: "wkWebView" };

/** By the page: its part of the projects. The external chapter's app and B2C's are for iOS. */
const sets = {
  ios: ["workforce", "ios", "scene"],
  macos: ["workforce", "macos"],
  external: ["external", "ios", "scene"],
  b2c: ["b2c", "ios", "scene"],
};

function valuesOf(page, choice) {
  const { authority, prompt, tenant, webView } = choice;
  const isMac = page === "macos";
  return {
    ...wordsFor(sets[page]),
    // A project needs a newer system than the tutorial asks for.
    tutorial: "yes",
    ...(page === "b2c" ? { edit_policy: choice.editPolicy || "b2c_1_edit_profile", ...policyPieces(authority) } : {}),
    authority,
    graph: choice.graph ?? graphRoot(authority),
    authority_type: authorityClass[choice.kind] ?? authorityClass.workforce,
    client_id: choice.clientID ?? "Your_Application_Client_ID",
    redirect_uri: `msauth.${choice.bundleID ?? "com.example.app"}://auth`,
    known_authority: choice.knownAuthority && "yes",
    api: choice.api ?? "https://api.example.com/tasks",
    scopes: swiftList(choice.scopes),
    async: choice.completion === "async" && "yes",
    signout_from_browser: String(choice.signoutFromBrowser ?? false),
    prompt_type: promptTypes[prompt],
    no_prompt_type: prompt === "none" && "yes",
    login_hint: choice.loginHint,
    claims: choice.claims,
    extra_scopes: choice.extraScopes?.length > 0 && swiftList(choice.extraScopes),
    domain_hint: choice.domainHint,
    tenant_url: tenant && new URL(`/${encodeURIComponent(tenant)}`, authority).href,
    web_view_type: isMac && webView === "safari" ? undefined : webViewTypes[webView],
    ephemeral: webView === "ephemeral" && "yes",
  };
}

/**
 * Loads a tutorial's program; `page` is ios, macos, external or b2c.
 *
 * Returns the function that makes its lines `{ text, steps, own }` from a choice: the application's `kind`, `authority`, `scopes` and
 * `api`; the app's own `clientID`, `bundleID`, `knownAuthority`, `graph` and `editPolicy`; a sign-in's `prompt`, `loginHint`, `extraScopes`,
 * `claims`, `tenant`, `domainHint`; what is the native app's alone, `webView` and `completion`; and where Sign Out signs out,
 * `signoutFromBrowser`.
 */
export async function loadProgram(page) {
  const isMac = page === "macos";
  const [controller, scene] = await Promise.all([
    loadFile(page === "b2c" ? templates.b2c : templates.controller),
    isMac ? "" : loadFile(templates.scene),
  ]);
  return (choice) => {
    const values = valuesOf(page, choice);
    const fill = (template) => fillTemplate(template, { format: "swift", values });
    const callback = isMac ? [] : [{ text: "", steps: [] }, { text: "// SceneDelegate.swift", steps: [] }, ...fill(scene)];
    return [...fill(controller), ...callback];
  };
}
