import Cryptography
public import Foundation
import WebFormats

/// An application that is registered at the demo tenant, as it would be in the platform's portal.
public struct DemoClient: Sendable, Hashable {
    /// The platforms of a redirect URI. They decide how a code or refresh token is redeemed.
    public enum RedirectClass: String, Sendable, Codable, CaseIterable {
        /// With a secret or an assertion, and never by a browser's script.
        case web
        /// By a browser's script, without a secret, and with PKCE. Its refresh tokens last for a day.
        case spa
        /// Mobile and desktop applications: without a secret, and not by a browser's script.
        case native
    }

    /// The application (client) ID.
    public var id: String
    /// The name that people see on the sign-in and consent pages.
    public var name: String
    /// The secret of a web application.
    public var secret: String?
    /// The time from which the secret is refused; nil for two years from the start of the tenant.
    public var secretExpires: Date?
    /// The secrets that were made at run time.
    package var secrets: [ClientSecret] = []
    /// See ``RunTimeIdentity``; nil for an application of the configuration.
    package var registered: RunTimeIdentity?
    /// A certificate that authenticates the application instead of a secret.
    public var certificate: Certificate?
    /// A token of another identity system that authenticates the application (a federated credential).
    public var federatedToken: String?
    /// The redirect URIs of each class. They are compared character by character, except for the port of localhost. A
    /// browser may also return to them after signing out.
    public var webRedirectURIs: [String]
    /// See ``webRedirectURIs``.
    public var spaRedirectURIs: [String]
    /// See ``webRedirectURIs``.
    public var nativeRedirectURIs: [String]
    /// The address that is notified of sign-outs (OpenID Connect Front-Channel Logout 1.0); nil if there is none.
    public var frontChannelLogoutURI: String?
    /// The start page for people, to which the control page links; nil if there is none.
    public var homeURL: String?
    /// The domains of the tenants that know the application; nil for all.
    public var tenants: Set<String>?
    /// The scopes of the application's own API, by its identifier, such as `api://tasks`.
    public var exposes: [String: [String]] = [:]
    /// The authentication context that the API demands of a person's token, by its identifier, such as `c1`.
    public var requiredContexts: [String: String] = [:]
    /// The version of access tokens for its API (the manifest's `requestedAccessTokenVersion`, where nothing means 1).
    public var accessTokenVersion = AccessTokenVersion.v1
    /// Its app roles.
    public var appRoles: [AppRole] = []
    /// The app roles that are granted to the application itself, by the identifier of the resource that defines them:
    /// `https://graph.microsoft.com`, an identifier of ``exposes``, or a client ID.
    public var applicationRoles: [String: [String]] = [:]
    /// The delegated permissions that the registration lists, by an identifier of their API as in ``applicationRoles``. An
    /// API that it does not name is refused; nil refuses none.
    public var permissions: [String: [String]]?
    /// Whether the authorization endpoint issues ID tokens (the manifest's `enableIdTokenIssuance`).
    public var issuesIDTokens = false
    /// Whether only people and applications that are assigned to it get a token of it or for it.
    public var assignmentRequired = false
    /// Whether it may use native authentication, with which an app needs no browser.
    public var hasNativeAuthentication = false
    /// Whether public client flows are allowed; nil if native authentication and the redirect URIs decide.
    public var publicClientFlows: Bool?
    /// The user flow by which people sign up natively; nil if none is assigned to the application.
    public var signUpFlow: SignUpFlow? = SignUpFlow()
    /// The groups in its ID tokens and in the access tokens for its API.
    public var groupMembershipClaims = GroupMembershipClaims.none
    /// Its optional claims; nil keeps the claims that the tenant gives every application.
    public var optionalClaims: OptionalClaims?

    /// The versions of access tokens, which differ in issuer, audience and claims.
    public enum AccessTokenVersion: Int, Sendable, CaseIterable {
        case v1 = 1, v2
    }

    /// The parts of a certificate that the tenant needs.
    public struct Certificate: Sendable, Hashable {
        /// `x5t#S256`: base64url of the SHA-256 of its DER.
        public var thumbprint: String
        /// The RSA public key, PEM.
        public var publicKeyPEM: String
        /// The certificate itself, for Graph; empty if it is not known.
        public var der: [UInt8] = []
        /// The subject's distinguished name.
        public var subject = ""
        /// The times between which it is valid.
        public var start = Date.distantPast
        /// See ``start``.
        public var end = Date.distantFuture

        /// Registers a certificate.
        public init(thumbprint: String, publicKeyPEM: String) {
            self.thumbprint = thumbprint
            self.publicKeyPEM = publicKeyPEM
        }
    }

    /// Registers an application.
    public init(
        id: String, name: String, secret: String? = nil, web: [String] = [], spa: [String] = [], native: [String] = []
    ) {
        self.id = id
        self.name = name
        self.secret = secret
        webRedirectURIs = web
        spaRedirectURIs = spa
        nativeRedirectURIs = native
    }

    /// Returns the redirect URI that MSAL for iOS and macOS uses for a bundle ID.
    public static func redirectURI(ofBundle bundleID: String) -> String { "msauth.\(bundleID)://auth" }

    /// Returns a client ID that is the same for the same text, for applications that are registered without one.
    public static func id(for text: String) -> String { nameBasedID("client", text) }

    /// Returns the context that its API demands of a token with an audience, which in version 2 is the client ID.
    package func requiredContext(of audience: String) -> String? {
        requiredContexts[audience] ?? (audience == id ? requiredContexts.values.sorted().first : nil)
    }

    /// Whether the application has no way to authenticate itself.
    package var isPublic: Bool {
        secret == nil && secrets.isEmpty && certificate == nil && federatedToken == nil
    }

    /// Whether public client flows are allowed without a redirect URI (the manifest's `isFallbackPublicClient`): for
    /// native authentication, for applications on devices, and for those that have nothing else than an ID.
    package var allowsPublicFlows: Bool {
        publicClientFlows
            ?? (hasNativeAuthentication || !nativeRedirectURIs.isEmpty || isPublic && redirectURIs.isEmpty)
    }

    /// All redirect URIs.
    package var redirectURIs: [String] { webRedirectURIs + spaRedirectURIs + nativeRedirectURIs }

    /// Returns the class of a redirect URI; nil if it is not registered. It is compared character by character, except
    /// for the port of localhost, which the platform ignores.
    package func redirectClass(of uri: String) -> RedirectClass? {
        let asked = Self.withoutLocalhostPort(uri)
        func has(_ uris: [String]) -> Bool { uris.contains { Self.withoutLocalhostPort($0) == asked } }
        return has(webRedirectURIs) ? .web : has(spaRedirectURIs) ? .spa : has(nativeRedirectURIs) ? .native : nil
    }

    private static func withoutLocalhostPort(_ uri: String) -> String {
        guard let host = ["http://localhost:", "https://localhost:"].first(where: uri.hasPrefix) else { return uri }
        let rest = uri.dropFirst(host.count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard UInt16(digits) != nil else { return uri }
        return String(host.dropLast()) + rest.dropFirst(digits.count)
    }
}

/// Returns an ID that is made from a name, so that it is the same at each start.
package func nameBasedID(_ kind: String, _ name: String) -> String {
    RandomUUID.text(Array(SHA256.hash(data: Data("companion \(kind) \(name.lowercased())".utf8)).prefix(16)))
}
