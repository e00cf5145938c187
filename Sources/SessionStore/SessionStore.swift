import Foundation

/// The sessions, accounts, tokens and sign-in attempts, in one SQLite file with a cache in front.
public final class SessionStore: Sendable {
    /// Where the database is and how long sessions live.
    public struct Configuration: Sendable {
        /// The SQLite file; made (mode 0600) when it is not there.
        public var path: String
        /// A session that was not used for so long is over.
        public var idle: Duration
        /// A session is over so long after its first sign-in, however much it is used.
        public var maxAge: Duration
        /// The time between leaving for the provider and coming back.
        public var attemptLifetime: Duration = .seconds(30 * 60)
        /// How much memory the cache may take, in bytes.
        public var cacheBytes: Int

        /// Every property, in their order.
        public init(path: String, idle: Duration, maxAge: Duration, cacheBytes: Int = 64 << 20) {
            self.path = path
            self.idle = idle
            self.maxAge = maxAge
            self.cacheBytes = cacheBytes
        }
    }

    /// Opens the database, makes or migrates it, and checks that the keys fit.
    public init(
        configuration: Configuration, keyRing: KeyRing, now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes
    ) throws(StoreError) {
        throw .unavailable("being built")
    }

    /// Bytes from the system's secure generator.
    public static let secureRandomBytes: @Sendable (Int) -> [UInt8] = { count in
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Writes what is pending, stops the background work and closes the file.
    public func close() async {}

    // MARK: Sessions

    /// The session when it is in memory: no I/O, never blocks. nil: ask `session(_:)`. Counts as use of the session.
    public func cachedSession(_ id: SessionID) -> Session? { nil }

    /// The session; nil when unknown or expired. Counts as use of the session.
    public func session(_ id: SessionID) async throws(StoreError) -> Session? { nil }

    // MARK: Sign-in

    /// Stores an attempt before the browser leaves. Answers the cookie's id, or a new one to set when there was no
    /// (live) session.
    public func beginSignIn(_ new: NewSignInAttempt, cookie: SessionID?) async throws(StoreError) -> SessionID {
        throw .unavailable("being built")
    }

    /// How many attempts of one application the browser began within the last `duration`: stops redirect loops.
    public func attemptsBegun(cookie: SessionID?, app: String, within duration: Duration) async throws(StoreError)
        -> Int
    { 0 }

    /// Takes the attempt of a callback, once. `code` is nil for an error response.
    public func consumeAttempt(state: String, code: String?, cookie: SessionID?) async throws(StoreError)
        -> ConsumedAttempt
    {
        throw .unavailable("being built")
    }

    /// Stores account and tokens, makes the account current, and rotates the session's id: set the one returned.
    public func completeSignIn(_ attempt: SignInAttempt, account: NewAccount, tokens: NewTokens)
        async throws(StoreError) -> SessionID
    {
        throw .unavailable("being built")
    }

    /// Marks a consumed attempt as failed, so that a reloaded callback says so.
    public func failSignIn(_ attempt: SignInAttempt) async throws(StoreError) {}

    // MARK: Accounts and tokens

    /// An access token that serves the scopes, when it is in memory: no I/O.
    public func cachedAccessToken(_ session: SessionKey, app: String, accountID: String, scopes: ScopeSet)
        -> StoredAccessToken?
    { nil }

    /// An access token that serves the scopes: one asked for with exactly these, else one whose granted scopes include
    /// them. It may have expired.
    public func accessToken(_ session: SessionKey, app: String, accountID: String, scopes: ScopeSet)
        async throws(StoreError) -> StoredAccessToken?
    { nil }

    /// The account's refresh token; nil when there is none.
    public func refreshToken(_ session: SessionKey, app: String, accountID: String) async throws(StoreError) -> String?
    { nil }

    /// Stores a refresh response and clears `needsInteraction`. Throws `noSuchSession` when the account was signed out
    /// meanwhile: nothing is stored then.
    public func storeRefreshed(_ session: SessionKey, app: String, accountID: String, tokens: NewTokens)
        async throws(StoreError)
    {}

    /// Forgets the access tokens that serve the scopes (the API refused them).
    public func dropAccessTokens(_ session: SessionKey, app: String, accountID: String, scopes: ScopeSet)
        async throws(StoreError)
    {}

    /// Remembers that the provider wants the person. With `refreshToken`, only when that is still the stored one: a
    /// refusal that arrives after a new sign-in says nothing about it.
    public func markNeedsInteraction(
        _ session: SessionKey, app: String, accountID: String, reason: String, claims: String? = nil,
        refreshToken: String? = nil
    ) async throws(StoreError) {}

    /// Signs an account out: its tokens are gone when this returns. The session's id is rotated: set the one returned.
    public func removeAccount(_ session: SessionKey, app: String, accountID: String, keepAsPrevious: Bool)
        async throws(StoreError) -> SessionID
    {
        throw .unavailable("being built")
    }

    /// Chooses the account that the application's page shows.
    public func setCurrentAccount(_ session: SessionKey, app: String, accountID: String) async throws(StoreError) {}

    /// Single sign-out by the provider: removes the accounts of this issuer with the provider's session id, or subject,
    /// or both (OpenID Connect Back-Channel Logout section 2.6), and sessions left without account. Answers how many accounts went.
    public func removeSessions(issuer: String, sid: String?, subject: String? = nil) async throws(StoreError) -> Int {
        0
    }

    // MARK: Administration

    /// Sessions in the order of their keys, after `after`.
    public func list(after: SessionKey? = nil, limit: Int = 1000) async throws(StoreError) -> [SessionSummary] { [] }
    /// Ends one session; false when there is none.
    public func revoke(_ session: SessionKey) async throws(StoreError) -> Bool { false }
    /// Ends every session in which this username is signed in; answers how many.
    public func revoke(username: String) async throws(StoreError) -> Int { 0 }
    /// Ends every session; answers how many.
    public func revokeAll() async throws(StoreError) -> Int { 0 }
    /// Deletes what has expired, in small batches; answers how many sessions.
    public func purgeExpired() async throws(StoreError) -> Int { 0 }
    /// Seals again with the current key what an older one sealed; answers how many rows.
    public func reseal() async throws(StoreError) -> Int { 0 }
    /// True when a write reached the disk just now (`/readyz`).
    public func probeWritable() async -> Bool { false }
}
