package import Foundation
package import SessionStore
import Synchronization

/// Sessions in memory: a second backend that is small enough to be obviously correct. One lock is its transaction.
package final class MemoryStore: ClusteredStoreBackend {
    package let name = "memory"
    package let trust: Duration?
    private struct Status {
        var isOpen = true
        var lastWrite: ContinuousClock.Instant?
    }

    private let contents: MemoryContents
    private let number: Int
    private let status = Mutex(Status())
    private let onOperation: (@Sendable (StoreOperation) -> Void)?

    /// - Throws: `cannotUnseal` when the ring lacks keys that seal something in the contents.
    package init(
        _ contents: MemoryContents, keyRing: KeyRing, trust: Duration? = nil,
        onOperation: (@Sendable (StoreOperation) -> Void)? = nil
    ) throws {
        self.contents = contents
        self.trust = trust ?? contents.trust
        self.onOperation = onOperation
        number = contents.addStore()
        let counts = try contents.read { $0.sealedCounts }
        let known = try contents.read { $0.sealingKeys }
        let missing = try keyRing.check(Array(known), of: name) { counts[$0, default: 0] > 0 }
        guard !missing.isEmpty || !known.contains(keyRing.currentKeyID) else { return }
        try contents.write(number) { state in
            state.sealingKeys.subtract(missing)
            state.sealingKeys.insert(keyRing.currentKeyID)
        }
    }

    func read<Value>(_ body: (MemoryContents.State) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try run(.read) { () throws(StoreError) in try contents.read(body) }
    }

    private func readNow<Value: Sendable>(_ body: (MemoryContents.State) -> Value?) -> ImmediateRead<Value> {
        do {
            return try read(body).map { .found($0) } ?? .absent
        } catch {
            return .mustWait
        }
    }

    func write<Value>(_ body: (inout MemoryContents.State) throws(StoreError) -> Value)
        throws(StoreError) -> Value
    {
        try run(.write) { () throws(StoreError) in
            do throws(StoreError) {
                let value = try contents.write(number, body)
                status.withLock { $0.lastWrite = .now }
                return value
            } catch {
                if case .unavailable = error { status.withLock { $0.lastWrite = nil } }
                throw error
            }
        }
    }

    private func run<Value>(_ kind: StoreOperation.Kind, _ body: () throws(StoreError) -> Value)
        throws(StoreError) -> Value
    {
        guard status.withLock({ $0.isOpen }) else { throw .unavailable("\(name) is closed") }
        let start = ContinuousClock.now
        let result = Result(catching: body)
        onOperation?(StoreOperation(kind, result, since: start))
        return try result.get()
    }

    // MARK: Sessions

    package func session(withID idHash: SHA256Hash) async throws(StoreError) -> SealedSession? {
        try read { state in state.row(withID: idHash).flatMap { state.sealed($0.key) } }
    }

    package func session(_ key: SessionKey) async throws(StoreError) -> SealedSession? {
        try read { $0.sealed(key) }
    }

    package func sessionNow(withID idHash: SHA256Hash) -> ImmediateRead<SealedSession> {
        readNow { state in state.row(withID: idHash).flatMap { state.sealed($0.key) } }
    }

    // MARK: Sign-in

    package func consume(_ callback: ArrivedCallback, _ rules: SignInRules, now: Int64)
        async throws(StoreError) -> (decision: CallbackDecision, session: SessionKey?)
    {
        try write { (state) throws(StoreError) in
            let attempt = state.attempts[callback.state]?.row
            let session =
                switch SignInRules.session(of: attempt, callback) {
                case .key(let key): state.row(key)
                case .id(let hash): state.row(withID: hash)
                case .nowhere: SessionRow?.none
                }
            let decision = rules.decide(attempt, in: session, callback, now: now)
            if decision == .replay, let session {
                state.rotate(session.key, to: callback.fresh, now: now)
                state.attempts[callback.state]?.row.issuedIDHash = callback.fresh
            }
            guard case .consume(let destination) = decision else { return (decision, session?.key) }
            let known = destination == .newSession ? nil : session
            let isNewcomer = destination == .emptiedSession || known?.hasAccounts != true
            if isNewcomer, let refusal = callback.refusal { throw refusal }
            if destination == .emptiedSession, let known { state.empty(known.key, now: now) }
            let key = known?.key ?? state.insertSession(callback.fresh, now: now)
            state.use(key, at: now)
            state.attempts[callback.state] = .init(
                row: AttemptRow(
                    session: key, begunAt: callback.begunAt, consumedAt: now, codeHash: callback.code),
                number: state.nextNumber(), isOfNewcomer: isNewcomer)
            if isNewcomer { state.makeRoomForNewcomer(rules, now: now) }
            let own = state.attempts.filter { $0.value.row.session == key }.sorted { $0.value.number > $1.value.number }
            for (hash, _) in own.dropFirst(SignInRules.maxAttemptsPerSession) { state.attempts[hash] = nil }
            return (decision, key)
        }
    }

    package func complete(_ completion: Completion, now: Int64) async throws(StoreError) {
        try write { (state) throws(StoreError) in
            guard let attempt = state.attempts[completion.state]?.row, SignInRules.isBeingRedeemed(attempt),
                let session = attempt.session
            else { throw .attemptNotPending }
            if let account = completion.account { try state.store(account, completion.tokens, now: now) }
            state.rotate(session, to: completion.fresh, now: now)
            state.attempts[completion.state]?.row.completedAt = now
            state.attempts[completion.state]?.row.issuedIDHash = completion.fresh
        }
    }

    package func fail(state hash: SHA256Hash, now: Int64) async throws(StoreError) {
        try write { state in
            if state.attempts[hash]?.row.completedAt == nil { state.attempts[hash]?.row.failedAt = now }
        }
    }

    // MARK: Accounts

    package func accessTokens(of account: AccountKey) async throws(StoreError) -> [AccessTokenRow] {
        try read { $0.account(account)?.tokens ?? [] }
    }

    package func accessTokensNow(of account: AccountKey) -> ImmediateRead<[AccessTokenRow]> {
        readNow { $0.account(account)?.tokens ?? [] }
    }

    package func refreshToken(of account: AccountKey) async throws(StoreError) -> Data? {
        try read { $0.account(account)?.refreshToken }
    }

    package func idToken(of account: AccountKey) async throws(StoreError) -> Data? {
        try read { $0.account(account)?.idToken }
    }

    package func replaceTokens(
        of account: AccountKey, with tokens: RenewedTokens, under lease: RefreshLease?, now: Int64
    ) async throws(StoreError) -> Bool {
        try write { (state) throws(StoreError) in
            var isStored = false
            try state.change(account) { account in
                if let lease,
                    !SignInRules.mayStore(
                        under: lease, fence: account.refresh.fence, refreshToken: account.refreshToken)
                {
                    return
                }
                account.renew(tokens, now: now)
                account.row.needsInteraction = nil
                account.row.interactionClaims = nil
                isStored = true
            }
            return isStored
        }
    }

    package func replaceRefreshToken(of account: AccountKey, with refreshToken: Data, under lease: RefreshLease)
        async throws(StoreError) -> Bool
    {
        try write { (state) throws(StoreError) in
            var isReplaced = false
            try state.change(account) { stored in
                isReplaced = SignInRules.mayStore(
                    under: lease, fence: stored.refresh.fence, refreshToken: stored.refreshToken)
                if isReplaced { stored.refreshToken = refreshToken }
            }
            return isReplaced
        }
    }

    package func markNeedsInteraction(
        _ account: AccountKey, reason: String, claims: String?, ifRefreshTokenIs refreshToken: Data?
    ) async throws(StoreError) -> Bool {
        try write { (state) throws(StoreError) in
            var isMarked = false
            try state.change(account) { account in
                guard refreshToken == nil || account.refreshToken == refreshToken else { return }
                account.row.needsInteraction = reason
                account.row.interactionClaims = claims
                isMarked = true
            }
            return isMarked
        }
    }

    package func remove(_ account: AccountKey, keepAsPrevious: Bool, fresh: SHA256Hash, now: Int64)
        async throws(StoreError)
    {
        try write { (state) throws(StoreError) in
            guard state.sessions[account.session] != nil else { throw .noSuchSession }
            if !keepAsPrevious {
                state.sessions[account.session]?.previousUsernames[account.app] = nil
            } else if let found = state.account(account) {
                state.sessions[account.session]?.previousUsernames[account.app] = found.row.identity.username
            }
            state.delete(account)
            state.rotate(account.session, to: fresh, now: now)
        }
    }

    package func drop(_ account: AccountKey) async throws(StoreError) {
        try write { $0.delete(account) }
    }

    package func makeCurrent(_ account: AccountKey) async throws(StoreError) {
        try write { (state) throws(StoreError) in
            guard state.account(account) != nil else { throw .noSuchSession }
            state.makeCurrent(account)
        }
    }

    package func endAccounts(_ logout: ProviderLogout) async throws(StoreError) -> [EndedAccountRow]? {
        try write { state in
            if let token = logout.token {
                guard state.logoutTokens[token.hash] == nil else { return nil }
                state.logoutTokens[token.hash] = token.endsAt
            }
            let ended = state.sessions.values.flatMap(\.accounts).map(\.row).filter(logout.names)
            for row in ended {
                state.delete(row.key)
                if state.sessions[row.key.session]?.accounts.isEmpty == true { state.delete(row.key.session) }
            }
            return ended.map { EndedAccountRow(key: $0.key, environment: $0.identity.environment) }
        }
    }

    // MARK: Administration

    package func list(after: SessionKey?, limit: Int) async throws(StoreError) -> [SessionSummary] {
        try read { state in
            let later = state.sessions.filter { $0.key.value > after?.value ?? 0 }
            return later.sorted { $0.key.value < $1.key.value }.prefix(limit).map { key, session in
                SessionSummary(
                    key: key, createdAt: Date(milliseconds: session.createdAt),
                    lastSeenAt: Date(milliseconds: session.lastSeenAt),
                    accounts: session.accounts.map { .init(app: $0.row.key.app, username: $0.row.identity.username) })
            }
        }
    }

    package func revoke(_ which: Revocation) async throws(StoreError) -> [SessionKey] {
        try write { state in
            let keys: [SessionKey] =
                switch which {
                case .one(let key): state.sessions[key] == nil ? [] : [key]
                case .username(let name):
                    state.sessions.filter { _, session in
                        session.accounts.contains { $0.row.identity.username.lowercased() == name.lowercased() }
                    }.map(\.key)
                case .any(let limit): Array(state.sessions.keys.prefix(limit))
                }
            for key in keys { state.delete(key) }
            return keys
        }
    }

    package func counts() async throws(StoreError) -> SessionCounts {
        try read { state in
            SessionCounts(
                sessions: state.sessions.count, signedIn: state.sessions.values.count { !$0.accounts.isEmpty })
        }
    }

    package func checkRounds() async throws(StoreError) -> [StoredCheckRound] {
        try read { Array($0.checkRounds.values) }
    }

    package func keep(_ round: StoredCheckRound) async throws(StoreError) {
        try write { $0.checkRounds[round.app] = round }
    }

    // MARK: Upkeep

    package func noteUses(_ uses: [(key: SessionKey, at: Int64)]) async throws(StoreError) -> [SessionKey] {
        try write { state in
            for (key, at) in uses { state.use(key, at: at) }
            return []
        }
    }

    /// Purges everything in one step.
    package func purgeSessions(from cursor: StoreCursor, _ rules: SignInRules, now: Int64) async throws(StoreError)
        -> PurgeStep
    {
        try write { state in
            let bounds = rules.purgeBounds(now: now)
            var ended: [SessionKey] = []
            for (key, session) in state.sessions
            where session.lastSeenAt < bounds.unusedSince || session.createdAt < bounds.begunBefore {
                guard let row = state.row(key) else { continue }
                switch rules.purge(row, now: now) {
                case .keep: continue
                case .delete: state.delete(key)
                case .empty: state.empty(key, now: now)
                }
                ended.append(key)
            }
            return PurgeStep(ended: ended, isMore: false)
        }
    }

    package func purgeAttempts(_ rules: SignInRules, now: Int64) async throws(StoreError) -> PurgeStep {
        try write { state in
            state.logoutTokens = state.logoutTokens.filter { $0.value > now }
            state.purgeNotes(now: now)
            let over = state.attempts.filter { $0.value.row.begunAt < rules.oldestKeptAttempt(now: now) }
            for (hash, _) in over { state.attempts[hash] = nil }
            let ended = Set(over.compactMap(\.value.row.session)).filter { key in
                state.row(key).map { !$0.hasAccounts && rules.isPurgeable($0, now: now) } ?? false
            }
            for key in ended { state.delete(key) }
            return PurgeStep(ended: Array(ended), isMore: false)
        }
    }

    package func bringBack(to time: Int64) async throws(StoreError) {
        try write { state in
            for (key, session) in state.sessions {
                state.sessions[key]?.lastSeenAt = min(session.lastSeenAt, time)
                state.sessions[key]?.createdAt = min(session.createdAt, time)
            }
        }
    }

    package func tidyUp() async throws(StoreError) -> Bool { false }

    // MARK: Health and changes by others

    package func confirmWritable(now: Int64) async throws(StoreError) { try write { _ in } }
    package var sinceLastWrite: Duration? {
        status.withLock { $0.isOpen ? $0.lastWrite : nil }?.duration(to: .now)
    }
    package var unsoundness: String? { contents.damage }
    package func isShortOfSpace(reserve: Int, now: Int64) -> Bool { false }
    package var openingTime: Int64? { nil }
    package var openingMark: ChangeMark? { ChangeMark(0) }
    package func changeMark() async -> ChangeMark? { ChangeMark(Int64(contents.writes(besides: number))) }
    package func close() async { status.withLock { $0.isOpen = false } }

    // MARK: Sealing keys

    package func sealedCounts() async throws(StoreError) -> [KeyRing.KeyID: Int] {
        try read { $0.sealedCounts }
    }

    package func note(sealingKey: KeyRing.KeyID) async throws(StoreError) {
        try write { state in _ = state.sealingKeys.insert(sealingKey) }
    }

    package func forget(sealingKeys: Set<KeyRing.KeyID>) async throws(StoreError) {
        try write { $0.sealingKeys.subtract(sealingKeys) }
    }

    /// Returns everything in one step.
    package func values(notSealedBy key: KeyRing.KeyID, from cursor: StoreCursor) async throws(StoreError)
        -> SealedValues?
    {
        guard cursor == .beginning else { return nil }
        return try read { state in
            SealedValues(
                values: state.sealedValues.filter { KeyRing.KeyID(ofSealed: $0.sealed) != key },
                next: StoreCursor("end"))
        }
    }

    package func replace(_ values: [ResealedValue]) async throws(StoreError) -> Int {
        try write { state in values.count { state.replace($0) } }
    }
}
