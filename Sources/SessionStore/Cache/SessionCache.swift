import Foundation
import Synchronization

/// What the cache holds of a session.
struct Snapshot: Sendable {
    let session: Session
    let idHash: SHA256Hash
    /// Of the accounts of which a token was asked for.
    var tokens: [AccountTokens]
    /// See ``ClusteredStoreBackend/versions(of:within:)``.
    var version: Int64 = 0

    /// An estimate of the memory it takes, in bytes.
    var cost: Int {
        var bytes = 512
        for account in session.accounts {
            // The answer that is derived from it takes about a third of this.
            bytes += 768 + account.idTokenClaims.utf8.count + 2 * account.identity.username.utf8.count
        }
        return tokens.reduce(bytes) { $0 + $1.cost }
    }
}

/// What memory knows of a session.
public enum CachedSession: Sendable {
    /// It is in memory, as it is stored.
    case hit(Session)
    /// It is in memory, and somebody else may have changed it since it was read.
    case stale
    /// It is not in memory, or its time is over.
    case miss

    /// The session of a hit; nil: ask ``SessionStore/session(_:)``.
    public var session: Session? {
        if case .hit(let session) = self { session } else { nil }
    }
}

/// The sessions in memory, bounded in bytes, and when each was last used.
///
/// Coherence: a reader takes a ticket before its database snapshot begins; a writer, after its commit and before its
/// answer, ends the entries of the sessions it changed. A fill whose ticket is older than the last change of that
/// session (or of one that shares its stripe) is refused, so a stale snapshot is never kept after a write.
///
/// Eviction is CLOCK: a hit sets one bit, the hand takes the first entry without it.
final class SessionCache: Sendable {
    /// A moment in the order of changes.
    struct Ticket { fileprivate let version: UInt64 }

    fileprivate struct Slot {
        var snapshot: Snapshot
        var lastSeenAt: Int64
        /// When it was read, by the steady clock, in milliseconds.
        var readAt: Int64
        /// `unwritten` has this session.
        var isUnwritten: Bool
        var wasUsed: Bool
        var cost: Int

        /// - Returns: what `unwritten` has to take up; nil when it has the session.
        mutating func use(_ now: Int64) -> (SessionKey, Int64)? {
            wasUsed = true
            lastSeenAt = max(lastSeenAt, now)
            guard !isUnwritten else { return nil }
            isUnwritten = true
            return (snapshot.session.key, lastSeenAt)
        }
    }

    fileprivate struct State {
        var slots: [Slot?] = []
        var free: [Int] = []
        var hand = 0
        var bytes = 0
        var byHash: [SHA256Hash: Int] = [:]
        var byKey: [SessionKey: Int] = [:]
        var version: UInt64 = 0
        var allChangedAt: UInt64 = 0
        var changedAt = [UInt64](repeating: 0, count: 1024)
        /// Uses that the database does not know yet. The slot's own time, when there is one, is later.
        var unwritten: [SessionKey: Int64] = [:]
        /// Uses that are being written.
        var underWay: [SessionKey: Int64] = [:]
        var changes = RecentChanges()
    }

    private let state = Mutex(State())
    private let maxBytes: Int
    private let lifetimes: Lifetimes
    private let trust: Int64?
    private let steady: @Sendable () -> Int64

    /// - Parameters:
    ///   - trust: how long an entry is taken for granted, in milliseconds; nil until it is ended.
    ///   - steady: a clock that nobody sets, in milliseconds.
    init(maxBytes: Int, lifetimes: Lifetimes, trust: Int64? = nil, steady: @escaping @Sendable () -> Int64 = { 0 }) {
        self.maxBytes = maxBytes
        self.lifetimes = lifetimes
        self.trust = trust
        self.steady = steady
    }

    /// A hit counts as use. An expired entry is no hit.
    ///
    /// - Parameter version: what is older is stale.
    func session(_ hash: SHA256Hash, version: Int64 = 0, now: Int64) -> CachedSession {
        state.withLock { state in
            guard let index = state.byHash[hash], let slot = state.slots[index] else { return .miss }
            if lifetimes.isOver(slot.snapshot.session, lastSeenAt: slot.lastSeenAt, now: now) {
                state.remove(index)
                return .miss
            }
            guard isTrusted(slot), slot.snapshot.version >= version else { return .stale }
            state.use(index, now)
            return .hit(slot.snapshot.session)
        }
    }

    /// A session that somebody else may have changed since it was read.
    struct Doubtful {
        let session: Session
        let version: Int64
        /// How long ago it was right, in milliseconds.
        let age: Int64
    }

    /// What memory has of a session, trusted or not; nil when that is nothing, or over.
    func doubtful(_ hash: SHA256Hash, now: Int64) -> Doubtful? {
        doubtful(now) { $0.byHash[hash] }
    }

    /// The same of a session with this key.
    func doubtful(_ key: SessionKey, now: Int64) -> Doubtful? {
        doubtful(now) { $0.byKey[key] }
    }

    private func doubtful(_ now: Int64, _ index: (State) -> Int?) -> Doubtful? {
        state.withLock { state in
            guard let slot = index(state).flatMap({ state.slots[$0] }),
                !lifetimes.isOver(slot.snapshot.session, lastSeenAt: slot.lastSeenAt, now: now)
            else { return nil }
            return Doubtful(
                session: slot.snapshot.session, version: slot.snapshot.version, age: steady() &- slot.readAt)
        }
    }

    /// Takes a session for right again, and as used, where nobody else had changed it; else forgets it.
    ///
    /// - Parameters:
    ///   - version: the one that it has; nil when it is gone.
    ///   - ticket: from before that was asked for.
    /// - Returns: false when it has changed, also here since.
    func confirm(_ doubtful: Doubtful, _ version: Int64?, _ ticket: Ticket, now: Int64) -> Bool {
        let key = doubtful.session.key
        return state.withLock { state in
            guard state.isFresh(key, ticket), let index = state.byKey[key],
                state.slots[index]?.snapshot.version == doubtful.version
            else { return false }
            guard version == doubtful.version else {
                state.remove(index)
                return false
            }
            state.slots[index]?.readAt = steady()
            state.use(index, now)
            return true
        }
    }

    /// Whether the session is in memory, trusted or not.
    func holds(_ key: SessionKey) -> Bool { state.withLock { $0.byKey[key] != nil } }

    /// What memory knows of an account's access tokens.
    enum KnownToken {
        /// The best one.
        case token(HeldToken)
        /// None serves.
        case none
        case unknown
    }

    /// Says nothing about use: the session was asked for already.
    ///
    /// - Parameter grace: how old it may be at least, in milliseconds, where what is in memory is not trusted for longer.
    func token(
        _ account: AccountKey, _ tenant: String?, _ scopes: ScopeSet, grace: Int64 = 0
    ) -> KnownToken {
        let slot = state.withLock { state in state.byKey[account.session].flatMap { state.slots[$0] } }
        guard let slot, isTrusted(slot) || steady() &- slot.readAt < grace,
            let tokens = slot.snapshot.tokens.first(where: { $0.app == account.app && $0.id == account.id })
        else { return .unknown }
        return tokens.token(tenant, scopes).map { .token($0) } ?? .none
    }

    /// Takes an account's access tokens in, where its session is and has not changed since the ticket.
    ///
    /// - Returns: the tokens.
    func admit(_ rows: [AccessTokenRow], of account: AccountKey, _ ticket: Ticket) -> AccountTokens {
        let tokens = AccountTokens(of: account, rows)
        state.withLock { state in
            guard state.isFresh(account.session, ticket) else { return }
            state.change(account.session, maxBytes) { held in
                held.removeAll { $0.app == account.app && $0.id == account.id }
                held.append(tokens)
            }
        }
        return tokens
    }

    /// Keeps a token in the clear in place of the sealed one, if that is still there.
    func opened(_ row: AccessTokenRow, _ token: StoredAccessToken) {
        state.withLock { state in
            state.change(row.account.session, maxBytes) { held in
                for index in held.indices { held[index].opened(row, token) }
            }
        }
    }

    private func isTrusted(_ slot: Slot) -> Bool { trust.map { steady() &- slot.readAt < $0 } ?? true }

    /// To be taken before a database snapshot begins.
    func ticket() -> Ticket {
        state.withLock { Ticket(version: $0.version) }
    }

    /// Takes what was read in, unless the session changed since the ticket. nil when the session is over by what is
    /// known here about its last use. With `isUse`, this is a use of it.
    func admit(_ snapshot: Snapshot, _ ticket: Ticket, now: Int64, isUse: Bool) -> Session? {
        state.withLock { state in
            let key = snapshot.session.key
            let lastSeenAt = max(snapshot.session.lastSeenAt.milliseconds, state.knownUse(key))
            guard !lifetimes.isOver(snapshot.session, lastSeenAt: lastSeenAt, now: now) else { return nil }
            let cost = snapshot.cost
            // A session that nobody has signed in to is all that a stranger gets: it must not push out a person's.
            let isWorthIt = !snapshot.session.accounts.isEmpty || !snapshot.session.previousUsernames.isEmpty
            if state.isFresh(key, ticket) && isWorthIt && cost <= maxBytes / 4 {
                if let old = state.byKey[key] { state.remove(old) }
                let index = state.insert(
                    Slot(
                        snapshot: snapshot, lastSeenAt: lastSeenAt, readAt: steady(),
                        isUnwritten: state.unwritten[key] != nil, wasUsed: false, cost: cost))
                if isUse { state.use(index, now) }
                state.evict(over: maxBytes, keeping: index)
            } else if isUse {
                state.unwritten[key] = max(state.unwritten[key] ?? .min, now)
            }
            return snapshot.session
        }
    }

    /// After a commit and before its answer.
    func end(_ sessions: [SessionKey]) {
        guard !sessions.isEmpty else { return }
        state.withLock { state in
            state.version += 1
            // Others have it as it was, for as long as they trust what they have read.
            if let trust, trust > 0 { state.changes.note(sessions) }
            for key in sessions {
                state.changedAt[State.stripe(key)] = state.version
                if let index = state.byKey[key] { state.remove(index) }
            }
        }
    }

    /// Whether a session was changed here while others may still have it as it was, and which version it has since.
    func change(of key: SessionKey) -> RecentChange {
        state.withLock { state in
            guard let trust, state.changes.contains(key, within: .milliseconds(trust)) else { return .none }
            // What was read before the change has left the memory with it.
            return state.byKey[key].flatMap { state.slots[$0]?.snapshot.version }.map { .version($0) } ?? .unread
        }
    }

    /// Another process changed something.
    func endAll() {
        state.withLock { state in
            state.version += 1
            state.allChangedAt = state.version
            for index in state.slots.indices { state.remove(index) }
        }
    }

    /// No use was later than at a time, whatever was noted. What is read from now on says when sessions began.
    func bringBack(to time: Int64) {
        state.withLock { state in
            for index in state.slots.indices {
                guard let noted = state.slots[index]?.lastSeenAt, noted > time else { continue }
                state.slots[index]?.lastSeenAt = time
            }
            state.unwritten = state.unwritten.mapValues { min($0, time) }
            state.underWay = state.underWay.mapValues { min($0, time) }
        }
    }

    /// When the session was last used, as far as memory knows; `.min` when it knows nothing.
    func lastUse(_ key: SessionKey) -> Int64 {
        state.withLock { $0.knownUse(key) }
    }

    /// The uses to be written. `usesWritten` or `usesNotWritten` must follow.
    func takeUnwrittenUses() -> [SessionKey: Int64] {
        state.withLock { state in
            for key in state.unwritten.keys {
                guard let index = state.byKey[key] else { continue }
                state.unwritten[key] = state.knownUse(key)
                state.slots[index]?.isUnwritten = false
            }
            state.underWay.merge(state.unwritten, uniquingKeysWith: max)
            state.unwritten = [:]
            return state.underWay
        }
    }

    /// They are in the database, but those of some sessions, which are kept for the next time.
    func usesWritten(but held: [SessionKey]) {
        state.withLock { state in
            for key in held { state.keepUse(key) }
            state.underWay = [:]
        }
    }

    /// They are not: keep them for the next time.
    func usesNotWritten() {
        state.withLock { state in
            for key in state.underWay.keys { state.keepUse(key) }
            state.underWay = [:]
        }
    }

    /// Bytes and entries, for metrics and tests.
    var size: (bytes: Int, sessions: Int) {
        state.withLock { ($0.bytes, $0.byKey.count) }
    }
}

extension SessionCache.State {
    static func stripe(_ key: SessionKey) -> Int { Int(truncatingIfNeeded: key.value & 1023) }

    /// Whether nothing that was read after the ticket was taken can be older than the last change of the session.
    func isFresh(_ key: SessionKey, _ ticket: SessionCache.Ticket) -> Bool {
        allChangedAt <= ticket.version && changedAt[Self.stripe(key)] <= ticket.version
    }

    /// Changes what is held of a session's tokens, where the session is.
    mutating func change(_ key: SessionKey, _ maxBytes: Int, _ change: (inout [AccountTokens]) -> Void) {
        guard let index = byKey[key], var slot = slots[index] else { return }
        change(&slot.snapshot.tokens)
        let cost = slot.snapshot.cost
        guard cost <= maxBytes / 4 else { return }
        bytes += cost - slot.cost
        slot.cost = cost
        slots[index] = slot
        evict(over: maxBytes, keeping: index)
    }

    /// Changes the slot where it is: copying what it holds would count as many references as the rest of a hit.
    mutating func use(_ index: Int, _ now: Int64) {
        if let (key, at) = slots[index]?.use(now) { unwritten[key] = at }
    }

    /// Has a use that was being written be written another time.
    mutating func keepUse(_ key: SessionKey) {
        guard let at = underWay[key] else { return }
        unwritten[key] = max(unwritten[key] ?? .min, at)
        if let index = byKey[key] { slots[index]?.isUnwritten = true }
    }

    func knownUse(_ key: SessionKey) -> Int64 {
        let cached = byKey[key].flatMap { slots[$0]?.lastSeenAt } ?? .min
        return max(cached, unwritten[key] ?? .min, underWay[key] ?? .min)
    }

    mutating func insert(_ slot: SessionCache.Slot) -> Int {
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(slot) } else { slots[index] = slot }
        byHash[slot.snapshot.idHash] = index
        byKey[slot.snapshot.session.key] = index
        bytes += slot.cost
        return index
    }

    mutating func remove(_ index: Int) {
        guard let slot = slots[index] else { return }
        let key = slot.snapshot.session.key
        // Its last use outlives the entry.
        if slot.isUnwritten { unwritten[key] = max(unwritten[key] ?? .min, slot.lastSeenAt) }
        byKey[key] = nil
        byHash[slot.snapshot.idHash] = nil
        slots[index] = nil
        free.append(index)
        bytes -= slot.cost
    }

    mutating func evict(over maxBytes: Int, keeping newest: Int) {
        while bytes > maxBytes && byKey.count > 1 {
            hand = hand + 1 < slots.count ? hand + 1 : 0
            guard hand != newest, let wasUsed = slots[hand]?.wasUsed else { continue }
            if wasUsed { slots[hand]?.wasUsed = false } else { remove(hand) }
        }
    }
}
