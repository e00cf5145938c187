// The B2C sample's view controller: an authority for each user flow.

import { called, lines, list, mark, parameters, sceneDelegate, text, webView } from "./msal-lines-parts.js";

/** Host, tenant and policy of `https://<host>/tfp/<tenant>/<policy>`, with or without `tfp`. */
function pieces(authority) {
  const { host, pathname } = new URL(authority);
  const [policy = "b2c_1_susi", tenant = "contoso.onmicrosoft.com"] = pathname.split("/").filter((part) => part && part !== "tfp").reverse();
  return { host, tenant, policy };
}

const interactiveCall = (choice, { authority, text, steps, ended = steps, account, succeeded }) => {
  const policyChoice = { ...choice, prompt: account ? null : choice.prompt, tenant: null };
  return `            let authority = try getAuthority(forPolicy: ${authority}) ${mark(steps)}
            let parameters = MSALInteractiveTokenParameters(scopes: kScopes, webviewParameters: webViewParameters) ${mark(steps)}
            parameters.authority = authority ${mark(steps)}
${parameters(policyChoice).filter((line) => account || !line.startsWith("parameters.account")).map((line) => `            ${line} ${mark(steps)}`).join("\n")}
${called(choice, "acquireToken", { steps, succeeded, failed: `self.updateLogging(text: "${text}: \\(error)") ${mark(ended)}` }).replace(/^/gm, "    ")}`;
};

/** The program as lines `{ text, steps }`; see msal-lines.js. */
export const program = (page, choice) => lines(viewController(choice));

function viewController(choice) {
  const { host, tenant, policy } = pieces(choice.authority);
  const context = "guard let applicationContext = applicationContext, let webViewParameters = webViewParameters else { return }";
  const failing = (steps) => `        } catch { ${mark(steps)}
            updateLogging(text: "Unable to construct parameters before calling acquire token \\(error)") ${mark(steps)}
        } ${mark(steps)}`;
  return `import UIKit
import MSAL

class ViewController: UIViewController {
    let kTenantName = ${text(tenant)}
    let kAuthorityHostName = ${text(host)}
    let kClientID = "Your_Application_Client_ID"
    let kRedirectUri = "msauth.com.example.app://auth"
    let kSignupOrSigninPolicy = ${text(policy)}
    let kEditProfilePolicy = "b2c_1_edit_profile"
    let kGraphURI = ${text(choice.api ?? "https://api.example.com/hello")}
    let kScopes: [String] = ${list(choice.scopes)}
    let kEndpoint = "https://%@/tfp/%@/%@"

    var accessToken: String?
    var applicationContext: MSALPublicClientApplication?
    var webViewParameters: MSALWebviewParameters?

    var loggingText: UITextView!
    var tokenButtons: [UIButton] = []

    override func viewDidLoad() {
        super.viewDidLoad()
        do { ${mark("init")}
            let signinPolicyAuthority = try getAuthority(forPolicy: kSignupOrSigninPolicy) ${mark("init")}
            let editProfileAuthority = try getAuthority(forPolicy: kEditProfilePolicy) ${mark("init")}
            let pcaConfig = MSALPublicClientApplicationConfig( ${mark("init")}
                clientId: kClientID, redirectUri: kRedirectUri, authority: signinPolicyAuthority) ${mark("init")}
            pcaConfig.knownAuthorities = [signinPolicyAuthority, editProfileAuthority] ${mark("init")}
            applicationContext = try MSALPublicClientApplication(configuration: pcaConfig) ${mark("init")}
            initWebViewParams() ${mark("init web_view")}
        } catch { ${mark("init")}
            updateLogging(text: "Unable to create application \\(error)") ${mark("init")}
        } ${mark("init")}
    }

${webView({ ...choice, isDefaultNamed: true }, false)}
    @objc func authorizationButton(_ sender: AnyObject) { ${mark("authorize")}
        ${context}
        do { ${mark("authorize")}
${interactiveCall(choice, {
    authority: "kSignupOrSigninPolicy", text: "Could not acquire token", steps: "authorize", ended: "unredeemed", account: false,
    succeeded: `self.accessToken = result.accessToken ${mark("redeemed")}
self.updateLogging(text: "Access token is \\(result.accessToken.prefix(8))…") ${mark("redeemed")}
self.tokenButtons.forEach { $0.isEnabled = true } ${mark("redeemed")}
self.title = result.account.accountClaims?["name"] as? String ${mark("redeemed claims")}`,
  })}
${failing("authorize")}
    } ${mark("authorize")}

    @objc func editProfile(_ sender: AnyObject) { ${mark("edit-profile edit_profile")}
        ${context}
        do { ${mark("edit_profile")}
            guard let account = try getAccountByPolicy(applicationContext.allAccounts(), policy: kEditProfilePolicy) ${mark("edit_profile")}
            else { return } ${mark("edit_profile")}
${interactiveCall(choice, {
    authority: "kEditProfilePolicy", text: "Could not edit profile", steps: "edit_profile", account: true,
    succeeded: `self.updateLogging(text: "Successfully edited profile") ${mark("edit_profile")}
_ = result ${mark("edit_profile")}`,
  })}
${failing("edit_profile")}
    } ${mark("edit_profile")}

    @objc func refreshToken(_ sender: AnyObject) { ${mark("refresh-token cached refreshed silent")}
        guard let applicationContext = applicationContext else { return }
        do { ${mark("refresh-token cached refreshed silent")}
            guard let account = try getAccountByPolicy(applicationContext.allAccounts(), policy: kSignupOrSigninPolicy) else { ${mark("refresh-token cached refreshed silent")}
                updateLogging(text: "There is no account available!") ${mark("refresh-token")}
                return ${mark("refresh-token")}
            } ${mark("refresh-token")}
            let parameters = MSALSilentTokenParameters(scopes: kScopes, account: account) ${mark("refresh-token cached refreshed silent")}
            parameters.authority = try getAuthority(forPolicy: kSignupOrSigninPolicy) ${mark("refresh-token cached refreshed silent")}
            updateLogging(text: "Refreshing token silently") ${mark("refresh-token cached refreshed silent")}
${called(choice, "acquireTokenSilent", {
    steps: "cached refreshed silent",
    succeeded: `self.accessToken = result.accessToken ${mark("cached refreshed")}
self.updateLogging(text: "Refreshed access token is \\(result.accessToken.prefix(8))…") ${mark("cached refreshed")}`,
    failed: `let nsError = error as NSError ${mark("silent")}
if nsError.domain == MSALErrorDomain, nsError.code == MSALError.interactionRequired.rawValue { ${mark("silent")}
    self.authorizeAgain(account: account) ${mark("silent")}
    return ${mark("silent")}
} ${mark("silent")}
self.updateLogging(text: "Could not acquire token: \\(error)") ${mark("silent")}`,
  }).replace(/^/gm, "    ")}
${failing("refresh-token")}
    } ${mark("refresh-token cached refreshed silent")}

    func authorizeAgain(account: MSALAccount) { ${mark("silent")}
        ${context}
        do { ${mark("silent")}
${interactiveCall(choice, {
    authority: "kSignupOrSigninPolicy", text: "Could not acquire new token", steps: "silent", account: true,
    succeeded: `self.accessToken = result.accessToken ${mark("silent")}
self.updateLogging(text: "Access token is \\(result.accessToken.prefix(8))…") ${mark("silent")}`,
  })}
${failing("silent")}
    } ${mark("silent")}

    @objc func callApi(_ sender: AnyObject) { ${mark("call-api api")}
        guard let accessToken = accessToken, let url = URL(string: kGraphURI) else { ${mark("call-api api")}
            updateLogging(text: "Operation failed because could not find an access token!") ${mark("call-api api")}
            return ${mark("api")}
        } ${mark("api")}
        let sessionConfig = URLSessionConfiguration.default ${mark("api")}
        sessionConfig.timeoutIntervalForRequest = 30 ${mark("api")}
        var request = URLRequest(url: url) ${mark("api")}
        request.setValue("Bearer \\(accessToken)", forHTTPHeaderField: "Authorization") ${mark("api")}
        updateLogging(text: "Calling the API....") ${mark("api")}
        URLSession(configuration: sessionConfig).dataTask(with: request) { data, response, error in ${mark("api")}
            guard let data = data else { ${mark("api")}
                self.updateLogging(text: "Could not call API: \\(String(describing: error))") ${mark("api")}
                return ${mark("api")}
            } ${mark("api")}
            guard let result = try? JSONSerialization.jsonObject(with: data, options: []) else { ${mark("api")}
                self.updateLogging(text: "Nothing returned from API") ${mark("api")}
                return ${mark("api")}
            } ${mark("api")}
            self.updateLogging(text: "API response: \\(result)") ${mark("api")}
        }.resume() ${mark("api")}
    } ${mark("api")}

    @objc func signoutButton(_ sender: AnyObject) { ${mark("logout sign_out")}
        guard let applicationContext = applicationContext else { return } ${mark("sign_out")}
        do { ${mark("sign_out")}
            guard let account = try getAccountByPolicy(applicationContext.allAccounts(), policy: kSignupOrSigninPolicy) else { ${mark("sign_out")}
                updateLogging(text: "There is no account to signing out!") ${mark("sign_out")}
                return ${mark("sign_out")}
            } ${mark("sign_out")}
            try applicationContext.remove(account) ${mark("sign_out")}
            accessToken = nil ${mark("sign_out")}
            tokenButtons.forEach { $0.isEnabled = false } ${mark("sign_out")}
            updateLogging(text: "Signed out") ${mark("sign_out")}
        } catch { ${mark("sign_out")}
            updateLogging(text: "Received error signing out: \\(error)") ${mark("sign_out")}
        } ${mark("sign_out")}
    } ${mark("sign_out")}

    func getAuthority(forPolicy policy: String) throws -> MSALB2CAuthority { ${mark("init")}
        guard let authorityURL = URL(string: String(format: kEndpoint, kAuthorityHostName, kTenantName, policy)) else { ${mark("init")}
            throw URLError(.badURL) ${mark("init")}
        } ${mark("init")}
        return try MSALB2CAuthority(url: authorityURL) ${mark("init")}
    } ${mark("init")}

    /// An account's object id ends in the policy that it comes from.
    func getAccountByPolicy(_ accounts: [MSALAccount], policy: String) throws -> MSALAccount? { ${mark("account")}
        accounts.first { $0.homeAccountId?.objectId.hasSuffix(policy.lowercased()) ?? false } ${mark("account")}
    } ${mark("account")}

    func updateLogging(text: String) {
        DispatchQueue.main.async { self.loggingText.text = text }
    }
}
${sceneDelegate}`;
}
