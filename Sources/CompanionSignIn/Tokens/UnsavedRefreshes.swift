import CompanionCore
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// The answers to refreshes, from when they are asked for until they are stored. Nothing else has the account's next refresh
/// token: an answer that cannot be stored is kept here until it can be, or its account is no more.
final class UnsavedRefreshes: Sendable {
    /// The most exchanges at a time.
    static let maxExchanges = 1000
    /// The room that an exchange finds for its answer, in bytes.
    static let answerBytes = 16 << 10
    /// The most bytes of what is kept and of what is to come.
    static let maxBytes = 24 << 20

    /// The account that will miss an answer which is lost.
    struct Owner {
        let account: AccountKey
        /// Its name in the log.
        let pseudonym: Pseudonym
    }

    private struct Refresh {
        let owner: Owner
        /// The turn that it cost, with the refresh token that the provider may not take again.
        let turn: RefreshTurn
        let tokens: NewTokens

        /// An estimate of what it takes, in bytes.
        var bytes: Int {
            turn.refreshToken.utf8.count + (tokens.refreshToken?.utf8.count ?? 0)
                + (tokens.accessToken?.utf8.count ?? 0) + (tokens.idToken?.utf8.count ?? 0)
                + (tokens.idTokenClaims?.utf8.count ?? 0)
        }
    }

    private struct State {
        var exchanges: [AccountKey: Pseudonym] = [:]
        var kept: [AccountKey: Refresh] = [:]
        var keptBytes = 0
        /// Whether somebody sees to it that what is kept is stored.
        var isStoring = false
        var isStopping = false

        mutating func forget(_ account: AccountKey) {
            keptBytes -= kept.removeValue(forKey: account)?.bytes ?? 0
        }
    }

    private let state = Mutex(State())
    private let store: SessionStore
    /// One answer is stored at a time: an older one must not follow a newer one.
    private let storing = OneAtATime<AccountKey>()

    init(store: SessionStore) {
        self.store = store
    }

    /// Whether something of an account is kept.
    func has(_ account: AccountKey) -> Bool { state.withLock { $0.kept[account] != nil } }

    // MARK: Exchanges

    /// Runs an exchange and stores what it brings; keeps that when it cannot be stored now.
    ///
    /// - Parameters:
    ///   - turn: the turn as it is when the exchange has ended.
    ///   - exchange: does not begin while there is no room for what it brings, nor when the server stops.
    /// - Throws: what `exchange` throws; ``StoreError``, also where the answer is kept.
    func run(
        _ owner: Owner, _ turn: () async -> RefreshTurn, _ exchange: () async throws -> NewTokens
    ) async throws {
        try begin(owner)
        defer { state.withLock { _ = $0.exchanges.removeValue(forKey: owner.account) } }
        let tokens = try await exchange()
        let refresh = Refresh(owner: owner, turn: await turn(), tokens: tokens)
        do throws(StoreError) {
            try await store(refresh)
        } catch {
            if error != .noSuchSession { keep(refresh) }
            throw error
        }
    }

    private func begin(_ owner: Owner) throws {
        let refusal = state.withLock { state -> (any Error)? in
            let cause: String
            if state.isStopping {
                cause = "the server stops"
            } else if state.exchanges.count >= Self.maxExchanges {
                cause = "too many tokens are being renewed"
            } else if state.keptBytes + (state.exchanges.count + 1) * Self.answerBytes > Self.maxBytes {
                return StoreError.unavailable("there is no room for one more token that cannot be stored")
            } else {
                state.exchanges[owner.account] = owner.pseudonym
                return nil
            }
            RequestContext.current?.note(cause: cause)
            return ProviderClient.unreachable
        }
        if let refusal { throw refusal }
    }

    // MARK: What is kept

    /// Stores what an earlier refresh brought, unless somebody has signed in anew since.
    func store(_ account: AccountKey) async throws {
        guard has(account) else { return }
        try await storing.run(account) {
            guard let refresh = state.withLock({ $0.kept[account] }) else { return }
            do throws(StoreError) {
                try await store(refresh)
            } catch {
                // Only the account's end makes it worthless.
                guard error == .noSuchSession else { throw error }
            }
            state.withLock { $0.forget(account) }
        }
    }

    /// Where it is not stored, what is there is newer, by a sign-in or by another server.
    private func store(_ refresh: Refresh) async throws(StoreError) {
        try await store.storeRefreshed(refresh.owner.account, tokens: refresh.tokens, turn: refresh.turn)
    }

    private func keep(_ refresh: Refresh) {
        let isFirst = state.withLock { state in
            state.forget(refresh.owner.account)
            state.kept[refresh.owner.account] = refresh
            state.keptBytes += refresh.bytes
            defer { state.isStoring = true }
            return !state.isStoring
        }
        if isFirst { storeSoon() }
    }

    /// Stores all that is kept as soon as that is possible: another server that redeems the same refresh token would find it
    /// spent.
    private func storeSoon() {
        Task.detached { [weak self] in
            var pause = Duration.milliseconds(250)
            repeat {
                try? await Task.sleep(for: pause)
                // The first to ask when the place is back decides: only after a quarter of an hour there is a second between two.
                pause = min(pause * 1.001, .seconds(1))
            } while await self?.storeAll() == false
        }
    }

    /// - Returns: whether nothing is left.
    private func storeAll() async -> Bool {
        for account in state.withLock({ Array($0.kept.keys) }) {
            do {
                try await store(account)
            } catch let error as StoreError where error.isUnavailable {
                // The others would only wait for the same.
                break
            } catch {}
        }
        return state.withLock { state in
            state.isStoring = !state.kept.isEmpty
            return state.kept.isEmpty
        }
    }

    // MARK: The end

    /// From now on no exchange begins.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Waits until the exchanges under way have ended and what they brought is stored.
    ///
    /// - Returns: whose answers are lost when this has not happened at `deadline`.
    func settle(until deadline: ContinuousClock.Instant) async -> [Pseudonym] {
        while !open.isEmpty, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(20)) }
        return open
    }

    /// The accounts whose exchanges are under way, or whose answers are kept.
    var open: [Pseudonym] {
        state.withLock { Array($0.exchanges.values) + $0.kept.values.map(\.owner.pseudonym) }
    }
}
