import Foundation
package import SessionStore
import Synchronization
import TestSupport

/// The contents of memory stores. They outlive each store, like a file.
package final class MemoryContents: Sendable {
    struct State {
        var sessions: [SessionKey: StoredSession] = [:]
        var attempts: [SHA256Hash: StoredAttempt] = [:]
        var logoutTokens: [SHA256Hash: Int64] = [:]
        var sealingKeys: Set<KeyRing.KeyID> = []
        var chores: [Chore: (holder: ServerProcess.ID, until: Int64)] = [:]
        var processes: [ServerProcess.ID: (process: ServerProcess, until: Int64)] = [:]
        var notes: [SessionNoteRow] = []
        var answers: [SHA256Hash: PostedAnswer] = [:]
        var checkRounds: [String: StoredCheckRound] = [:]
        /// The reason for which no store may use the contents any more.
        var refusal: StoreError?
        /// The last number that was used for a session's key or an attempt's order.
        var lastNumber: Int64 = 0

        mutating func nextNumber() -> Int64 {
            lastNumber += 1
            return lastNumber
        }
    }

    struct StoredSession: Equatable {
        var version: Int64 = 0
        var idHash: SHA256Hash
        var createdAt: Int64
        var lastSeenAt: Int64
        /// The accounts, in the order of their first sign-in.
        var accounts: [StoredAccount] = []
        var previousUsernames: [String: String] = [:]

        /// Whether both are the same to a reader.
        func reads(as other: StoredSession) -> Bool {
            func plain(_ session: StoredSession) -> StoredSession {
                var session = session
                session.lastSeenAt = 0
                for index in session.accounts.indices { session.accounts[index].refresh = RefreshState() }
                return session
            }
            return plain(self) == plain(other)
        }
    }

    struct StoredAccount: Equatable {
        var row: AccountRow
        var refreshToken: Data?
        var idToken: Data?
        var refresh = RefreshState()
        /// The tokens, the newest last.
        var tokens: [AccessTokenRow] = []
    }

    struct StoredAttempt {
        var row: AttemptRow
        var number: Int64
        var isOfNewcomer: Bool
    }

    private struct Shared {
        var state = State()
        var refusesWrites = false
        var damage: String?
        /// The number of writes of each store, by the store's number.
        var writes: [Int: Int] = [:]
    }

    private let shared = Mutex(Shared())
    /// The time for which its stores trust what they have read.
    package let trust: Duration?

    package init(trust: Duration? = nil) { self.trust = trust }

    /// Refuses this version, like the migration of a newer version.
    package func refuseVersion(_ refusal: StoreError?) { shared.withLock { $0.state.refusal = refusal } }

    /// Refuses writes but not reads, like a full disk.
    package func refuseWrites(_ refuses: Bool) { shared.withLock { $0.refusesWrites = refuses } }

    /// Damage that stores report, like that of a table on another machine.
    package var damage: String? {
        get { shared.withLock { $0.damage } }
        set { shared.withLock { $0.damage = newValue } }
    }

    func addStore() -> Int {
        shared.withLock { shared in
            shared.writes[shared.writes.count] = 0
            return shared.writes.count - 1
        }
    }

    /// Returns the number of writes by other stores.
    func writes(besides store: Int) -> Int {
        shared.withLock { $0.writes.reduce(0) { $1.key == store ? $0 : $0 + $1.value } }
    }

    func read<Value>(_ body: (State) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try shared.withLock { (shared) throws(StoreError) in try body(shared.state) }
    }

    /// Runs `body` as one transaction: if it throws, nothing has changed.
    func write<Value>(_ store: Int, _ body: (inout State) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try shared.withLock { (shared) throws(StoreError) in
            guard !shared.refusesWrites else { throw StoreError.unavailable("memory refuses writes") }
            var state = shared.state
            let value = try body(&state)
            for (key, session) in state.sessions {
                // Most have not changed, which is quicker to see.
                guard let old = shared.state.sessions[key], old != session, !old.reads(as: session) else { continue }
                state.sessions[key]?.version = old.version + 1
            }
            shared.state = state
            shared.writes[store, default: 0] += 1
            return value
        }
    }

    // MARK: For tests

    /// Returns the number of rows that a table of the SQLite store would have.
    package func count(_ table: String) -> Int {
        shared.withLock { shared in
            let state = shared.state
            let accounts = state.sessions.values.flatMap(\.accounts)
            return switch table {
            case "session": state.sessions.count
            case "account", "account_secret": accounts.count
            case "access_token": accounts.reduce(0) { $0 + $1.tokens.count }
            case "sign_in_attempt": state.attempts.count
            case "logout_token": state.logoutTokens.count
            case "session_note": state.notes.count
            case "posted_answer": state.answers.count
            default: -1
            }
        }
    }

    /// The number of sign-ins by newcomers.
    package var newcomers: Int { shared.withLock { $0.state.attempts.values.count { $0.isOfNewcomer } } }
}

extension MemoryContents.State {
    func row(_ key: SessionKey) -> SessionRow? {
        sessions[key].map { session in
            SessionRow(
                key: key, idHash: session.idHash, createdAt: session.createdAt, lastSeenAt: session.lastSeenAt,
                hasAccounts: !session.accounts.isEmpty, remembersSomebody: !session.previousUsernames.isEmpty,
                lastAttemptAt: attempts.values.filter { $0.row.session == key }.map(\.row.begunAt).max())
        }
    }

    func row(withID idHash: SHA256Hash) -> SessionRow? {
        sessions.first { $0.value.idHash == idHash }.flatMap { row($0.key) }
    }

    func account(_ key: AccountKey) -> MemoryContents.StoredAccount? {
        sessions[key.session]?.accounts.first { $0.row.key == key }
    }

    mutating func insertSession(_ idHash: SHA256Hash, now: Int64) -> SessionKey {
        let key = SessionKey(nextNumber())
        sessions[key] = .init(idHash: idHash, createdAt: now, lastSeenAt: now)
        return key
    }

    mutating func use(_ key: SessionKey, at time: Int64) {
        guard let known = sessions[key]?.lastSeenAt else { return }
        sessions[key]?.lastSeenAt = max(known, time)
    }

    mutating func rotate(_ key: SessionKey, to idHash: SHA256Hash, now: Int64) {
        sessions[key]?.idHash = idHash
        use(key, at: now)
    }

    mutating func delete(_ key: SessionKey) {
        sessions[key] = nil
        leaveAttempts(of: key)
    }

    /// Keeps the attempts of a session without the session.
    private mutating func leaveAttempts(of key: SessionKey) {
        for (hash, attempt) in attempts where attempt.row.session == key { attempts[hash]?.row.session = nil }
    }

    mutating func empty(_ key: SessionKey, now: Int64) {
        sessions[key]?.accounts = []
        sessions[key]?.previousUsernames = [:]
        sessions[key]?.createdAt = now
        leaveAttempts(of: key)
    }

    mutating func delete(_ account: AccountKey) {
        sessions[account.session]?.accounts.removeAll { $0.row.key == account }
    }

    mutating func change(_ key: AccountKey, _ change: (inout MemoryContents.StoredAccount) -> Void) throws(StoreError) {
        guard let index = sessions[key.session]?.accounts.firstIndex(where: { $0.row.key == key }),
            var account = account(key)
        else { throw .noSuchSession }
        change(&account)
        sessions[key.session]?.accounts[index] = account
    }

    mutating func makeCurrent(_ key: AccountKey) {
        for index in sessions[key.session]?.accounts.indices ?? 0..<0 {
            guard let account = sessions[key.session]?.accounts[index].row.key, account.app == key.app else { continue }
            sessions[key.session]?.accounts[index].row.isCurrent = account == key
        }
    }
}

extension MemoryContents.StoredAccount {
    mutating func store(_ token: AccessTokenRow, now: Int64) {
        tokens.removeAll {
            $0.expiresAt <= now
                || $0.tenant == token.tenant
                    && SignInRules.isSuperseded($0.requestedScopes, by: token.requestedScopes)
        }
        tokens.append(token)
        tokens.removeFirst(max(0, tokens.count - SignInRules.maxTokensPerAccount))
    }
}
