// Property lists in XML, read and written in the page. What stands in them, comments included, stays as it is. The browser's
// own parser makes documents, which pages here are not allowed to make of text.

/**
 * The reason why a text is no property list; `kind` is binary, json, xml, deep, pairs, no_dict, element or element_case. The message of
 * xml is the line where it fails, of deep the number of levels, of the last two the name of an element that there is not.
 */
export class PlistFault extends Error {
  constructor(kind, detail = "") {
    super(detail);
    this.kind = kind;
  }
}

// A node is { tag, nodes, text }: dict and array have nodes, the others a text. A comment has the tag "!".
const holders = ["plist", "dict", "array"];
const values = [...holders, "key", "string", "data", "date", "integer", "real", "true", "false"];
const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Real files have about five levels. */
const maxLevels = 100;

const character = (code) => (Number.isInteger(code) && code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "");
const decoded = (text) =>
  text.replace(
    /&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi,
    (all, decimal, hex, name) => decimal ? character(Number(decimal)) : hex ? character(parseInt(hex, 16)) : (entities[name] ?? all),
  );

/** The pieces of XML here: comments, declarations, CDATA, tags, text. */
const token =
  /<!--([\s\S]*?)-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>]*>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([A-Za-z][\w.:-]*)(?:\s[^<>]*?)?(\/?)>|([^<]+)/y;

const notOne = (tag) => new PlistFault(values.includes(tag.toLowerCase()) ? "element_case" : "element", tag);

function parse(xml) {
  const top = { tag: "", nodes: [] };
  const open = [top];
  const fail = (index) => {
    throw new PlistFault("xml", String(xml.slice(0, index).split("\n").length));
  };
  token.lastIndex = 0;
  while (token.lastIndex < xml.length) {
    const start = token.lastIndex;
    const found = token.exec(xml);
    if (!found) fail(start);
    const [, comment, cdata, end, tag, empty, text] = found;
    const parent = open.at(-1);
    if (comment !== undefined) parent.nodes?.push({ tag: "!", text: comment });
    else if (cdata !== undefined || text !== undefined) {
      if (parent.nodes && (cdata ?? text).trim()) fail(start);
      if (!parent.nodes) parent.text += cdata ?? decoded(text);
    } else if (end) {
      if (parent.tag !== tag) fail(start);
      open.pop();
    } else if (tag) {
      if (!values.includes(tag)) throw notOne(tag);
      if (!parent.nodes) fail(start);
      /** @type {any} */
      const node = holders.includes(tag) ? { tag, nodes: [] } : { tag, text: "" };
      parent.nodes.push(node);
      if (!empty) open.push(node);
      if (open.length > maxLevels) throw new PlistFault("deep", String(maxLevels));
    }
  }
  if (open.length > 1) fail(xml.length);
  return top;
}

const elements = (node) => node.nodes?.filter(({ tag }) => tag !== "!") ?? [];

/** The dictionary of a property list. A bare dictionary and bare pairs, as documentation prints them, will do. */
export function readPlist(text) {
  let xml = text.replace(/^\uFEFF/, "").trim();
  if (xml.startsWith("bplist")) throw new PlistFault("binary");
  if (!xml.startsWith("<")) throw new PlistFault("json");
  if (/^<(key|dict)\b/.test(xml)) xml = `<plist>${xml.startsWith("<key") ? `<dict>${xml}</dict>` : xml}</plist>`;
  const [, root] = /^(?:<\?[^>]*>\s*)?<([A-Za-z][\w.:-]*)/.exec(xml) ?? [];
  if (root && !values.includes(root)) throw notOne(root);
  if (!/<plist[\s>]/.test(xml)) throw new PlistFault("no_dict");
  const dict = elements(elements(parse(xml))[0] ?? { nodes: [] })[0];
  if (dict?.tag !== "dict") throw new PlistFault("no_dict");
  return dict;
}

/** The pairs of a dictionary: { key, name, value } with the nodes of key and value. A blank in a name is a part of it. */
export function pairs(dict) {
  const nodes = elements(dict);
  if (nodes.length % 2 || nodes.some(({ tag }, index) => (tag === "key") !== (index % 2 === 0))) throw new PlistFault("pairs");
  return nodes.filter((_, index) => index % 2 === 0).map((key, index) => ({ key, name: key.text, value: nodes[2 * index + 1] }));
}

/** The value of a key; undefined when the dictionary has none. */
export const valueOf = (dict, name) => pairs(dict).find((pair) => pair.name === name)?.value;

/** The elements of an array; none of what is no array. */
export const items = (node) => (node?.tag === "array" ? elements(node) : []);

/** The strings of an array. */
export const strings = (array) => items(array).filter(({ tag }) => tag === "string");

export const add = (holder, ...nodes) => holder.nodes.push(...nodes.map((node) => structuredClone(node)));
export const addPair = (dict, name, value) => add(dict, { tag: "key", text: name }, value);
/** Takes out the nodes that the set has. */
export const remove = (holder, gone) => (holder.nodes = holder.nodes.filter((node) => !gone.has(node)));
export const replace = (holder, old, node) => (holder.nodes = holder.nodes.map((each) => (each === old ? structuredClone(node) : each)));

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function lines({ tag, nodes, text }, indent) {
  if (tag === "!") return [`${indent}<!--${text}-->`];
  if (nodes?.length) return [`${indent}<${tag}>`, ...nodes.flatMap((node) => lines(node, `${indent}\t`)), `${indent}</${tag}>`];
  return [`${indent}${nodes || ["true", "false"].includes(tag) ? `<${tag}/>` : `<${tag}>${escaped(text)}</${tag}>`}`];
}

/** The whole property list, laid out as Xcode does. */
export const writePlist = (dict) =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    ...lines(dict, ""),
    "</plist>",
  ].join("\n");
