// The Swift of the pages, made as the pages make it. Standard input asks for { projects: [{ id, tenant, origin, values }],
// programs: [{ page, choice }], blocks: [values], commands: [values] }; the answer has the files of each project, the text of each
// program, of each page's blocks of Swift and of those for a Terminal, and in `rows` all projects that there are.

import "../scripts/page.js";
const { page } = JSON.parse(Deno.readTextFileSync(new URL("../../Public/languages/en.json", import.meta.url)));
const { fetch } = globalThis;
globalThis.fetch = (address, ...more) => {
  const section = /^\/assets\/texts\/.*\/(\w+)\.json$/.exec(address)?.[1];
  if (!section) return fetch(address, ...more);
  const named = Object.entries(page).filter(([key]) => key.startsWith(`${section}.`)).map((
    [key, text],
  ) => [key.slice(section.length + 1), text]);
  return Promise.resolve(Response.json(Object.fromEntries(named)));
};
const { demoClientID, demoValues, loadProgram, policyPieces, wholeText } = await import("../../Public/scripts/base/project.js");
const { blocks } = await import("../../Public/scripts/native/setup.js");
const { projectFiles, projects } = await import("../../Public/scripts/native/project.js");
const { filled } = await import("../../Public/scripts/base/values.js");

const asked = JSON.parse(await new Response(Deno.stdin.readable).text());

/** The values of a project as the page has them. */
function valuesOf({ id, tenant, origin, values }) {
  const { kind } = projects.find((each) => each.id === id);
  const { root_url, named } = filled({ kind, tenant, ...(origin && { demo_url: origin }) });
  const demo = tenant === "demo" && { ...demoValues(kind, origin), client_id: demoClientID(values.bundle_id), root_url, named };
  const all = { ...values, ...demo, tenant };
  return kind === "b2c" ? { ...all, ...policyPieces(all.authority) } : all;
}

const files = async (each) => Object.fromEntries((await projectFiles(each.id, valuesOf(each))).map(({ path, text }) => [path, text]));
const program = async ({ page, choice }) => wholeText((await loadProgram(page))(choice));
const text = (values, ...sections) =>
  blocks(values.platform, values).filter(({ section }) => sections.includes(section)).map(({ text }) => text).join("\n");

console.log(JSON.stringify({
  rows: projects,
  projects: await Promise.all((asked.projects ?? []).map(files)),
  programs: await Promise.all((asked.programs ?? []).map(program)),
  blocks: (asked.blocks ?? []).map((values) => text(values, "code", "run")),
  commands: (asked.commands ?? []).map((values) => text(values, "demo")),
}));
