// The parts of the generated Swift that the tutorials share, and how it is written.

/** Ends a line of a template: the steps that the line stands for. */
export const mark = (steps) => `⟦${steps}⟧`;

/** A template's lines with their steps; no more than one of them is empty at a time. */
export function lines(source) {
  return source
    .trim()
    .split("\n")
    .map((line) => {
      const [, text, steps] = line.match(/^(.*?)\s*(?:⟦(.*)⟧)?$/);
      return { text, steps: steps?.split(" ") ?? [] };
    })
    .filter(({ text }, index, all) => text || (index > 0 && all[index - 1].text));
}

/** The lines of a program as one text, to copy. */
export const wholeText = (program) => program.map(({ text }) => text).join("\n") + "\n";

/** A string literal, whatever is in the value. */
export function text(value) {
  const escapes = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  // What the marks are made of would end the line.
  const escaped = value.replace(/[\\"\p{Cc}\p{Zl}\p{Zp}⟦⟧]/gu, (found) => escapes[found] ?? `\\u{${found.codePointAt(0).toString(16)}}`);
  return `"${escaped}"`;
}

export const list = (values) => `[${values.map(text).join(", ")}]`;

/** MSAL's class for the authorities of a kind of identity platform. */
export const authorityType = (kind) => ({ external: "MSALCIAMAuthority", b2c: "MSALB2CAuthority" })[kind] ?? "MSALAADAuthority";

/** MSAL's name of a prompt type; it has none for `prompt=none`, for which there is the silent call. */
export const promptTypes = {
  if_necessary: "promptIfNecessary", select_account: "selectAccount", login: "login", consent: "consent", create: "create",
};

const webViewTypes = { authentication_session: "authenticationSession", safari: "safariViewController", wk_web_view: "wkWebView" };

export const webView = ({ webView: chosen, isDefaultNamed = false }, isMac) => {
  const type = chosen === "safari" && isMac ? undefined : webViewTypes[chosen];
  const settings = [
    type && `webViewParameters?.webviewType = .${type}`,
    !type && isDefaultNamed && "webViewParameters?.webviewType = .default",
    chosen === "ephemeral" && "webViewParameters?.prefersEphemeralWebBrowserSession = true",
  ].filter(Boolean);
  return `    func initWebViewParams() { ${mark("web_view")}
        webViewParameters = MSALWebviewParameters(${isMac ? "" : "authPresentationViewController: self"}) ${mark("web_view")}
${settings.map((line) => `        ${line} ${mark("web_view")}\n`).join("")}    } ${mark("web_view")}
`;
};

/** What a sign-in is asked for beyond its scopes, as settings of `parameters`. */
export function parameters({ prompt, loginHint, account, extraScopes, claims, tenant, domainHint, authority, kind }) {
  return [
    prompt === "none" && "// prompt=none has no prompt type in MSAL: acquireTokenSilent is what asks without a page.",
    promptTypes[prompt] && `parameters.promptType = .${promptTypes[prompt]}`,
    loginHint && `parameters.loginHint = ${text(loginHint)}`,
    "parameters.account = account",
    extraScopes?.length > 0 && `parameters.extraScopesToConsent = ${list(extraScopes)}`,
    claims && "var claimsError: NSError?",
    claims && `parameters.claimsRequest = MSALClaimsRequest(jsonString: ${text(claims)}, error: &claimsError)`,
    tenant && `if let tenantURL = URL(string: ${text(new URL(`/${encodeURIComponent(tenant)}`, authority).href)}) {`,
    tenant && `    parameters.authority = try? ${authorityType(kind)}(url: tenantURL)`,
    tenant && "}",
    domainHint && `parameters.extraQueryParameters = ["domain_hint": ${text(domainHint)}]`,
  ].filter(Boolean);
}

const indented = (block, margin) => block.split("\n").map((line) => margin + line).join("\n");

/** A call of MSAL with its completion, as a block or with await. */
export function called({ completion }, method, { steps, succeeded, failed, nothing = "Could not acquire token: No result returned" }) {
  if (completion === "async") {
    return `        Task { @MainActor in ${mark(steps)}
            do { ${mark(steps)}
                let result = try await applicationContext.${method}(with: parameters) ${mark(steps)}
${indented(succeeded, "                ")}
            } catch { ${mark(steps)}
${indented(failed, "                ")}
            } ${mark(steps)}
        } ${mark(steps)}`;
  }
  return `        applicationContext.${method}(with: parameters) { result, error in ${mark(steps)}
            if let error = error { ${mark(steps)}
${indented(failed, "                ")}
                return ${mark(steps)}
            } ${mark(steps)}
            guard let result = result else { ${mark(steps)}
                self.updateLogging(text: "${nothing}") ${mark(steps)}
                return ${mark(steps)}
            } ${mark(steps)}
${indented(succeeded, "            ")}
        } ${mark(steps)}`;
}

export const interactive = (choice) => `    func acquireTokenInteractively(account: MSALAccount?) { ${mark("authorize")}
        guard let applicationContext = applicationContext, let webViewParameters = webViewParameters else { return }
${choice.kind === "external" ? `        updateLogging(text: "Acquiring token interactively...")\n` : ""}\
        let parameters = MSALInteractiveTokenParameters(scopes: ${choice.scopes}, webviewParameters: webViewParameters) ${mark("authorize")}
${parameters(choice).map((line) => `        ${line} ${mark("authorize")}`).join("\n")}
${called(choice, "acquireToken", {
    steps: "authorize",
    succeeded: `self.accessToken = result.accessToken ${mark("redeemed")}
// Only its beginning: anyone who has a token can use it. ${mark("redeemed")}
self.updateLogging(text: "Access token is \\(self.accessToken.prefix(8))…") ${mark("redeemed")}
self.updateCurrentAccount(account: result.account) ${mark("redeemed")}${choice.next}`,
    failed: `self.updateLogging(text: "Could not acquire token: \\(error)") ${mark("unredeemed")}`,
  })}
    } ${mark("authorize")}
`;

/** The app gets the redirect URI here, since Xcode 11; on macOS the web view sees it by itself. */
export const sceneDelegate = `
// SceneDelegate.swift
class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) { ${mark("callback")}
        guard let urlContext = URLContexts.first else { return } ${mark("callback")}
        MSALPublicClientApplication.handleMSALResponse( ${mark("callback")}
            urlContext.url, sourceApplication: urlContext.options.sourceApplication) ${mark("callback")}
    } ${mark("callback")}
}
`;
