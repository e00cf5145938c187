// A whole Xcode project from the reader's values: the same files as `companion native --project` makes, from the same templates.

import { fillTemplate, swiftList, wholeText } from "./template.js";
import { loadTexts, t } from "./page.js";

const source = new URL("./projects/projects.json", import.meta.url);
const data = await (await fetch(source)).json();

/** The projects: { id, kind, platform, style }, of which style is scene, app_delegate, swiftui or async. */
export const projects = data.projects.map(({ id, set }) => ({
  id, set,
  kind: set.find((each) => ["workforce", "external", "b2c"].includes(each)), platform: set.includes("macos") ? "macos" : "ios",
  style: ["async", "swiftui", "app_delegate"].find((each) => set.includes(each)) ?? "scene",
}));

const templates = new Map();
function template(name) {
  if (!templates.has(name)) templates.set(name, fetch(new URL(name, source)).then((response) => response.text()));
  return templates.get(name);
}

const holds = (condition, set) => !condition || condition.split(" ").every((name) => (name.startsWith("!") ? !set.has(name.slice(1)) : set.has(name)));

/** What the words of the templates are where all of these are set. */
export function wordsFor(names) {
  const set = new Set(names);
  const words = data.words.filter((row) => holds(row.if, set)).map(({ if: _, ...words }) => words);
  return Object.assign(Object.fromEntries(names.map((name) => [name, "yes"])), ...words);
}

/** Where Microsoft Graph is for the accounts of an authority: a national cloud has its own. */
export const graphRoot = (authority) => data.graph[URL.parse(authority)?.host ?? ""] ?? data.graph[""];

/** Whether MSAL has to be told to trust an authority: it asks Microsoft about a host of Entra ID, and trusts these without asking. */
export const isUnknown = (kind, authority) => kind === "workforce" && !data.trusted_hosts.includes(URL.parse(authority)?.host);

/** The usual address of `companion tenant`. */
export const demoOrigin = data.demo.origin;

/** The values of `companion tenant` at an address. MSAL accepts no host without a dot for an external tenant. */
export function demoValues(kind, origin = demoOrigin) {
  const filled = (text) => text.replace("{origin}", origin).replace("{dotted}", origin.replace("://localhost", "://127.0.0.1"));
  const { scopes, ...texts } = data.demo[kind];
  return { scopes, ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filled(text)])) };
}

/** Host, tenant and policy of `https://<host>/tfp/<tenant>/<policy>`, with or without `tfp`. */
export function policyPieces(authority) {
  const { host, pathname } = new URL(authority);
  const [policy = "b2c_1_susi", tenant = "contoso.onmicrosoft.com"] = pathname.split("/").filter((part) => part && part !== "tfp").reverse();
  return { host, tenant_name: tenant, sign_in_policy: policy };
}

/** The project's files, { path, text }. `values` are those of `filled()` in values.js. */
export async function projectFiles(id, { scopes, tenant, ...texts }) {
  const { set, kind } = projects.find((each) => each.id === id);
  const names = tenant === "demo" ? [...set, "demo"] : set;
  const values = {
    ...texts, ...wordsFor(names), scopes: swiftList(scopes), signout_from_browser: "false", known_authority: isUnknown(kind, texts.authority) && "yes",
  };
  await loadTexts("project");
  const files = data.files.filter((file) => holds(file.if, new Set(names)));
  return Promise.all(files.map(async ({ path, format, template: name }) => {
    const lines = fillTemplate(await template(name), { format, values, t: (key) => t(`project.${key}`) });
    return { path, lines, text: wholeText(lines) };
  }));
}

/** The project as a zip archive, with all of its files in one folder. */
export async function projectZip(id, values) {
  const [{ zip }, files] = await Promise.all([import("./zip.js"), projectFiles(id, values)]);
  return zip(files.map(({ path, text }) => ({ path: `${data.folder}/${path}`, text })));
}
