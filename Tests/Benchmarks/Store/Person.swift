import Foundation
import SessionStore

/// One of many people, whose kind follows from the number: of ten, six have one work account, one has two of them in one
/// application, one is personal and in two applications, one is of Azure AD B2C, and one of an external tenant.
struct Person {
    private let number: Int

    init(_ number: Int) { self.number = number }

    /// Signs the person in to each of their applications, as a new browser.
    ///
    /// - Returns: the session's id.
    func signIn(to store: SessionStore) async throws -> SessionID {
        var cookie: SessionID?
        for sign in signs { cookie = try await sign.run(store, cookie: cookie) }
        guard let cookie else { throw Failure("person \(number) has no account") }
        return cookie
    }

    private var signs: [OneSignIn] {
        func work(_ letter: String) -> OneSignIn {
            OneSignIn(
                app: "ios", user: "\(letter)\(number)", tenant: "contoso", tokenBytes: 2000, scopes: ["user.read"])
        }
        switch number % 10 {
        case 0..<6: return [work("w")]
        case 6: return [work("w"), work("v")]
        case 7:
            return ["ios", "macos"].map {
                OneSignIn(app: $0, user: "p\(number)", tenant: "consumers", tokenBytes: 1300, scopes: ["user.read"])
            }
        case 8:
            return [
                OneSignIn(
                    app: "b2c", user: "b\(number)", tenant: "fabrikamb2c", policy: "b2c_1_susi", tokenBytes: 900,
                    scopes: ["https://fabrikamb2c.example/api/read"])
            ]
        default:
            return [
                OneSignIn(
                    app: "external", user: "e\(number)", tenant: "fabrikam", tokenBytes: 1500,
                    scopes: ["api://fabrikam/read", "api://fabrikam/write"])
            ]
        }
    }
}

/// A sign-in as the callback stores it: with texts as long as the platform's.
private struct OneSignIn {
    let app: String
    let user: String
    let tenant: String
    var policy: String?
    let tokenBytes: Int
    let scopes: [String]

    func run(_ store: SessionStore, cookie: SessionID?) async throws -> SessionID {
        let (state, browser) = (store.newState(), Array(user.utf8))
        let sealed = try store.seal(
            NewSignInAttempt(
                app: app, state: state, nonce: UUID().uuidString, codeVerifier: text(43), returnTo: "/\(app)",
                prompt: "select_account", requestedScopes: ["openid", "profile", "offline_access"] + scopes),
            in: nil, for: browser)
        guard let begun = sealed.flatMap({ store.open($0, state: state, for: browser) }) else {
            throw Failure("a sign-in does not open")
        }
        let consumed = try await store.consume(begun, code: "code of \(state)", cookie: cookie)
        guard case .attempt(let attempt, _) = consumed else { throw Failure("a sign-in could not be completed") }
        return try await store.completeSignIn(attempt, account: account, tokens: tokens)
    }

    private var account: NewAccount {
        NewAccount(
            id: "\(user).\(tenant)",
            identity: AccountIdentity(
                username: "\(user)@\(tenant).example", name: "Person \(user)", tenantID: tenant,
                environment: "login.microsoftonline.com", objectID: user,
                issuer: "https://login.microsoftonline.com/\(tenant)/v2.0", subject: text(43) + user,
                sid: "sid-\(user)", policy: policy),
            idTokenClaims: #"{"sub":"\#(user)","tid":"\#(tenant)","other":"\#(text(800))"}"#)
    }

    private var tokens: NewTokens {
        NewTokens(
            accessToken: text(tokenBytes), requestedScopes: ScopeSet(scopes), expiresOn: Date() + 3600,
            refreshOn: Date() + 1800, refreshToken: text(1200), idToken: text(1300))
    }

    private func text(_ bytes: Int) -> String { String(repeating: "0aZ-", count: bytes / 4) }
}
