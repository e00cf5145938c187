import Foundation
public import WebFormats

/// The right to redeem an account's refresh token: nobody else does it meanwhile. It ends with what is stored
/// (``SessionStore/storeRefreshed(_:tokens:turn:)``), with ``SessionStore/giveBack(_:)``, or
/// ``SessionStore/refreshTurnTime`` after it was taken or prolonged.
public struct RefreshTurn: Sendable, Redacted {
    /// The account's refresh token.
    public let refreshToken: String
    let lease: RefreshLease
}

/// What came of asking for a turn.
public enum RefreshTurnAnswer: Sendable {
    case mine(RefreshTurn)
    /// Another server has it: wait with ``SessionStore/wait(for:until:)``, and read again.
    case others(OthersTurn)
    /// Somebody has asked for a pause, which lasts for so long.
    case tooEarly(Duration)
    /// The provider wants the person, and has said so to the one that had the turn a moment ago
    /// (``Account/needsInteraction``, ``Account/interactionClaims``).
    case refused(reason: String, claims: String?)
    /// There is another refresh token by now: read again.
    case changed
    /// There is no refresh token.
    case impossible
}

/// A refresh that another server has under way.
public struct OthersTurn: Sendable {
    let session: SessionKey
    let version: Int64
    let end: ContinuousClock.Instant
}

extension SessionStore {
    /// How long a turn lasts. A server that dies in its turn keeps the others waiting for so long.
    public static let refreshTurnTime: Duration = .seconds(20)

    /// Whether several servers may use the place at once.
    public var isClustered: Bool { cluster != nil }

    /// Takes the turn to redeem the account's refresh token. What is found in the store afterwards is not older.
    ///
    /// Where one server has the place for itself, the turn is always the caller's, who lets one refresh of an account run
    /// at a time. In any case a write was stored: what the refresh brings can be kept.
    ///
    /// - Throws: `unavailable` when nothing can be stored now; `noSuchSession` when the account is not signed in.
    public func takeRefreshTurn(of account: AccountKey) async throws(StoreError) -> RefreshTurnAnswer {
        guard let sealed = try await backend.refreshToken(of: account) else { return .impossible }
        let token = try sealer.open(sealed, for: .refreshToken(account))
        guard let cluster else {
            try await requireWritable()
            return .mine(
                RefreshTurn(refreshToken: token, lease: RefreshLease(account: account, fence: nil, spent: sealed)))
        }
        let answer = try await cluster.takeRefreshLease(
            of: account, seen: sealed, by: process, for: Self.refreshTurnTime)
        // What memory has may be from before somebody else's turn.
        cache.end([account.session])
        return switch answer {
        case .taken(let lease): .mine(RefreshTurn(refreshToken: token, lease: lease))
        case .held(_, let remaining, let version):
            .others(OthersTurn(session: account.session, version: version, end: .now + remaining))
        case .tooEarly(let wait): try await refusal(of: account) ?? .tooEarly(wait)
        case .changed: .changed
        }
    }

    private func refusal(of account: AccountKey) async throws(StoreError) -> RefreshTurnAnswer? {
        guard let sealed = try await backend.session(account.session),
            let row = sealed.accounts.first(where: { $0.key == account }), let reason = row.needsInteraction
        else { return nil }
        return .refused(reason: reason, claims: row.interactionClaims)
    }

    /// Makes a turn last for ``refreshTurnTime`` from now on, for as long as nobody else has it.
    ///
    /// - Returns: the turn as it is from then on; nil when it has become another's, or somebody has signed in. What it brings
    ///   may be stored all the same.
    public func prolong(_ turn: RefreshTurn) async throws(StoreError) -> RefreshTurn? {
        guard let cluster else { return turn }
        let answer = try await cluster.takeRefreshLease(
            of: turn.lease.account, seen: turn.lease.spent, by: process, for: Self.refreshTurnTime)
        guard case .taken(let lease) = answer else { return nil }
        return RefreshTurn(refreshToken: turn.refreshToken, lease: lease)
    }

    /// Waits until another server's turn has ended, by what it stored, by being given back, or by its time.
    ///
    /// - Returns: false when it had not ended at `deadline`.
    public func wait(for turn: OthersTurn, until deadline: ContinuousClock.Instant) async throws(StoreError) -> Bool {
        var pause = Duration.milliseconds(50)
        while true {
            // A timer that is cancelled ends at once, and so does the loop.
            guard ContinuousClock.now + pause < deadline, (try? await Task.sleep(for: pause)) != nil else {
                return false
            }
            if try await cluster?.versions(of: [turn.session])[turn.session] != turn.version || turn.end < .now {
                cache.end([turn.session])
                return true
            }
            pause = min(pause * 2, .milliseconds(400))
        }
    }

    /// Ends a turn that has brought nothing: anyone who waits may try at once, or after the pause that the provider has asked
    /// for. When it cannot be ended now, it ends by its time.
    ///
    /// - Parameter pause: for how long no server may take the next turn.
    public func giveBack(_ turn: RefreshTurn, pause: Duration = .zero) async {
        try? await cluster?.giveBack(turn.lease, pause: pause)
    }

    /// Stores a refresh response and clears `needsInteraction`.
    ///
    /// - Parameter turn: the one that it cost. A sign-in that ended meanwhile, and the refresh of a server that took the
    ///   turn after its time, are newer: nothing is stored then.
    /// - Returns: whether it was stored.
    /// - Throws: `noSuchSession` when the account was signed out meanwhile: nothing is stored then.
    @discardableResult
    public func storeRefreshed(_ account: AccountKey, tokens: NewTokens, turn: RefreshTurn? = nil)
        async throws(StoreError) -> Bool
    {
        let sealed = try sealer.seal(refreshed: tokens, of: account)
        var lease = turn?.lease
        while true {
            let isStored = try await backend.replaceTokens(of: account, with: sealed, under: lease, now: now)
            cache.end([account.session])
            if isStored { return true }
            // It may be the same refresh token, sealed anew meanwhile.
            guard let turn, let stored = try await backend.refreshToken(of: account), stored != lease?.spent,
                try sealer.open(stored, for: .refreshToken(account)) == turn.refreshToken
            else { return false }
            lease?.spent = stored
        }
    }
}
