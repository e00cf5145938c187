import CompanionCore
import SessionStore
import Synchronization

/// The responses to refreshes, from the request until they are stored. Nothing else has the account's next refresh
/// token. If a response cannot be stored, it is therefore kept here until it can be, or until the account no longer
/// exists.
final class UnsavedRefreshes: Sendable {
    /// The maximum number of concurrent exchanges.
    static let maxExchanges = 1000
    /// The memory reserved for the response of each exchange, in bytes.
    static let answerBytes = 16 << 10
    /// The maximum memory for kept and expected responses, in bytes.
    static let maxBytes = 24 << 20

    /// The account that a response belongs to.
    struct Owner {
        let account: AccountKey
        /// The account's name in the log.
        let pseudonym: Pseudonym
    }

    /// The result of an exchange.
    struct Exchanged {
        let tokens: NewTokens
        /// The reason for which nothing but the refresh token is to be stored, and with which the call fails.
        var failure: (any Error)?
    }

    private struct Refresh {
        let owner: Owner
        /// The turn of the refresh, with the refresh token that the provider may not accept again.
        let turn: RefreshTurn
        let tokens: NewTokens

        /// The estimated memory use, in bytes.
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
        /// Whether a task is storing the kept responses.
        var isStoring = false
        var isStopping = false

        mutating func forget(_ account: AccountKey) {
            keptBytes -= kept.removeValue(forKey: account)?.bytes ?? 0
        }
    }

    private let state = Mutex(State())
    private let store: SessionStore
    /// Responses of an account are stored one at a time, so that an older one never replaces a newer one.
    private let storing = OneAtATime<AccountKey>()

    init(store: SessionStore) {
        self.store = store
    }

    /// Whether a response of the account is kept.
    func has(_ account: AccountKey) -> Bool { state.withLock { $0.kept[account] != nil } }

    // MARK: Exchanges

    /// Runs an exchange and stores its result. If it cannot be stored now, the result is kept.
    ///
    /// - Parameters:
    ///   - turn: returns the turn after the exchange has ended.
    ///   - exchange: the exchange. It does not start if there is no room for its result, or if the server is stopping.
    /// - Throws: the error of `exchange`, and the failure in its result; ``StoreError``, even if the result is kept.
    func run(
        _ owner: Owner, _ turn: () async -> RefreshTurn, _ exchange: () async throws -> Exchanged
    ) async throws {
        try begin(owner)
        defer { state.withLock { _ = $0.exchanges.removeValue(forKey: owner.account) } }
        let exchanged = try await exchange()
        let refresh = Refresh(owner: owner, turn: await turn(), tokens: exchanged.tokens)
        do throws(StoreError) {
            try await store(refresh)
        } catch {
            if error != .noSuchSession { keep(refresh) }
            throw error
        }
        if let failure = exchanged.failure { throw failure }
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

    // MARK: Kept results

    /// Stores the kept result of an earlier refresh, unless the account has signed in again since.
    func store(_ account: AccountKey) async throws {
        guard has(account) else { return }
        try await storing.run(account) {
            guard let refresh = state.withLock({ $0.kept[account] }) else { return }
            do throws(StoreError) {
                try await store(refresh)
            } catch {
                // The result is worthless only if the account no longer exists.
                guard error == .noSuchSession else { throw error }
            }
            state.withLock { $0.forget(account) }
        }
    }

    /// Stores a result. The store ignores it if a sign-in or another server has brought newer tokens.
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

    /// Stores all kept results as soon as possible, because another server that redeems the same refresh token would
    /// find it already spent.
    private func storeSoon() {
        Task.detached { [weak self] in
            var pause = Duration.milliseconds(250)
            repeat {
                try? await Task.sleep(for: pause)
                // The pause grows slowly, and reaches one second only after a quarter of an hour: the first server that
                // stores its result after an outage wins.
                pause = min(pause * 1.001, .seconds(1))
            } while await self?.storeAll() == false
        }
    }

    /// - Returns: whether all results are stored.
    private func storeAll() async -> Bool {
        for account in state.withLock({ Array($0.kept.keys) }) {
            do {
                try await store(account)
            } catch let error as StoreError where error.isUnavailable {
                // The other results would only wait for the same reason.
                break
            } catch {}
        }
        return state.withLock { state in
            state.isStoring = !state.kept.isEmpty
            return state.kept.isEmpty
        }
    }

    // MARK: Shutdown

    /// Prevents new exchanges from now on.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Waits until the exchanges under way have ended and their results are stored.
    ///
    /// - Returns: the accounts whose results are not stored at `deadline` and would be lost.
    func settle(until deadline: ContinuousClock.Instant) async -> [Pseudonym] {
        while !open.isEmpty, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(20)) }
        return open
    }

    /// The accounts with an exchange under way or a kept result.
    var open: [Pseudonym] {
        state.withLock { Array($0.exchanges.values) + $0.kept.values.map(\.owner.pseudonym) }
    }
}
