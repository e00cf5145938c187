// The projects' names, the accounts that their READMEs name, and the commands that are the same wherever they stand.

import assert from "node:assert/strict";
import "./page.js";
const { demoValues, fillTemplate, wholeText } = await import("../../Public/scripts/base/project.js");
const { projectName, projects } = await import("../../Public/scripts/native/project.js");
const { setup } = await import("../../Public/scripts/native/setup.js");

const read = (path) => Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));

for (
  const [bundleID, name] of [
    ["com.contoso.tasks", "TasksApp"],
    ["com.contoso.my-tasks", "MyTasksApp"],
    ["com.contoso.TasksApp", "TasksApp"],
    ["com.contoso.app", "AppApp"],
    ["com.contoso.7tasks", "TutorialApp"],
    ["com.contoso.tåsks", "TutorialApp"],
    ["com.contoso.tasks/../x", "TutorialApp"],
    ["com.contoso.", "TutorialApp"],
    [`com.${"a".repeat(51)}`, "TutorialApp"],
    ["", "TutorialApp"],
  ]
) Deno.test(`the project of ${bundleID.slice(0, 40)} is ${name}`, () => assert.equal(projectName(bundleID), name));

const accounts = read("Sources/Tenant/TenantDirectory/People/BuiltInAccounts.swift");
for (const kind of new Set(projects.map((project) => project.kind))) {
  Deno.test(`the account of the README is one of the tenant's, of its kind: ${kind}`, () => {
    const { account } = demoValues(kind);
    const of = { workforce: "work", external: "external", b2c: "b2c" }[kind];
    assert.ok(accounts.includes(`username: "${account}", kind: .${of},`));
  });
}

for (
  const [own, command, not] of [
    ["yes", "companion demo --https --native com.contoso.tasks", "docker run"],
    ["", "companion tenant --state", "companion demo"],
  ]
) {
  Deno.test(`the README for the demo's tenant has the addresses that were filled in, and starts it: ${command}`, () => {
    const values = {
      demo: "yes",
      external: "yes",
      ios: "yes",
      own_demo: own,
      bundle_id: "com.contoso.tasks",
      root_url: "http://localhost:8082/root.pem",
      named: "https://fabrikam.ciamlogin.localhost:8081/fabrikam.example",
    };
    const text = wholeText(fillTemplate(read("Public/projects/readme.txt"), { format: "md", values }));
    for (const part of [command, "curl --output companion-root.pem http://localhost:8082/root.pem\n", `\`${values.named}\``]) {
      assert.ok(text.includes(part), `${part}\n${text}`);
    }
    for (const part of [not, ":8443/", ":8444/"]) assert.ok(!text.includes(part), `${part}\n${text}`);
  });
}

for (const { id, set } of projects) {
  Deno.test(`the README for the demo's tenant says to sign out before another project, whose accounts are the same: ${id}`, () => {
    const keys = (...more) => {
      const values = Object.fromEntries([...set, ...more].map((name) => [name, "yes"]));
      return wholeText(fillTemplate(read("Public/projects/readme.txt"), { format: "md", values }));
    };
    assert.ok(keys("demo").includes("\n   sign_out\n"));
    assert.ok(!keys().includes("sign_out"));
  });
}

for (
  const [language, menu] of [
    ["en", "Authentication, Redirect URI configuration, Add Redirect URI"],
    ["ja", "［認証］>［リダイレクト URI の構成］>［リダイレクト URI の追加］"],
    ["pt-BR", "Autenticação, Configuração do URI de redirecionamento, Adicionar URI de redirecionamento"],
    ["pt-PT", "Autenticação, Configuração do URI de redirecionamento, Adicionar URI de redirecionamento"],
    ["sv", "Autentisering, Konfiguration av omdirigerings-URI, Lägg till omdirigerings-URI"],
    ["zh-Hans", "“身份验证”>“重定向 URI 配置”>“添加重定向 URI”"],
  ]
) {
  Deno.test(`README and page lead to the redirect URI by the same menus: ${language}`, () => {
    const { page } = JSON.parse(read(`Public/languages/${language}.json`));
    for (const key of ["native.step.platform", "project.registration"]) assert.ok(page[key].includes(menu), key);
  });
}

/** A command's words, however its lines are broken and whatever the app is called. */
const words = (text) => text.replace(/\\\n/g, " ").replace(/\s+/g, " ").replace(/--native \S+/g, "--native ID");
const [build, ...run] = setup.blocks.find(({ id }) => id === "tenant_command").lines;

for (const path of ["Public/projects/readme.txt", "deploy/recipes/on-a-mac.md", "README.md"]) {
  Deno.test(`${path} builds the image and runs the tenant as /native does`, () => {
    const text = words(read(path).replace("{{bundle_id}}", "ID"));
    assert.ok(text.includes(build));
    assert.ok(text.includes(words(run.join("\n"))));
  });
}

for (const path of ["Public/projects/readme.txt", "deploy/recipes/on-a-mac.md", "Public/data/native.json"]) {
  Deno.test(`${path} has what makes the simulator and the Mac trust the tenant`, () => {
    const text = read(path);
    for (
      const command of [
        "xcrun simctl keychain booted add-root-cert companion-root.pem",
        "security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db companion-root.pem",
      ]
    ) assert.ok(text.includes(command));
  });
}

const recipe = read("deploy/recipes/on-a-mac.md");

Deno.test("the recipe for a Mac numbers its steps, and each says what to do, what to see, and what it means if not", () => {
  const rows = recipe.split("\n").filter((line) => /^\| \d+ \|/.test(line)).map((line) =>
    line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, ""))
  );
  assert.deepEqual(rows.map(([number]) => Number(number)), rows.map((_, index) => index + 1));
  for (const row of rows) assert.ok(row.length === 4 && row.every((cell) => cell.trim()), row.join(" | "));
  for (const [, first, last] of recipe.matchAll(/\b[Ss]teps? (\d+)(?: to (\d+))?/g)) {
    for (const number of [first, last ?? first]) assert.ok(Number(number) <= rows.length, `step ${number}`);
  }
});

Deno.test("the recipe for a Mac signs out of each project: MSAL gives the next one its accounts", () => {
  const projects = recipe.split(/^ditto .*Downloads.*$/m).slice(1);
  assert.equal(projects.length, 5);
  for (const text of projects) assert.match(text, /^\| \d+ \|[^|]*\*(Sign [Oo]ut|Logout)\*/m);
});

Deno.test("the recipe for XCUITest names the buttons, fields and sentences of the project, and the tenant's endpoints", () => {
  const recipe = read("deploy/recipes/xcuitest/NativeAuthenticationTests.swift");
  const app = ["content-view-native", "native-auth", "native-sign-in", "native-sign-up", "native-reset", "native-second-factor"]
    .map((name) => read(`Public/projects/${name}.txt`)).join("\n");
  const endpoints = read("Sources/Tenant/TenantControl/NativeFailure.swift");
  const elements = [...recipe.matchAll(/(button|textField|secureTextField)s\["(.+?)"\]|by: ("\w.*?")/g)];
  assert.ok(elements.length > 20);
  const types = { button: "Button", textField: "TextField", secureTextField: "SecureField" };
  for (const [, type = "button", label, pressed] of elements) {
    assert.ok(app.includes(`${types[type]}("${label ?? JSON.parse(pressed)}"`), label);
  }
  const sentences = [...recipe.matchAll(/"([A-Z][^"\n]* [^"\n]*\.)"/g)].map(([, sentence]) => sentence);
  assert.ok(sentences.length > 10);
  for (const sentence of sentences) assert.ok(app.includes(`"${sentence}"`), sentence);
  const paths = [...recipe.matchAll(/"((?:oauth2|signup|resetpassword|register)\/.+?)", "(\w+)", (?:nil|"(\w+)")/g)];
  assert.ok(paths.length > 10);
  for (const [, ...words] of paths) for (const word of words.filter(Boolean)) assert.ok(endpoints.includes(`"${word}"`), word);
});
