// Reads what is pasted into the box: it recognizes the kind, takes the text apart and shows what is wrong with it.
// Nothing of it is kept or sent; for a token, the keys of the demo's tenant are fetched from this server.

import { get } from "../base/api.js";
import { base, element, language, loadStyle, loadTexts, t } from "../base/page.js";
import { button } from "../base/buttons.js";
import { meaning, readAuthorization } from "./authorize-text.js";
import { fragment, NoCase, readCase } from "../base/case.js";
import { claimsTable, loadClaims, valuesTable } from "../base/claims-table.js";
import { readDiscovery } from "./discovery-text.js";
import { judgment } from "../native/authority.js";
import { errorCards, isLong, loadExplanations, tellsNothing } from "../native/error-cards.js";
import { finding, lintCards } from "../native/lint-cards.js";
import { isOther } from "../native/lint-text.js";
import { authorityIn, caseIn, kindOf, kinds, tokensIn } from "./kinds.js";
import { isTerm, isWord, termCard } from "./terms.js";
import { checkSignature, checkTimes, judgeToken } from "./token-text.js";
import { filled, own } from "../base/values.js";

const box = document.getElementById("paste");
const taken = document.getElementById("paste-taken");
const place = document.getElementById("found");

const card = (title, ...content) => element("section", "card", element("h3", "", title), ...content);
const nothing = (kind) => [card(t(`paste.kind.${kind}`), finding("bad", t(`paste.not.${kind}`)))];

// MARK: The kinds

/** The reader of each kind, which makes cards of a text. */
const readers = {
  authority,
  error: errorCards,
  file,
  token,
  address(text) {
    const read = readAuthorization(text, own().bundle_id);
    if (!read) return nothing("address");
    const { authority, parameters, isWeb, found } = read;
    const rows = parameters.map(([name, value]) => [name, value, t(`parameter.${meaning(name)}`)]);
    return [
      card(t("lint.findings"), ...judged(found, isWeb ? "web" : "address")),
      card(t("paste.parts"), element("p", "mono", authority), valuesTable(t("paste.name"), rows)),
    ];
  },
  case(text) {
    try {
      return caseCards(readCase(caseIn(text) ?? text));
    } catch (fault) {
      if (!(fault instanceof NoCase)) throw fault;
      return [card(t("paste.kind.case"), finding("bad", t(`case.error.${fault.reason}`, { place: fault.place })))];
    }
  },
  discovery(text) {
    const read = readDiscovery(text);
    if (!read) return nothing("discovery");
    const rows = read.members.map(([name, value]) => [name, value, t(`paste.member.${name}`)]);
    return [card(t("lint.findings"), ...judged(read.found, "discovery")), card(t("paste.parts"), valuesTable(t("paste.name"), rows))];
  },
  term: (text) => [termCard(text, known, put)],
};

/** A case in a few lines, with the page that has all of it, and what its error's number means. */
function caseCards(found) {
  const { kind, outcome, steps } = found;
  const link = element("a", "button", t("paste.case_open"));
  link.href = `${base}/native/case${fragment(found)}`;
  const rows = [
    [t("case.outcome"), [outcome.code, outcome.number].filter(Boolean).join(" · ")],
    [t("case.kind"), kind],
    [t("case.steps"), steps.map(({ step, outcome: came }) => `${step}: ${came}`).join(" → ") || t("case.no_steps")],
  ];
  const facts = rows.flatMap(([name, value]) => [element("dt", "", name), element("dd", "mono", value)]);
  return [
    card(t("paste.kind.case"), element("dl", "facts", ...facts), element("p", "buttons", link)),
    ...(outcome.number ? errorCards(outcome.number).slice(0, 1) : []),
  ];
}

function judged(found, kind) {
  const all = kind === "discovery"
    ? found.map((each) => [each.level, t(`paste.discovery.${each.rule}`, each)])
    : found.map((each) => [each.level, t(`paste.address.${each.rule}`, each)]);
  if (found.every(({ level }) => level === "fine")) all.unshift(["fine", t(`paste.fine.${kind}`)]);
  return all.map((each) => finding(...each));
}

/** A property list is checked for an app: the reader's own, or the one whose bundle ID the file names. */
function file(text) {
  const { bundle_id: ownID, platform, client_id: clientID } = own();
  const field = Object.assign(element("input", "mono"), {
    id: "paste-bundle",
    value: given || ownID || namedIn(text),
    autocomplete: "off",
    spellcheck: false,
  });
  const select = element("select");
  select.id = "paste-platform";
  select.append(new Option("iOS", "ios", false, platform === "ios"), new Option("macOS", "macos", false, platform === "macos"));
  const result = element("div", "found-in-file");
  const check = () => {
    const id = field.value.trim();
    const values = { ...filled(), bundle_id: id, client_id: clientID, redirect_uri: `msauth.${id}://auth` };
    const { findings, corrected } = id || isOther(text)
      ? lintCards(text, { platform: select.value, values })
      : { findings: [finding("info", t("paste.need_bundle"))] };
    result.replaceChildren(
      element("section", "card", element("h3", "", t("lint.findings")), ...findings),
      ...(corrected ? [corrected] : []),
    );
  };
  field.addEventListener("input", check);
  select.addEventListener("change", check);
  check();
  const labelled = (label, control) => element("p", "", Object.assign(element("label", "", label), { htmlFor: control.id }), control);
  return [element("section", "card fields", labelled(t("paste.bundle_id"), field), labelled(t("paste.platform"), select)), result];
}

/** The bundle ID that a property list itself names. */
const namedIn = (text) =>
  text.match(/<string>\s{0,20}msauth\.([A-Za-z\d.-]{1,200})(?::\/\/auth)?\s{0,20}<\/string>/)?.[1] ??
    text.match(/<key>CFBundleIdentifier<\/key>\s{0,200}<string>([A-Za-z\d.-]{1,200})<\/string>/)?.[1] ?? "";

/** An authority, judged as MSAL judges one of its likely kind. */
function authority(text) {
  const { level, said, sentences, requests } = judgment(authorityIn(text) ?? text.trim());
  const asked = element("ol", "asked", ...requests.map((url) => element("li", "mono", url)));
  return [
    card(t("lint.findings"), finding(level, said), ...sentences.map((each) => finding(...each))),
    ...(requests.length > 0 ? [card(t("authority.asks"), asked)] : []),
  ];
}

// MARK: Tokens

let known;

/** The keys of the demo's tenant; undefined where this server has no demo, null while they cannot be fetched. */
async function demoKeys() {
  const { demo } = await known;
  if (!demo) return undefined;
  return get("/api/demo/keys").then(({ keys }) => keys, () => null);
}

const time = (seconds) => new Date(seconds * 1000).toLocaleString(language, { dateStyle: "medium", timeStyle: "medium" });

function result(name, { result: verdict, reason, ...values }) {
  const shown = { ...values, time: values.time === undefined ? "" : time(values.time) };
  const level = { verified: "fine", wrong: "bad", unchecked: "info" }[verdict];
  const made = element(
    "div",
    `finding ${level}`,
    element("strong", "", `${name}: ${t(`paste.result.${verdict}`)}`),
    element("p", "", t(`paste.token.${reason}`, shown)),
  );
  made.dataset.result = verdict;
  return made;
}

function token(text) {
  const found = tokensIn(text);
  if (found.length === 0) return nothing("token");
  const title = ({ name }, index) => element("h2", "mono", name ? `${name}_token` : `JWT ${index + 1}`);
  return found.flatMap((each, index) => [...(found.length > 1 ? [title(each, index)] : []), ...tokenCards(each)]);
}

function tokenCards({ name, read }) {
  if (!read) return [card(t("paste.kind.token"), finding("info", t("paste.token.opaque")))];
  const results = element("section", "card", element("h3", "", t("lint.findings")));
  const times = read.claims && checkTimes(read.claims);
  const said = read.claims ? judgeToken(read, name).map(({ level, rule, ...more }) => finding(level, t(`paste.judged.${rule}`, more))) : [];
  const checked = demoKeys().then((keys) => checkSignature(read, keys)).catch(() => ({ result: "unchecked", reason: "key_type" }));
  checked.then((signature) => {
    results.append(result(t("paste.signature"), signature));
    if (times) results.append(result(t("paste.validity"), times));
    results.append(...said);
  });
  const header = Object.entries(read.header).map((
    [name, value],
  ) => [name, typeof value === "string" ? value : JSON.stringify(value), t(`paste.header.${name}`)]);
  const tables = [card(t("paste.header"), valuesTable(t("paste.name"), header))];
  if (read.claims) tables.push(card(t("paste.claims"), claimsTable(read.claims)));
  return [results, ...tables];
}

// MARK: The box

let chosen = null;

function choice(kind) {
  const select = element("select");
  select.id = "paste-kind";
  select.append(...kinds.map((each) => new Option(t(`paste.kind.${each}`), each, each === kind, each === kind)));
  select.addEventListener("change", () => {
    chosen = select.value;
    show();
    document.getElementById("paste-kind").focus();
  });
  const clear = button(t("paste.clear"), () => put(""));
  taken.replaceChildren(Object.assign(element("label", "", t("paste.taken")), { htmlFor: select.id }), select, clear);
  const said = document.getElementById("said");
  if (said.textContent !== words(kind)) said.textContent = words(kind);
}

/** A word that is neither explained nor in an error has an answer of its own. */
function recognized(text) {
  if (isTerm(text)) return "term";
  const kind = kindOf(text);
  return kind === "error" && isWord(text) && tellsNothing(text) ? "term" : kind;
}

/** Puts a text into the box, and reads it. */
function put(text) {
  box.value = text;
  show();
  box.focus();
}

const words = (kind) => `${t("paste.taken")} ${t(`paste.kind.${kind}`)}`;

/** Where the box's title is the page's, the cards' titles need one between. */
const heading = (kind) => document.getElementById("paste-title").tagName === "H1" ? [element("h2", "visually-hidden", words(kind))] : [];

function show() {
  const text = box.value;
  taken.hidden = !text.trim();
  if (taken.hidden) {
    chosen = null;
    document.getElementById("said").textContent = "";
    return place.replaceChildren();
  }
  const kind = chosen ?? recognized(text);
  choice(kind);
  place.replaceChildren(...heading(kind), ...readers[kind](text));
}

/** The answer may begin below the window: then the box comes to its top. */
function bringIntoSight() {
  // With a long text in its box, the page takes too long to be drawn at each step of a glide.
  const isStill = isLong(box.value) || matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (place.getBoundingClientRect().top > innerHeight * 0.5) {
    box.scrollIntoView({ block: "start", behavior: isStill ? "auto" : "smooth" });
  }
}

let given = "";

/** A property list is checked for this app. */
export function checkFor(bundleID) {
  given = bundleID;
}

let begun;

/** Loads what reading needs, once, and reads what is in the box now and after each change. */
export function read() {
  begun ??= begin();
  return begun;
}

async function begin() {
  known = get("/api/apps").catch(() => ({ demo: false, apps: [] }));
  await Promise.all([
    loadExplanations(),
    loadClaims(),
    loadStyle(`${base}/assets/styles/native.css`),
    known,
    loadTexts("authority"),
    loadTexts("paste"),
    loadTexts("case"),
    loadTexts("parameter"),
    loadTexts("response"),
    loadTexts("lint"),
    loadTexts("native"),
  ]);
  box.addEventListener("input", () => {
    // Another text is another kind.
    if (!box.value.trim()) chosen = null;
    show();
    if (box.value.trim()) bringIntoSight();
  });
  box.dataset.ready = "true";
  show();
}
