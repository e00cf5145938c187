import Foundation
import GRDB

@testable import SessionStore

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
    private let time = Locked(Date(timeIntervalSince1970: 1_800_000_000))
    var now: Date { time.withLock { $0 } }
    func advance(by duration: Duration) {
        time.withLock { $0 += Double(duration.components.seconds) }
    }
}

/// A folder of its own for a real database and key file; gone with the last reference.
final class StoreFixture: Sendable {
    let folder: String
    let clock = TestClock()
    var path: String { folder + "/companion.sqlite" }
    var keyPath: String { folder + "/companion.key" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/companion-store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A store without background work: tests call its steps themselves.
    func open(
        idle: Duration = .seconds(3600), maxAge: Duration = .seconds(12 * 3600), cacheBytes: Int = 16 << 20,
        keyRing: KeyRing? = nil, newcomers: SessionStore.NewcomerLimits = .init(),
        onOperation: (@Sendable (StoreOperation) -> Void)? = nil
    ) throws -> SessionStore {
        let clock = clock
        var configuration = SessionStore.Configuration(
            path: path, idle: idle, maxAge: maxAge, cacheBytes: cacheBytes)
        configuration.newcomers = newcomers
        configuration.onOperation = onOperation
        return try SessionStore(
            configuration: configuration,
            keyRing: keyRing ?? .load(orCreateAt: keyPath), now: { clock.now },
            randomBytes: SessionStore.secureRandomBytes, backgroundWork: false)
    }

    /// The files there are; without the database's log and its index, which stay when the database is closed.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { !$0.hasPrefix("companion.sqlite-") }
    }

    /// A connection of "another process": what SQLite does between connections does not depend on the process.
    func outsider() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

extension NewSignInAttempt {
    static func sample(state: String, app: String = "ios", returnTo: String = "/ios") -> NewSignInAttempt {
        NewSignInAttempt(
            app: app, state: state, nonce: "nonce-of-\(state)", codeVerifier: "verifier-of-\(state)",
            returnTo: returnTo,
            prompt: "select_account", requestedScopes: ["openid", "User.Read"], attributes: ["policy": "of-\(state)"])
    }
}

extension NewAccount {
    static func sample(_ user: String, sid: String? = nil) -> NewAccount {
        NewAccount(
            id: "\(user).tenant", username: "\(user)@contoso.example", name: user.capitalized, tenantID: "tenant",
            environment: "localhost", objectID: user, issuer: "https://issuer.example/v2.0", subject: "sub-\(user)",
            sid: sid, idTokenClaims: #"{"nonce":"claim-of-\#(user)"}"#)
    }
}

extension NewTokens {
    static func sample(
        _ label: String, at clock: TestClock, scopes: ScopeSet = ["User.Read"], granted: ScopeSet? = nil,
        seconds: Double = 3600
    ) -> NewTokens {
        NewTokens(
            accessToken: "access-\(label)", requestedScopes: scopes, grantedScopes: granted,
            expiresOn: clock.now + seconds, refreshOn: clock.now + seconds / 2, refreshToken: "refresh-\(label)")
    }
}

extension ScopeSet: ExpressibleByArrayLiteral {
    /// As a list of scopes.
    public init(arrayLiteral elements: String...) { self.init(elements) }
}

extension ConsumedAttempt {
    /// The case's name: what the tables of the tests compare.
    var name: String {
        switch self {
        case .attempt: "attempt"
        case .replayed: "replayed"
        case .inProgress: "inProgress"
        case .failed: "failed"
        case .otherBrowser: "otherBrowser"
        case .expired: "expired"
        case .unknown: "unknown"
        }
    }
}

struct UnexpectedOutcome: Error { let name: String }

extension SessionStore {
    /// The first callback of a state.
    func consume(_ state: String, code: String? = nil, cookie: SessionID?) async throws -> SignInAttempt {
        let outcome = try await consumeAttempt(state: state, code: code ?? "code-of-\(state)", cookie: cookie)
        guard case .attempt(let attempt) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        return attempt
    }

    /// A whole sign-in.
    @discardableResult
    func signIn(
        _ user: String, app: String = "ios", cookie: SessionID? = nil, state: String = UUID().uuidString,
        at clock: TestClock, sid: String? = nil
    ) async throws -> SessionID {
        let begun = try await beginSignIn(.sample(state: state, app: app, returnTo: "/\(app)"), cookie: cookie)
            .sessionID
        let attempt = try await consume(state, cookie: begun)
        return try await completeSignIn(attempt, account: .sample(user, sid: sid), tokens: .sample(user, at: clock))
    }
}
