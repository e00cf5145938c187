import Expiring
import Foundation
import SessionStore
import Synchronization

/// What refreshes brought when it could not be stored. Nothing else has the account's next refresh token, so it is kept here
/// until it can be.
final class UnsavedRefreshes: Sendable {
    private struct Refresh {
        /// The turn that it cost, with the refresh token that the provider may not take again.
        var turn: RefreshTurn
        var tokens: NewTokens

        /// An estimate of what it takes, in bytes.
        var bytes: Int {
            turn.refreshToken.utf8.count + (tokens.refreshToken?.utf8.count ?? 0)
                + (tokens.accessToken?.utf8.count ?? 0)
        }
    }

    private static let lifetime: TimeInterval = 12 * 3600
    private let kept = Mutex(ExpiringMap<AccountKey, Refresh>(maxCount: 10_000, maxBytes: 8 << 20))
    private let store: SessionStore
    private let accounts: OneAtATime<AccountKey>
    private let now: @Sendable () -> Date

    /// - Parameter accounts: what makes an account's refreshes follow each other.
    init(store: SessionStore, accounts: OneAtATime<AccountKey>, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.accounts = accounts
        self.now = now
    }

    /// Whether something of an account is kept.
    func has(_ account: AccountKey) -> Bool { refresh(of: account) != nil }

    private func refresh(of account: AccountKey) -> Refresh? {
        let now = now()
        return kept.withLock { $0.value(for: account, now: now) }
    }

    /// Stores a refresh's answer; keeps it when that is not possible now.
    ///
    /// - Throws: ``StoreError``, also where it is kept.
    func save(_ tokens: NewTokens, _ account: AccountKey, _ turn: RefreshTurn) async throws {
        do throws(StoreError) {
            // Where it is not stored, what is there is newer, by a sign-in or by another server.
            try await store.storeRefreshed(account, tokens: tokens, turn: turn)
            _ = kept.withLock { $0.remove(account) }
        } catch {
            guard error.isUnavailable else { throw error }
            let (refresh, now) = (Refresh(turn: turn, tokens: tokens), now())
            let isNew = kept.withLock { kept in
                let isNew = kept.value(for: account, now: now) == nil
                _ = kept.set(
                    refresh, for: account, cost: refresh.bytes, until: now.addingTimeInterval(Self.lifetime), now: now)
                return isNew
            }
            if isNew, store.isShared { storeSoon(account) }
            throw error
        }
    }

    /// Stores what an earlier refresh brought, unless somebody has signed in anew since.
    func store(_ account: AccountKey) async throws {
        guard let refresh = refresh(of: account) else { return }
        try await save(refresh.tokens, account, refresh.turn)
    }

    /// Stores it as soon as that is possible, while nobody else can have the turn: another server that redeems the same
    /// refresh token after it may find it spent.
    private func storeSoon(_ account: AccountKey) {
        let end = ContinuousClock.now + SessionStore.refreshTurnTime
        Task.detached { [weak self] in
            while ContinuousClock.now < end {
                try? await Task.sleep(for: .milliseconds(250))
                guard let self else { return }
                if (try? await accounts.run(account, { try await self.store(account) })) != nil { return }
            }
        }
    }
}
