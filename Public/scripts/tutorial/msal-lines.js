// The Swift beside a tutorial's screen, made from what was chosen: the view controller and the scene delegate of the projects
// (projects/), every line with the steps of a flow that it stands for.
// MSAL's names and signatures are those of its headers, https://github.com/AzureAD/microsoft-authentication-library-for-objc/tree/dev/MSAL/src/public

import { loadFile } from "../base/page.js";
import { authorityClass, fillTemplate, graphRoot, policyPieces, swiftList, wordsFor } from "../base/project.js";

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
