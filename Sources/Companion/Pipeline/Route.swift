import HTTPTypes

/// The route table: every address of the outer contract, in the contract's order.
enum Route: Int, CaseIterable, Sendable {
    /// Nothing of ours: an unknown address, or a request that could not be read.
    case none
    // Pages and assets, which are answered from memory.
    case home, appPage, signedOut, asset
    case signIn, callback, ownCallback, adminConsent, signOut, frontChannelLogout, backChannelLogout
    case account, accounts, removeAccount, claims, token, me, photo, events, signInFailure, tokens
    case portalHealth, portalSessions, revokeSession
    case attempts, language, applications, device, health, readiness, metrics

    /// First path segments that no application may take.
    static let reserved: Set<String> = ["api", "auth", "assets", "healthz", "readyz", "metrics"]

    /// In the outer contract's notation, as metrics and log lines tell it: never a path that somebody sent.
    var pattern: String {
        switch self {
        case .none: "none"
        case .home: "/"
        case .appPage: "/{app}"
        case .signedOut: "/auth/signed-out"
        case .asset: "/assets"
        case .signIn: "/auth/{app}/sign-in"
        case .callback: "/auth/callback"
        case .ownCallback: "/auth/{app}/callback"
        case .adminConsent: "/auth/{app}/admin-consent"
        case .signOut: "/auth/{app}/sign-out"
        case .frontChannelLogout: "/auth/front-channel-logout"
        case .backChannelLogout: "/auth/back-channel-logout"
        case .account: "/api/{app}/account"
        case .accounts: "/api/{app}/accounts"
        case .removeAccount: "/api/{app}/accounts/{id}"
        case .claims: "/api/{app}/claims"
        case .token: "/api/{app}/token"
        case .me: "/api/{app}/me"
        case .photo: "/api/{app}/me/photo"
        case .events: "/api/{app}/events"
        case .signInFailure: "/api/{app}/sign-in-failure"
        case .tokens: "/api/{app}/tokens"
        case .portalHealth: "/api/{app}/health"
        case .portalSessions: "/api/{app}/sessions"
        case .revokeSession: "/api/{app}/sessions/{key}"
        case .attempts: "/api/attempts"
        case .language: "/api/language"
        case .applications: "/api/apps"
        case .device: "/api/device"
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .metrics: "/metrics"
        }
    }

    /// The route of a page's path.
    static func page(_ path: String) -> Route {
        path == "/" ? .home : path == "/auth/signed-out" ? .signedOut : .appPage
    }

    /// The methods that the route answers. HEAD comes with GET where GET has no effect: a link checker must not consume
    /// a sign-in.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .callback, .ownCallback: [.get, .post]
        case .signIn, .adminConsent, .frontChannelLogout: [.get]
        case .signOut, .token, .backChannelLogout, .language: [.post]
        case .account: [.get, .head, .put]
        case .removeAccount, .revokeSession: [.delete]
        case .none, .home, .appPage, .signedOut, .asset, .accounts, .claims, .me, .photo, .events, .signInFailure,
            .tokens, .portalHealth, .portalSessions, .attempts, .applications, .device, .health, .readiness, .metrics:
            [.get, .head]
        }
    }

    /// As an `Allow` field says it.
    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }

    /// Whether pages' scripts call it, and no other site may.
    var isAPI: Bool {
        switch self {
        case .signOut, .account, .accounts, .removeAccount, .claims, .token, .me, .photo, .events, .signInFailure,
            .tokens, .portalHealth, .portalSessions, .revokeSession, .attempts, .language, .applications, .device:
            true
        case .none, .home, .appPage, .signedOut, .asset, .signIn, .adminConsent, .callback, .ownCallback,
            .frontChannelLogout, .backChannelLogout, .health, .readiness, .metrics:
            false
        }
    }

    /// Whether a sign-in begins here, which must happen under the public URL's own name.
    var isBegin: Bool { self == .signIn || self == .adminConsent }

    /// What bounds how often it is asked for: everything that writes or asks a provider for somebody who may be unknown.
    var limit: Limit? {
        switch self {
        case .signIn, .adminConsent: .signIns
        case .callback, .ownCallback: .callbacks
        case .portalHealth, .portalSessions, .revokeSession: .operatorRequests
        default: nil
        }
    }

    /// Whether the request proves by itself who sent it: by its state, or by a signed token.
    var provesItself: Bool { self == .callback || self == .ownCallback || self == .backChannelLogout }
}
