// The lines of Microsoft's tutorials, in Swift, that each step of a flow stands for.

const interactive = `let parameters =
    MSALInteractiveTokenParameters(
        scopes: kScopes,
        webviewParameters: webViewParameters)
parameters.promptType = .selectAccount
applicationContext.acquireToken(
    with: parameters) { … }`;

const callback = `MSALPublicClientApplication
    .handleMSALResponse(
        url, sourceApplication: …)`;

const redeemed = `guard let result = result else { … }
self.accessToken = result.accessToken`;

const silent = `let parameters =
    MSALSilentTokenParameters(
        scopes: kScopes, account: account)
applicationContext.acquireTokenSilent(
    with: parameters) { … }`;

const silentFailed = `${silent}
…
if nsError.code ==
    MSALError.interactionRequired.rawValue {
    self.acquireTokenInteractively()
}`;

const api = `request.setValue(
    "Bearer \\(self.accessToken)",
    forHTTPHeaderField: "Authorization")
URLSession.shared.dataTask(
    with: request) { … }`;

const signOut = `let signoutParameters =
    MSALSignoutParameters(
        webviewParameters: webViewParameters)
signoutParameters.signoutFromBrowser = …
applicationContext.signout(
    with: account,
    signoutParameters: signoutParameters)`;

const ios = {
  authorize: interactive, callback, redeemed, cached: silent, refreshed: silent, silent: silentFailed, api, sign_out: signOut,
};

/** The scopes of the second tutorial stand in a type of their own. */
const external = Object.fromEntries(Object.entries(ios).map(([step, lines]) => [step, lines.replace("kScopes, account", "kScopes,\n        account").replace("kScopes", "Configuration.kScopes")]));

/** The B2C sample calls its application context `application`, and names the authority of the user flow. */
const b2c = {
  ...ios,
  authorize: `let authority = try self.getAuthority(
    forPolicy: …)
${interactive.replace("applicationContext", "parameters.authority = authority\napplication")}`,
  cached: silent.replace("applicationContext", "parameters.authority = authority\napplication"),
  api: `request.setValue(
    "Bearer \\(accessToken)",
    forHTTPHeaderField: "Authorization")
urlSession.dataTask(
    with: request) { … }`,
  sign_out: `let thisAccount = try self.getAccountByPolicy(
    withAccounts: application.allAccounts(),
    policy: kSignupOrSigninPolicy)
try application.remove(accountToRemove)`,
};
b2c.refreshed = b2c.cached;
b2c.silent = silentFailed.replace(silent, b2c.cached).replace("self.acquireTokenInteractively()", "parameters.account = thisAccount\n    self.application.acquireToken(…) { … }");

/** On macOS the web view returns by itself: the app has no line for it. */
const macos = { ...ios, callback: "" };

/** By page and step. */
export const lines = { ios, macos, external, b2c };
