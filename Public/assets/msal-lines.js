// Swift as Microsoft's main tutorial and its external chapter have it, made from what was chosen: every line with the steps of a flow
// that it stands for. The B2C sample's is in msal-lines-b2c.js.
// MSAL's names and signatures are those of its headers, https://github.com/AzureAD/microsoft-authentication-library-for-objc/tree/dev/MSAL/src/public

import { authorityType, called, interactive, lines, list, mark, sceneDelegate, text, webView } from "./msal-lines-parts.js";

/**
 * A tutorial's program as lines `{ text, steps }`.
 *
 * `page` is ios, macos or external. `choice` is what it is made from: the application's `kind`, `authority`, `scopes` and
 * `api`; a sign-in's `prompt`, `loginHint`, `extraScopes`, `claims`, `tenant`, `domainHint`; and what is the native app's alone,
 * `webView` and `completion`; and where Sign Out signs out, `signoutFromBrowser`.
 */
export const program = (page, choice) => lines(viewController(page, choice));

/** The main tutorial's view controller, on iOS and macOS, and the external chapter's, whose names differ. */
function viewController(page, choice) {
  const isMac = page === "macos";
  const isExternal = page === "external";
  const kit = isMac ? "AppKit" : "UIKit";
  const kinds = isMac
    ? { controller: "NSViewController", label: "NSTextField", button: "NSButton", text: "NSTextView" }
    : { controller: "UIViewController", label: "UILabel", button: "UIButton", text: "UITextView" };
  const own = isExternal ? "Configuration." : "";
  const scopes = `${own}kScopes`;
  // Only the main tutorial calls the API as soon as it has a token.
  const next = isExternal ? "" : `\nself.getContentWithToken() ${mark("redeemed cached refreshed")}`;
  return `import ${kit}
import MSAL

${isExternal ? configuration(choice) : ""}class ViewController: ${kinds.controller} {
${isExternal ? "" : constants(choice)}    var accessToken = String()
    var applicationContext: MSALPublicClientApplication?
    var webViewParameters: MSALWebviewParameters?
    var currentAccount: MSALAccount?

    // The tutorial's screen; initUI() makes these.
    var loggingText: ${kinds.text}!
    var signOutButton: ${kinds.button}!
    var usernameLabel: ${kinds.label}!

    override func viewDidLoad() {
        super.viewDidLoad()
        do {
            try initMSAL() ${mark("init")}
        } catch {
            updateLogging(text: "Unable to create Application Context \\(error)")
        }
        loadCurrentAccount() ${mark("account")}
    }

${initialization(choice, own, isExternal)}
${webView(choice, isMac)}
${account(isExternal)}
${isExternal ? externalActions() : mainAction()}
${interactive({ ...choice, scopes, next })}
${silently({ ...choice, scopes, next })}
${isExternal ? externalAPI(own) : graph()}
${signOut(choice)}
${isMac ? "" : device(isExternal)}
    func updateLogging(text: String) {
        DispatchQueue.main.async { self.loggingText.${isMac ? "string" : "text"} = text }
    }

    func updateCurrentAccount(account: MSALAccount?) {
        currentAccount = account
        // The name that people know the account by stands in the claims of its ID token.
        let username = account?.accountClaims?["preferred_username"] as? String ?? account?.username ${mark("claims")}
        usernameLabel.${isMac ? "stringValue" : "text"} = username ?? "Signed out" ${mark("claims")}
        signOutButton.isEnabled = account != nil
    }
}
${isMac ? "" : sceneDelegate}`;
}

/** Where Microsoft Graph is for the accounts of an authority: a national cloud has its own. */
const graphRoots = {
  "login.microsoftonline.us": "https://graph.microsoft.us/", "login.partner.microsoftonline.cn": "https://microsoftgraph.chinacloudapi.cn/",
};
const graphRoot = (authority) => graphRoots[new URL(authority).host] ?? "https://graph.microsoft.com/";

const constants = ({ authority, scopes }) => `    let kClientID = "Your_Application_Client_ID"
    let kGraphEndpoint = ${text(graphRoot(authority))}
    let kAuthority = ${text(authority)}
    let kScopes: [String] = ${list(scopes)}

`;

const configuration = ({ authority, scopes, api }) => `enum Configuration {
    static let kClientID = "Your_Application_Client_ID"
    static let kRedirectUri = "msauth.com.example.app://auth"
    static let kAuthority = ${text(authority)}
    static let kProtectedAPIEndpoint = ${text(api ?? "https://api.example.com/tasks")}
    static let kScopes: [String] = ${list(scopes)}
}

`;

const initialization = (choice, own, isExternal) => `    func initMSAL() throws { ${mark("init")}
        guard let authorityURL = URL(string: ${own}kAuthority) else { ${mark("init")}
            updateLogging(text: "Unable to create authority URL") ${mark("init")}
            return ${mark("init")}
        } ${mark("init")}
        let authority = try ${authorityType(choice.kind)}(url: authorityURL) ${mark("init")}
        let msalConfiguration = MSALPublicClientApplicationConfig( ${mark("init")}
            clientId: ${own}kClientID, redirectUri: ${isExternal ? "Configuration.kRedirectUri" : "nil"}, authority: authority) ${mark("init")}
        applicationContext = try MSALPublicClientApplication(configuration: msalConfiguration) ${mark("init")}
        initWebViewParams() ${mark("init web_view")}
    } ${mark("init")}
`;

/** The account now, and the one before, which another app may have signed out. */
const account = (isExternal) => `    func loadCurrentAccount(completion: ((MSALAccount?) -> Void)? = nil) { ${mark("account")}
        guard let applicationContext = applicationContext else { return } ${mark("account")}
        let msalParameters = MSALParameters() ${mark("account")}
        msalParameters.completionBlockQueue = DispatchQueue.main ${mark("account")}
        applicationContext.getCurrentAccount(with: msalParameters) { currentAccount, previousAccount, error in ${mark("account")}
            if let error = error { ${mark("account")}
                self.updateLogging(text: "Couldn't query current account with error: \\(error)") ${mark("account")}
                return ${mark("account")}
            } ${mark("account")}
            if let currentAccount = currentAccount { ${mark("account")}
${isExternal ? "" : `                self.updateLogging(text: "Found a signed in account \\(String(describing: currentAccount.username)). Updating data for that account...") ${mark("account")}
`}                self.updateCurrentAccount(account: currentAccount) ${mark("account")}
${isExternal ? `                self.acquireTokenSilently(account: currentAccount) ${mark("account")}
` : ""}                completion?(currentAccount) ${mark("account")}
                return ${mark("account")}
            } ${mark("account")}
            if let previousAccount = previousAccount { ${mark("account")}
                self.updateLogging(text: "The account with username \\(String(describing: previousAccount.username)) has been signed out.") ${mark("account")}
            } else { ${mark("account")}
                self.updateLogging(text: ${isExternal ? '""' : '"Account signed out. Updating UX"'}) ${mark("account")}
            } ${mark("account")}
            self.accessToken = "" ${mark("account")}
            self.updateCurrentAccount(account: nil) ${mark("account")}
            completion?(nil) ${mark("account")}
        } ${mark("account")}
    } ${mark("account")}
`;

const mainAction = () => `    @objc func callGraphAPI(_ sender: AnyObject) { ${mark("call-graph")}
        loadCurrentAccount { account in ${mark("call-graph")}
            guard let currentAccount = account else { ${mark("call-graph")}
                self.acquireTokenInteractively(account: nil) ${mark("call-graph authorize")}
                return ${mark("call-graph")}
            } ${mark("call-graph")}
            self.acquireTokenSilently(account: currentAccount) ${mark("call-graph cached refreshed silent")}
        } ${mark("call-graph")}
    } ${mark("call-graph")}
`;

const externalActions = () => `    @objc func acquireTokenInteractively(_ sender: AnyObject) { ${mark("acquire-interactively")}
        acquireTokenInteractively(account: nil) ${mark("acquire-interactively")}
    } ${mark("acquire-interactively")}

    @objc func acquireTokenSilently(_ sender: AnyObject) { ${mark("acquire-silently")}
        guard let account = currentAccount else { ${mark("acquire-silently")}
            updateLogging(text: "No token found, try to acquire a token interactively first") ${mark("acquire-silently")}
            return ${mark("acquire-silently")}
        } ${mark("acquire-silently")}
        acquireTokenSilently(account: account) ${mark("acquire-silently")}
    } ${mark("acquire-silently")}
`;

/** What the app does when the error says that a page has to be shown: the same, for the same account. */
const silently = (choice) => `    func acquireTokenSilently(account: MSALAccount) { ${mark("cached refreshed silent")}
        guard let applicationContext = applicationContext else { return }
        let parameters = MSALSilentTokenParameters(scopes: ${choice.scopes}, account: account) ${mark("cached refreshed silent")}
        parameters.completionBlockQueue = DispatchQueue.main
${called(choice, "acquireTokenSilent", {
    steps: "cached refreshed silent",
    succeeded: `self.accessToken = result.accessToken ${mark("cached refreshed")}
// Only its beginning: anyone who has a token can use it. ${mark("cached refreshed")}
self.updateLogging(text: "Refreshed Access token is \\(self.accessToken.prefix(8))…") ${mark("cached refreshed")}${choice.next}`,
    failed: `let nsError = error as NSError ${mark("silent")}
if nsError.domain == MSALErrorDomain, nsError.code == MSALError.interactionRequired.rawValue { ${mark("silent")}
    self.acquireTokenInteractively(account: account) ${mark("silent")}
    return ${mark("silent")}
} ${mark("silent")}
self.updateLogging(text: "Could not acquire token silently: \\(error)") ${mark("silent")}`,
  })}
    } ${mark("cached refreshed silent")}
`;

const graph = () => `    func getContentWithToken() { ${mark("api")}
        guard let url = URL(string: kGraphEndpoint + "v1.0/me/") else { return } ${mark("api")}
        var request = URLRequest(url: url) ${mark("api")}
        request.setValue("Bearer \\(accessToken)", forHTTPHeaderField: "Authorization") ${mark("api")}
        URLSession.shared.dataTask(with: request) { data, response, error in ${mark("api")}
            if let error = error { ${mark("api")}
                self.updateLogging(text: "Couldn't get graph result: \\(error)") ${mark("api")}
                return ${mark("api")}
            } ${mark("api")}
            // An error has a body too: the status says which it is. ${mark("api")}
            guard let http = response as? HTTPURLResponse, http.statusCode == 200, let data = data else { ${mark("api")}
                self.updateLogging(text: "Couldn't get graph result: \\(String(describing: response))") ${mark("api")}
                return ${mark("api")}
            } ${mark("api")}
            guard let result = try? JSONSerialization.jsonObject(with: data, options: []) else { ${mark("api")}
                self.updateLogging(text: "Couldn't deserialize result JSON") ${mark("api")}
                return ${mark("api")}
            } ${mark("api")}
            self.updateLogging(text: "Result from Graph: \\(result)") ${mark("api")}
        }.resume() ${mark("api")}
    } ${mark("api")}
`;

const externalAPI = (own) => `    @objc func callAPI(_ sender: AnyObject) { ${mark("call-api api")}
        updateLogging(text: "Performing request...") ${mark("call-api api")}
        guard let url = URL(string: ${own}kProtectedAPIEndpoint) else { return } ${mark("api")}
        var request = URLRequest(url: url) ${mark("api")}
        request.setValue("Bearer \\(accessToken)", forHTTPHeaderField: "Authorization") ${mark("api")}
        URLSession.shared.dataTask(with: request) { data, response, error in ${mark("api")}
            guard let http = response as? HTTPURLResponse else { ${mark("api")}
                self.updateLogging(text: "Could not call the API: \\(String(describing: error))") ${mark("api")}
                return ${mark("api")}
            } ${mark("api")}
            let body = String(decoding: data ?? Data(), as: UTF8.self) ${mark("api")}
            let begin = http.statusCode == 200 ? "Accessed API successfully using access token." : "The API refused the request." ${mark("api")}
            self.updateLogging(text: "\\(begin)\\nHTTP response code: \\(http.statusCode)\\nHTTP response body: \\(body)") ${mark("api")}
        }.resume() ${mark("api")}
    } ${mark("api")}
`;

const signOut = ({ completion, signoutFromBrowser = false }) => `    @objc func signOut(_ sender: AnyObject) { ${mark("sign-out sign_out")}
        guard let applicationContext = applicationContext, let account = currentAccount, ${mark("sign_out")}
            let webViewParameters = webViewParameters ${mark("sign_out")}
        else { return } ${mark("sign_out")}
        let signoutParameters = MSALSignoutParameters(webviewParameters: webViewParameters) ${mark("sign_out")}
        signoutParameters.signoutFromBrowser = ${signoutFromBrowser} ${mark("sign_out")}
${completion === "async" ? `        Task { ${mark("sign_out")}
            do { ${mark("sign_out")}
                _ = try await applicationContext.signout(with: account, signoutParameters: signoutParameters) ${mark("sign_out")}
                self.updateLogging(text: "Sign out completed successfully") ${mark("sign_out")}
                self.accessToken = "" ${mark("sign_out")}
                self.updateCurrentAccount(account: nil) ${mark("sign_out")}
            } catch { ${mark("sign_out")}
                self.updateLogging(text: "Couldn't sign out account with error: \\(error)") ${mark("sign_out")}
            } ${mark("sign_out")}
        } ${mark("sign_out")}
` : `        applicationContext.signout(with: account, signoutParameters: signoutParameters) { success, error in ${mark("sign_out")}
            if let error = error { ${mark("sign_out")}
                self.updateLogging(text: "Couldn't sign out account with error: \\(error)") ${mark("sign_out")}
                return ${mark("sign_out")}
            } ${mark("sign_out")}
            self.updateLogging(text: "Sign out completed successfully") ${mark("sign_out")}
            self.accessToken = "" ${mark("sign_out")}
            self.updateCurrentAccount(account: nil) ${mark("sign_out")}
        } ${mark("sign_out")}
`}    } ${mark("sign_out")}
`;

const device = (isExternal) => `    @objc func ${isExternal ? "refreshDeviceMode" : "getDeviceMode"}(_ sender: AnyObject) { ${mark("device-info")}
        guard #available(iOS 13.0, *) else { ${mark("device-info")}
            updateLogging(text: "Running on older iOS. GetDeviceInformation API is unavailable.") ${mark("device-info")}
            return ${mark("device-info")}
        } ${mark("device-info")}
        applicationContext?.getDeviceInformation(with: nil) { deviceInformation, error in ${mark("device-info")}
            guard let deviceInfo = deviceInformation else { ${mark("device-info")}
                self.updateLogging(text: "Device info not returned. Error: \\(String(describing: error))") ${mark("device-info")}
                return ${mark("device-info")}
            } ${mark("device-info")}
            let mode = deviceInfo.deviceMode == .shared ? "shared" : "private" ${mark("device-info")}
            self.updateLogging(text: "Received device info. Device is in the \\(mode) mode.") ${mark("device-info")}
        } ${mark("device-info")}
    } ${mark("device-info")}

`;
