import Foundation
import Synchronization

/// A session in the cache.
struct Snapshot: Sendable {
    let session: Session
    let idHash: SHA256Hash
    /// The accounts for which a token was requested.
    var tokens: [AccountTokens]
    /// See ``ClusteredStoreBackend/versions(of:within:)``.
    var version: Int64 = 0

    /// An estimate of the memory that the snapshot takes, in bytes.
    var cost: Int {
        var bytes = 512
        for account in session.accounts {
            // The response derived from it takes about a third of this.
            bytes +=
                768 + account.idTokenClaims.utf8.count + (account.annotation?.utf8.count ?? 0) + 2
                * account.identity.username.utf8.count
        }
        return tokens.reduce(bytes) { $0 + $1.cost }
    }
}

/// The result of looking a session up in memory.
public enum CachedSession: Sendable {
    /// The session is in memory, and is current.
    case hit(Session)
    /// The session is in memory, but another server may have changed it since it was read.
    case stale
    /// The session is not in memory, or has expired.
    case miss

    /// The session of a hit; nil otherwise: call ``SessionStore/session(_:)``.
    public var session: Session? {
        if case .hit(let session) = self { session } else { nil }
    }
}

/// The sessions in memory, limited in bytes, with the time when each was last used.
///
/// Coherence: a reader takes a ticket before its database snapshot begins. A writer ends the entries of the sessions
/// that it changed, after its commit and before its response. An entry is refused if its ticket is older than the last
/// change of that session (or of one in the same stripe), so a stale snapshot is never kept after a write.
///
/// Eviction is CLOCK: a hit sets one bit, and the hand removes the first entry without it.
final class SessionCache: Sendable {
    /// A moment in the order of changes.
    struct Ticket { fileprivate let version: UInt64 }

    fileprivate struct Slot {
        var snapshot: Snapshot
        var lastSeenAt: Int64
        /// The time when it was read, by the monotonic clock, in milliseconds.
        var readAt: Int64
        /// Whether `unwritten` contains this session.
        var isUnwritten: Bool
        var wasUsed: Bool
        var cost: Int

        /// - Returns: the entry to add to `unwritten`; nil if it contains the session already.
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
        /// Uses that the database does not know yet. If the session has a slot, the slot's time is later.
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
    ///   - trust: how long an entry is trusted, in milliseconds; nil trusts it until it is ended.
    ///   - steady: a monotonic clock, in milliseconds.
    init(maxBytes: Int, lifetimes: Lifetimes, trust: Int64? = nil, steady: @escaping @Sendable () -> Int64 = { 0 }) {
        self.maxBytes = maxBytes
        self.lifetimes = lifetimes
        self.trust = trust
        self.steady = steady
    }

    /// Looks a session up. A hit counts as use. An expired entry is a miss.
    ///
    /// - Parameter version: an entry with an older version is stale.
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

    /// A session that another server may have changed since it was read.
    struct Doubtful {
        let session: Session
        let version: Int64
        /// The time since it was known to be current, in milliseconds.
        let age: Int64
    }

    /// Returns the session in memory, whether it is trusted or not; nil if it is not there or has expired.
    func doubtful(_ hash: SHA256Hash, now: Int64) -> Doubtful? {
        doubtful(now) { $0.byHash[hash] }
    }

    /// Returns the session with this key, in the same way.
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

    /// Trusts an entry again, and counts it as used, if no other server has changed the session; otherwise drops the
    /// entry.
    ///
    /// - Parameters:
    ///   - version: the session's current version; nil when it no longer exists.
    ///   - ticket: a ticket from before the version was requested.
    /// - Returns: false when the session has changed, here or elsewhere.
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

    /// The result of looking an account's access tokens up in memory.
    enum KnownToken {
        /// The best token.
        case token(HeldToken)
        /// The account's tokens are in memory, and none covers the scopes.
        case none
        /// The account's tokens are not in memory.
        case unknown
    }

    /// Looks an access token up. This does not count as use, because the session was looked up before.
    ///
    /// - Parameter grace: the age up to which entries are accepted, in milliseconds, if they are trusted for less than
    ///   that.
    func token(
        _ account: AccountKey, _ tenant: String?, _ scopes: ScopeSet, grace: Int64 = 0
    ) -> KnownToken {
        let slot = state.withLock { state in state.byKey[account.session].flatMap { state.slots[$0] } }
        guard let slot, isTrusted(slot) || steady() &- slot.readAt < grace,
            let tokens = slot.snapshot.tokens.first(where: { $0.app == account.app && $0.id == account.id })
        else { return .unknown }
        return tokens.token(tenant, scopes).map { .token($0) } ?? .none
    }

    /// Caches an account's access tokens, if its session is cached and has not changed since the ticket.
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

    /// Replaces the sealed token by the opened one, if it is still cached.
    func opened(_ row: AccessTokenRow, _ token: StoredAccessToken) {
        state.withLock { state in
            state.change(row.account.session, maxBytes) { held in
                for index in held.indices { held[index].opened(row, token) }
            }
        }
    }

    private func isTrusted(_ slot: Slot) -> Bool { trust.map { steady() &- slot.readAt < $0 } ?? true }

    /// Returns a ticket, to be taken before a database snapshot begins.
    func ticket() -> Ticket {
        state.withLock { Ticket(version: $0.version) }
    }

    /// Caches a snapshot, unless the session has changed since the ticket, and returns its session; nil if it has
    /// expired according to the last use that is known here. With `isUse`, this counts as use.
    func admit(_ snapshot: Snapshot, _ ticket: Ticket, now: Int64, isUse: Bool) -> Session? {
        state.withLock { state in
            let key = snapshot.session.key
            let lastSeenAt = max(snapshot.session.lastSeenAt.milliseconds, state.knownUse(key))
            guard !lifetimes.isOver(snapshot.session, lastSeenAt: lastSeenAt, now: now) else { return nil }
            let cost = snapshot.cost
            // A session without any sign-in is all that a stranger can get. It must not evict a session with an
            // account.
            let isWorthIt = !snapshot.session.accounts.isEmpty || !snapshot.session.previousUsernames.isEmpty
            if state.isFresh(key, ticket) && isWorthIt && cost <= maxBytes / 4 {
                let before = state.byKey[key].flatMap { state.slots[$0]?.snapshot.version }
                if let old = state.byKey[key] { state.remove(old) }
                // A session that was read just now may have changed a moment ago, and other servers may have it as it was.
                if let trust, trust > 0, before != snapshot.version { state.changes.note([key]) }
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

    /// Ends the entries of sessions. Call it after a commit and before its response.
    func end(_ sessions: [SessionKey]) {
        guard !sessions.isEmpty else { return }
        state.withLock { state in
            state.version += 1
            // Other servers have the old session, for as long as they trust what they have read.
            if let trust, trust > 0 { state.changes.note(sessions) }
            for key in sessions {
                state.changedAt[State.stripe(key)] = state.version
                if let index = state.byKey[key] { state.remove(index) }
            }
        }
    }

    /// Returns whether a session was changed here while other servers may still have it as it was, and its version
    /// since.
    func change(of key: SessionKey) -> RecentChange {
        state.withLock { state in
            guard let trust, state.changes.contains(key, within: .milliseconds(trust)) else { return .none }
            // The change has removed the older entry from memory.
            return state.byKey[key].flatMap { state.slots[$0]?.snapshot.version }.map { .version($0) } ?? .unread
        }
    }

    /// Ends all entries, because another process has changed something.
    func endAll() {
        state.withLock { state in
            state.version += 1
            state.allChangedAt = state.version
            for index in state.slots.indices { state.remove(index) }
        }
    }

    /// Moves recorded uses later than `time` back to it. Sessions that are read from now on have the times from the
    /// database.
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

    /// Returns the time when the session was last used, as far as memory knows; `.min` if it knows nothing.
    func lastUse(_ key: SessionKey) -> Int64 {
        state.withLock { $0.knownUse(key) }
    }

    /// Returns the uses to be written. `usesWritten` or `usesNotWritten` must follow.
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

    /// Records that the uses are in the database, except those of some sessions, which are kept for the next time.
    func usesWritten(but held: [SessionKey]) {
        state.withLock { state in
            for key in held { state.keepUse(key) }
            state.underWay = [:]
        }
    }

    /// Keeps the uses for the next time, because they could not be written.
    func usesNotWritten() {
        state.withLock { state in
            for key in state.underWay.keys { state.keepUse(key) }
            state.underWay = [:]
        }
    }

    /// The bytes and the number of sessions, for metrics and tests.
    var size: (bytes: Int, sessions: Int) {
        state.withLock { ($0.bytes, $0.byKey.count) }
    }
}

extension SessionCache.State {
    static func stripe(_ key: SessionKey) -> Int { Int(truncatingIfNeeded: key.value & 1023) }

    /// Whether anything that was read after the ticket was taken includes the last change of the session.
    func isFresh(_ key: SessionKey, _ ticket: SessionCache.Ticket) -> Bool {
        allChangedAt <= ticket.version && changedAt[Self.stripe(key)] <= ticket.version
    }

    /// Changes the cached tokens of a session, if it is cached.
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

    /// Records a use in the slot in place. Copying the slot would touch as many reference counts as the rest of a hit.
    mutating func use(_ index: Int, _ now: Int64) {
        if let (key, at) = slots[index]?.use(now) { unwritten[key] = at }
    }

    /// Puts a use that was being written back among the unwritten ones.
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
        // The last use outlives the entry.
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
