import HTTPServer
import TenantControl
import TenantSignIn
import WebFormats

/// The kinds of requests that `/clients` lists.
enum ClientStep: String, Sendable, CaseIterable {
    case instanceDiscovery = "instance_discovery"
    case metadata, keys, authorize, page, code, refresh
    case clientCredentials = "client_credentials"
    case deviceCode = "device_code"
    case devicePoll = "device_poll"
    /// A token request with another grant, or none.
    case token
    case native = "native_authentication"
    case adminConsent = "admin_consent"
    case api
    case signOut = "sign_out"

    /// Finds the step by the path, of token requests also by the grant; nil for everything that is not an application's
    /// request: the tenant's own pages, preflights, unknown paths.
    init?(_ request: Request, _ fields: FormFields?) {
        let path = request.head.path.prefix { $0 != "?" }.lowercased()
        guard request.head.method != .options else { return nil }
        // The addresses of version 1 lack this part.
        let address = path.replacing("/v2.0/", with: "/")
        // At these addresses the pages only show what a request has led to.
        let isShown = request.head.method != .post && !address.hasSuffix("/oauth2/logout")
        if isShown, ["/login", "/logout", "/devicelogin"].contains(where: path.hasSuffix) { return nil }
        if ["/v1.0/", "/oidc/", "/api/"].contains(where: path.hasPrefix) {
            self = .api
            return
        }
        if let endpoint = Self.nativeEndpoint(path), endpoint != .token {
            self = .native
            return
        }
        let endings: [(String, ClientStep)] = [
            ("/discovery/instance", .instanceDiscovery), ("/.well-known/openid-configuration", .metadata),
            ("/discovery/keys", .keys), ("/oauth2/authorize", .authorize), ("/login", .page), ("/devicelogin", .page),
            ("/oauth2/devicecode", .deviceCode), ("/oauth2/token", .token), ("/oauth2/revoke", .token),
            ("/adminconsent", .adminConsent), ("/logout", .signOut),
        ]
        guard let step = endings.first(where: { address.hasSuffix($0.0) })?.1 else { return nil }
        self =
            switch (step, fields?["grant_type"]) {
            case (.token, "authorization_code"): .code
            case (.token, "refresh_token"): .refresh
            case (.token, "client_credentials"): .clientCredentials
            case (.token, DeviceCode.grantType): .devicePoll
            case (.token, "oob"), (.token, "mfa_oob"), (.token, "continuation_token"): .native
            case (.token, "password") where fields?["continuation_token"] != nil: .native
            default: step
            }
    }

    /// The endpoint of native authentication at a path of a tenant.
    static func nativeEndpoint(_ path: some StringProtocol) -> Controls.NativeEndpoint? {
        Controls.NativeEndpoint.allCases.first { path.hasSuffix("/\($0.rawValue)") }
    }

    var title: HTML {
        switch self {
        case .instanceDiscovery: "Instance discovery"
        case .metadata: "Metadata"
        case .keys: "Keys"
        case .authorize: "Authorization"
        case .page: "Page submitted"
        case .code: "Code redemption"
        case .refresh: "Token refresh"
        case .clientCredentials: "The application’s own token"
        case .deviceCode: "Device code request"
        case .devicePoll: "Device code poll"
        case .token: "Other token request"
        case .native: "Native authentication"
        case .adminConsent: "Admin consent"
        case .api: "API called"
        case .signOut: "Sign-out"
        }
    }

    /// The explanation of a step, to which its rows link.
    var meaning: HTML {
        switch self {
        case .instanceDiscovery:
            "MSAL asks which names this platform has, because the tokens in its cache are valid for all of them. "
                + "It does so for Entra ID, not for B2C or an external tenant."
        case .metadata: "The client reads the endpoints of the authority and the name of the issuer."
        case .keys:
            "The client reads the keys with which it checks the signatures of tokens. MSAL for iOS and macOS "
                + "does not."
        case .authorize:
            "The browser, or a web view in the app, was sent here to sign in. Status 200 means that a page is "
                + "shown, 302 that the browser returned to the app at once."
        case .page:
            "The person pressed a button on one of the pages. With 302, the browser returned to the app."
        case .code:
            "The app exchanged the code from the browser for tokens. A native app has no secret. The verifier of "
                + "PKCE proves that the code belongs to the app."
        case .refresh:
            "The app got new tokens with its refresh token, without involving the person. MSAL does this in "
                + "acquireTokenSilent when the access token has expired or other scopes are needed."
        case .clientCredentials: "The app signed in as itself, without a person."
        case .deviceCode:
            "The app asked for a code that a person enters in a browser, on the same or another device. It shows the code "
                + "and waits."
        case .devicePoll:
            "The app asked whether the person has finished. Status 400 with AADSTS70016 means not yet: the app asks again "
                + "after 5 seconds."
        case .token: "The app used another grant, or revoked a token."
        case .native:
            "The app signs a person in or up, or resets a password, in its own screens. Next to the answer is the result that MSAL "
                + "for iOS and macOS has for it."
        case .adminConsent: "An administrator was asked to approve the app for the whole organization."
        case .api:
            "Graph, UserInfo or another API was called with an access token. Status 401 means that the token is "
                + "not accepted, 403 that it lacks a permission."
        case .signOut: "The browser was sent here to end the session. The app only sees the return."
        }
    }
}
