import HTTPTypes

/// The route table: every path of the outer contract, in the contract's order. Pages and assets are looked up before
/// it, so that they cost one dictionary access.
enum RoutePath: Equatable {
    case signIn(app: String)
    case callback
    case adminConsent(app: String)
    case signOut(app: String)
    case frontChannelLogout
    case backChannelLogout
    case account(app: String)
    case accounts(app: String)
    case removeAccount(app: String, id: String)
    case claims(app: String)
    case token(app: String)
    case me(app: String)
    case photo(app: String)
    case events(app: String)
    case signInFailure(app: String)
    case tokens(app: String)
    case portalHealth(app: String)
    case portalSessions(app: String)
    case revokeSession(app: String, key: String)
    case attempts
    case language
    case applications
    case device
    case health
    case readiness
    case metrics

    /// First path segments that no application may take.
    static let reserved: Set<String> = ["api", "auth", "assets", "healthz", "readyz", "metrics"]

    /// Splits a raw path; nil when no route has that shape. Route paths hold no characters that need percent-encoding,
    /// so an encoded spelling is simply not found.
    init?(_ path: String) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch segments.count {
        case 1:
            switch segments[0] {
            case "healthz": self = .health
            case "readyz": self = .readiness
            case "metrics": self = .metrics
            default: return nil
            }
        case 2:
            switch (segments[0], segments[1]) {
            case ("auth", "callback"): self = .callback
            case ("auth", "front-channel-logout"): self = .frontChannelLogout
            case ("auth", "back-channel-logout"): self = .backChannelLogout
            case ("api", "device"): self = .device
            case ("api", "apps"): self = .applications
            case ("api", "attempts"): self = .attempts
            case ("api", "language"): self = .language
            default: return nil
            }
        case 3:
            switch (segments[0], segments[2]) {
            case ("auth", "sign-in"): self = .signIn(app: segments[1])
            case ("auth", "admin-consent"): self = .adminConsent(app: segments[1])
            case ("auth", "sign-out"): self = .signOut(app: segments[1])
            case ("api", "account"): self = .account(app: segments[1])
            case ("api", "accounts"): self = .accounts(app: segments[1])
            case ("api", "claims"): self = .claims(app: segments[1])
            case ("api", "token"): self = .token(app: segments[1])
            case ("api", "me"): self = .me(app: segments[1])
            case ("api", "events"): self = .events(app: segments[1])
            case ("api", "sign-in-failure"): self = .signInFailure(app: segments[1])
            case ("api", "tokens"): self = .tokens(app: segments[1])
            case ("api", "health"): self = .portalHealth(app: segments[1])
            case ("api", "sessions"): self = .portalSessions(app: segments[1])
            default: return nil
            }
        case 4 where segments[0] == "api" && segments[2] == "me" && segments[3] == "photo":
            self = .photo(app: segments[1])
        case 4 where segments[0] == "api" && segments[2] == "accounts" && !segments[3].isEmpty:
            self = .removeAccount(app: segments[1], id: segments[3])
        case 4 where segments[0] == "api" && segments[2] == "sessions" && !segments[3].isEmpty:
            self = .revokeSession(app: segments[1], key: segments[3])
        default:
            return nil
        }
    }

    /// The methods that the route answers. HEAD comes with GET where GET has no effect: a link checker must not consume
    /// a sign-in.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .callback: [.get, .post]
        case .signIn, .adminConsent, .frontChannelLogout: [.get]
        case .signOut, .token, .backChannelLogout, .language: [.post]
        case .account: [.get, .head, .put]
        case .removeAccount, .revokeSession: [.delete]
        case .accounts, .claims, .me, .photo, .events, .signInFailure, .tokens, .portalHealth, .portalSessions,
            .attempts, .applications, .device, .health, .readiness, .metrics:
            [.get, .head]
        }
    }

    /// As an `Allow` field says it.
    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }

    /// The application that the path names.
    var app: String? {
        switch self {
        case .signIn(let app), .adminConsent(let app), .signOut(let app), .account(let app), .accounts(let app),
            .removeAccount(let app, _), .claims(let app), .token(let app), .me(let app), .photo(let app),
            .events(let app), .signInFailure(let app), .tokens(let app), .portalHealth(let app),
            .portalSessions(let app), .revokeSession(let app, _):
            app
        case .callback, .frontChannelLogout, .backChannelLogout, .attempts, .language, .applications, .device, .health,
            .readiness, .metrics:
            nil
        }
    }

    /// Whether pages' scripts call it, and no other site may.
    var isAPI: Bool {
        switch self {
        case .signIn, .adminConsent, .callback, .frontChannelLogout, .backChannelLogout, .health, .readiness, .metrics:
            false
        case .signOut, .account, .accounts, .removeAccount, .claims, .token, .me, .photo, .events, .signInFailure,
            .tokens, .portalHealth, .portalSessions, .revokeSession, .attempts, .language, .applications, .device:
            true
        }
    }

    /// Whether a sign-in begins here, which must happen under the public URL's own name.
    var isBegin: Bool {
        switch self {
        case .signIn, .adminConsent: true
        default: false
        }
    }

    /// Whether the request proves by itself who sent it: by its state, or by a signed token.
    var provesItself: Bool { self == .callback || self == .backChannelLogout }
}
