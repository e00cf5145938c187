import Foundation
public import WebFormats

/// The right to redeem an account's refresh token, which only one caller has at a time. It ends when new tokens are
/// stored (``SessionStore/storeRefreshed(_:tokens:turn:)``), with ``SessionStore/giveBack(_:)``, or
/// ``SessionStore/refreshTurnTime`` after it was taken or prolonged.
public struct RefreshTurn: Sendable, Redacted {
    /// The account's refresh token.
    public let refreshToken: String
    let lease: RefreshLease
}

/// The result of asking for a turn.
public enum RefreshTurnAnswer: Sendable {
    case mine(RefreshTurn)
    /// Another server has the turn: wait with ``SessionStore/wait(for:until:)``, and read again.
    case others(OthersTurn)
    /// The provider asked for a pause, which lasts for this long, with this status; nil after too many requests.
    case tooEarly(Duration, status: Int?)
    /// The provider wants the person to sign in again, and has reported this to the server that had the turn a moment
    /// ago (``Account/needsInteraction``, ``Account/interactionClaims``).
    case refused(reason: String, claims: String?)
    /// A different refresh token is stored now: read again.
    case changed
    /// The account has no refresh token.
    case impossible
}

/// A refresh in progress at another server.
public struct OthersTurn: Sendable {
    let session: SessionKey
    let version: Int64
    let end: ContinuousClock.Instant
}

extension SessionStore {
    /// The duration of a turn. If a server dies in its turn, the others wait for this long.
    public static let refreshTurnTime: Duration = .milliseconds(SignInRules.longestLease)

    /// Whether several servers may use the database at once.
    public var isClustered: Bool { cluster != nil }

    /// Takes the turn to redeem the account's refresh token. Values that are read afterwards are not older than the
    /// turn.
    ///
    /// A single server always gets the turn, and must run one refresh of an account at a time. In any case a write was
    /// stored, so the result of the refresh can be kept.
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
        // The entry in memory may be older than another server's turn.
        cache.end([account.session])
        return switch answer {
        case .taken(let lease): .mine(RefreshTurn(refreshToken: token, lease: lease))
        case .held(_, let remaining, let version):
            .others(OthersTurn(session: account.session, version: version, end: .now + remaining))
        case .tooEarly(let wait, let status): try await refusal(of: account) ?? .tooEarly(wait, status: status)
        case .changed: .changed
        }
    }

    private func refusal(of account: AccountKey) async throws(StoreError) -> RefreshTurnAnswer? {
        guard let sealed = try await backend.session(account.session),
            let row = sealed.accounts.first(where: { $0.key == account }), let reason = row.needsInteraction
        else { return nil }
        return .refused(reason: reason, claims: row.interactionClaims)
    }

    /// Prolongs a turn to ``refreshTurnTime`` from now on, unless another server has taken it.
    ///
    /// - Returns: the prolonged turn; nil when another server has taken it, or the person has signed in again. The
    ///   result of the refresh may still be stored.
    public func prolong(_ turn: RefreshTurn) async throws(StoreError) -> RefreshTurn? {
        guard let cluster else { return turn }
        let answer = try await cluster.takeRefreshLease(
            of: turn.lease.account, seen: turn.lease.spent, by: process, for: Self.refreshTurnTime)
        guard case .taken(let lease) = answer else { return nil }
        return RefreshTurn(refreshToken: turn.refreshToken, lease: lease)
    }

    /// Waits until another server's turn has ended: because it stored tokens, gave the turn back, or ran out of time.
    ///
    /// - Returns: false when it had not ended at `deadline`.
    public func wait(for turn: OthersTurn, until deadline: ContinuousClock.Instant) async throws(StoreError) -> Bool {
        var pause = Duration.milliseconds(50)
        while true {
            // A cancelled timer ends at once, and so does the loop.
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

    /// Ends a turn that brought no tokens. Waiting callers may try at once, or after the pause that the provider asked
    /// for. If the turn cannot be ended now, it expires.
    ///
    /// - Parameters:
    ///   - pause: the time for which no server may take the next turn.
    ///   - status: the provider's status that began the pause; nil after too many requests.
    public func giveBack(_ turn: RefreshTurn, pause: Duration = .zero, status: Int? = nil) async {
        try? await cluster?.giveBack(turn.lease, pause: pause, status: status)
    }

    /// Stores the refresh token of a response that is not checked yet, and nothing else, because the provider may not
    /// accept the one that was redeemed again.
    ///
    /// - Returns: the turn, which continues with this refresh token; nil if a sign-in or another server has brought
    ///   newer tokens, and nothing is stored.
    /// - Throws: `noSuchSession` when the account was signed out in the meantime.
    public func keep(_ refreshToken: String, in turn: RefreshTurn) async throws(StoreError) -> RefreshTurn? {
        let account = turn.lease.account
        let sealed = try sealer.seal(refreshToken, for: .refreshToken(account))
        var lease = turn.lease
        while try await !backend.replaceRefreshToken(of: account, with: sealed, under: lease) {
            guard let stored = try await resealed(turn, since: lease) else { return nil }
            lease.spent = stored
        }
        lease.spent = sealed
        return RefreshTurn(refreshToken: refreshToken, lease: lease)
    }

    /// Returns the stored refresh token if it is the turn's own, resealed since the lease was taken.
    private func resealed(_ turn: RefreshTurn, since lease: RefreshLease) async throws(StoreError) -> Data? {
        let account = lease.account
        guard let stored = try await backend.refreshToken(of: account), stored != lease.spent,
            try sealer.open(stored, for: .refreshToken(account)) == turn.refreshToken
        else { return nil }
        return stored
    }

    /// Stores a refresh response and clears `needsInteraction`.
    ///
    /// - Parameter turn: the turn that was used. If a sign-in has completed since, or another server has taken the turn
    ///   after it expired, their tokens are newer and nothing is stored.
    /// - Returns: whether it was stored.
    /// - Throws: `noSuchSession` when the account was signed out in the meantime; nothing is stored then.
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
            guard let turn, let known = lease, let stored = try await resealed(turn, since: known) else { return false }
            lease?.spent = stored
        }
    }
}
