/// A route's name, as metrics and log lines tell it: the route table's own pattern, never a path that somebody sent.
enum RouteName: Int, CaseIterable, Sendable {
    /// Nothing of ours: an unknown address, or a request that could not be read.
    case none
    case home, appPage, signedOut, asset
    case signIn, callback, adminConsent, signOut, frontChannelLogout, backChannelLogout
    case account, accounts, removeAccount, claims, token, me, photo, events, signInFailure, tokens
    case portalHealth, portalSessions, revokeSession
    case attempts, language, applications, device, health, readiness, metrics

    /// In the outer contract's notation.
    var text: String {
        switch self {
        case .none: "none"
        case .home: "/"
        case .appPage: "/{app}"
        case .signedOut: "/auth/signed-out"
        case .asset: "/assets"
        case .signIn: "/auth/{app}/sign-in"
        case .callback: "/auth/callback"
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

    /// The name of a page's path.
    init(page path: String) {
        self = path == "/" ? .home : path == "/auth/signed-out" ? .signedOut : .appPage
    }
}

extension RoutePath {
    /// The route's name.
    var name: RouteName {
        switch self {
        case .signIn: .signIn
        case .callback: .callback
        case .adminConsent: .adminConsent
        case .signOut: .signOut
        case .frontChannelLogout: .frontChannelLogout
        case .backChannelLogout: .backChannelLogout
        case .account: .account
        case .accounts: .accounts
        case .removeAccount: .removeAccount
        case .claims: .claims
        case .token: .token
        case .me: .me
        case .photo: .photo
        case .events: .events
        case .signInFailure: .signInFailure
        case .tokens: .tokens
        case .portalHealth: .portalHealth
        case .portalSessions: .portalSessions
        case .revokeSession: .revokeSession
        case .attempts: .attempts
        case .language: .language
        case .applications: .applications
        case .device: .device
        case .health: .health
        case .readiness: .readiness
        case .metrics: .metrics
        }
    }
}
