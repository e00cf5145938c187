import Expiring
import Foundation
import OpenIDConnect
import Synchronization

/// The pauses that token endpoints ask for.
///
/// A 429 to a refresh says something about one account: it alone pauses, for as long as `Retry-After` says. When three
/// accounts of a client get one within a minute, it is the client that is too quick: its refreshes pause, and then one of
/// them goes first. Codes pause only by a 429 to a code, so that people can sign in meanwhile.
final class TokenThrottle: Sendable {
    /// A client at a token endpoint.
    struct Client: Hashable {
        let tokenEndpoint: Endpoint
        let id: String
    }

    /// What is exchanged for tokens.
    enum Grant {
        case code
        /// The account's refresh token.
        case refresh(accountID: String)
    }

    /// Leave to ask, given back to ``end(_:_:of:error:)``.
    struct Leave {
        fileprivate var isProbe = false
    }

    /// How long to wait where a 429 does not say, in seconds.
    static let unstatedPause: TimeInterval = 120
    /// So many accounts within ``window`` make it the client's.
    static let maxAccounts = 3
    /// In seconds.
    static let window: TimeInterval = 60
    /// How long others are asked to wait while a probe is under way, in seconds.
    static let probeWait: TimeInterval = 5
    /// A probe that never ended is none any more, in seconds: longer than an exchange can take.
    private static let probeLimit: TimeInterval = 120

    fileprivate struct Account: Hashable {
        var client: Client
        var id: String
    }

    /// What is known of a client's refreshes.
    fileprivate struct Refreshes {
        /// Who got a 429 lately, and when.
        var refused: [String: Date] = [:]
        /// Set from the client's first pause until a probe went well.
        var pausedUntil: Date?
        var probeBegan: Date?
    }

    fileprivate struct State {
        var accounts = ExpiringMap<Account, Date>(maxCount: 10_000)
        var refreshes = ExpiringMap<Client, Refreshes>(maxCount: 1000)
        var codes = ExpiringMap<Client, Date>(maxCount: 1000)
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// For how long an account is not refreshed after an error, in seconds.
    static func pause(after error: any Error) -> TimeInterval {
        guard let told = error as? OpenIDError else { return 0 }
        let asked = told.retryAfter.map { TimeInterval($0.components.seconds) }
        return min(asked ?? (told.code == .throttled ? unstatedPause : 0), Throttle.longestPause)
    }

    /// Refuses what would come too early.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds that are left.
    func begin(_ grant: Grant, of client: Client) throws(Problem) -> Leave {
        let now = now()
        let (leave, end) = state.withLock { state -> (Leave, Date?) in
            switch grant {
            case .code: (Leave(), state.codes.value(for: client, now: now))
            case .refresh(let id):
                if let end = state.accounts.value(for: Account(client: client, id: id), now: now) {
                    (Leave(), end)
                } else {
                    TokenThrottle.begin(of: client, in: &state, now: now)
                }
            }
        }
        guard let end else { return leave }
        throw Throttle.problem(until: end, now: now)
    }

    private static func begin(of client: Client, in state: inout State, now: Date) -> (Leave, Date?) {
        guard var refreshes = state.refreshes.value(for: client, now: now), let end = refreshes.pausedUntil else {
            return (Leave(), nil)
        }
        if end > now { return (Leave(), end) }
        if let began = refreshes.probeBegan, now.timeIntervalSince(began) < probeLimit {
            return (Leave(), now.addingTimeInterval(probeWait))
        }
        refreshes.probeBegan = now
        state.keep(refreshes, of: client, now: now)
        return (Leave(isProbe: true), nil)
    }

    /// Takes note of how an exchange ended.
    ///
    /// - Parameter error: nil when there are tokens.
    func end(_ leave: Leave, _ grant: Grant, of client: Client, error: (any Error)?) {
        let now = now()
        let told = error as? OpenIDError
        let isTooMany = told?.code == .throttled
        let pause = error.map(TokenThrottle.pause(after:)) ?? 0
        let end = now.addingTimeInterval(pause)
        state.withLock { state in
            guard case .refresh(let id) = grant else {
                if isTooMany { state.codes.set(end, for: client, until: end, now: now) }
                return
            }
            if pause > 0 { state.accounts.set(end, for: Account(client: client, id: id), until: end, now: now) }
            guard isTooMany || leave.isProbe else { return }
            var refreshes = state.refreshes.value(for: client, now: now) ?? Refreshes()
            if leave.isProbe { refreshes.probeBegan = nil }
            if isTooMany {
                refreshes.refused = refreshes.refused.filter { now.timeIntervalSince($0.value) < TokenThrottle.window }
                refreshes.refused[id] = now
                if leave.isProbe || refreshes.refused.count >= TokenThrottle.maxAccounts {
                    refreshes.pausedUntil = max(end, refreshes.pausedUntil ?? end)
                    refreshes.refused = [:]
                }
            } else if error == nil || told?.isTransient == false {
                // It was answered, if only that this account needs its person: the client is welcome again.
                refreshes = Refreshes()
            }
            state.keep(refreshes, of: client, now: now)
        }
    }
}

extension TokenThrottle.State {
    /// A client that is paused is remembered until its probe goes well, or nobody has come for an hour after the pause.
    fileprivate mutating func keep(_ value: TokenThrottle.Refreshes, of client: TokenThrottle.Client, now: Date) {
        guard value.pausedUntil != nil || !value.refused.isEmpty else {
            refreshes.remove(client)
            return
        }
        let end = max(now, value.pausedUntil ?? now).addingTimeInterval(Throttle.longestPause)
        refreshes.set(value, for: client, until: end, now: now)
    }
}
