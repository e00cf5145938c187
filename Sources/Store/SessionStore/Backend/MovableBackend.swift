package import Foundation

/// A session with everything that belongs to it, to be moved to another database. Its values stay sealed: they are
/// sealed for the session's key, which does not change.
package struct WholeSession: Sendable {
    /// An account's tokens.
    package struct Secrets: Sendable {
        package var refreshToken: Data?
        package var idToken: Data?
        /// The access tokens, the newest last.
        package var accessTokens: [AccessTokenRow]

        package init(refreshToken: Data?, idToken: Data?, accessTokens: [AccessTokenRow]) {
            self.refreshToken = refreshToken
            self.idToken = idToken
            self.accessTokens = accessTokens
        }
    }

    /// A sign-in whose browser has come back from the provider to this session.
    package struct Attempt: Sendable {
        package var state: SHA256Hash
        package var row: AttemptRow
        /// Whether no one was signed in to the session.
        package var isOfNewcomer: Bool

        package init(state: SHA256Hash, row: AttemptRow, isOfNewcomer: Bool) {
            self.state = state
            self.row = row
            self.isOfNewcomer = isOfNewcomer
        }
    }

    package var session: SealedSession
    package var secrets: [AccountKey: Secrets]
    package var attempts: [Attempt]

    package init(session: SealedSession, secrets: [AccountKey: Secrets], attempts: [Attempt]) {
        self.session = session
        self.secrets = secrets
        self.attempts = attempts
    }
}

/// A backend whose sessions can be moved to another database while no server uses either.
package protocol MovableBackend: StoreBackend {
    /// - Returns: the sessions after the given one, in the order of their keys.
    func wholeSessions(after: SessionKey?, limit: Int) async throws(StoreError) -> [WholeSession]
    /// Inserts sessions that do not exist yet.
    func put(_ sessions: [WholeSession]) async throws(StoreError)
    /// - Returns: the logout tokens that were used, with the times at which they expire.
    func logoutTokens() async throws(StoreError) -> [SHA256Hash: Int64]
    /// Records logout tokens as used.
    func put(logoutTokens: [SHA256Hash: Int64]) async throws(StoreError)
    /// Instructions for emptying the database, as the end of a sentence.
    var emptying: String { get }
}

extension MovableBackend {
    /// Copies everything to another database. Ids, keys and sealed values stay as they are, so everyone stays signed
    /// in.
    ///
    /// - Returns: the number of sessions.
    /// - Throws: `notEmpty` when the other database already has sessions.
    package func copyAll(to target: any MovableBackend) async throws(StoreError) -> Int {
        let sessions = try await target.counts().sessions
        guard sessions == 0 else {
            throw .notEmpty(
                "\(target.name) contains \(sessions) sessions already, and nothing was copied. If they are left over from a copy that was interrupted, and no server has used them since, empty it and copy again: \(target.emptying)"
            )
        }
        for key in try await sealedCounts().keys { try await target.note(sealingKey: key) }
        try await target.put(logoutTokens: logoutTokens())
        var count = 0
        var last: SessionKey?
        while case let page = try await wholeSessions(after: last, limit: 200), !page.isEmpty {
            try await target.put(page)
            count += page.count
            last = page.last?.session.row.key
        }
        return count
    }
}
