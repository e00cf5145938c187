package import Foundation

/// A session with all that is kept of it, to be moved to another place. Its values stay sealed: they are sealed for the
/// session's key, which it keeps.
package struct WholeSession: Sendable {
    /// An account's tokens.
    package struct Secrets: Sendable {
        package var refreshToken: Data?
        package var idToken: Data?
        /// The newest last.
        package var accessTokens: [AccessTokenRow]

        package init(refreshToken: Data?, idToken: Data?, accessTokens: [AccessTokenRow]) {
            self.refreshToken = refreshToken
            self.idToken = idToken
            self.accessTokens = accessTokens
        }
    }

    /// A sign-in that has come back into it.
    package struct Attempt: Sendable {
        package var state: SHA256Hash
        package var row: AttemptRow
        /// Whether nobody was signed in there.
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

/// A place whose sessions can be moved to another one, while no server works with either.
package protocol MovableBackend: StoreBackend {
    /// - Returns: the sessions after one, in the order of their keys.
    func wholeSessions(after: SessionKey?, limit: Int) async throws(StoreError) -> [WholeSession]
    /// Puts sessions where they are not yet.
    func put(_ sessions: [WholeSession]) async throws(StoreError)
    /// - Returns: the logout tokens that were used, and when they end.
    func logoutTokens() async throws(StoreError) -> [SHA256Hash: Int64]
    /// Notes logout tokens as used.
    func put(logoutTokens: [SHA256Hash: Int64]) async throws(StoreError)
    /// How an operator empties the place, as the end of a sentence.
    var emptying: String { get }
}

extension MovableBackend {
    /// Copies everything to another place, where nobody signs in anew: ids, keys and sealed values stay as they are.
    ///
    /// - Returns: how many sessions.
    /// - Throws: `notEmpty` when there are sessions in the other place already.
    package func copyAll(to target: any MovableBackend) async throws(StoreError) -> Int {
        let sessions = try await target.counts().sessions
        guard sessions == 0 else {
            throw .notEmpty(
                "\(target.name) contains \(sessions) sessions already, and nothing was copied. If they are from a copy that did not end, which nobody has worked with since, empty it and copy again: \(target.emptying)"
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
