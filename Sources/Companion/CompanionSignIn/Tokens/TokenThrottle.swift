import CompanionCore
import Expiring
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// The pauses that token endpoints ask for.
///
/// A 429 to a refresh concerns one account, and a 429 to a code concerns one person's session, so each pauses only that
/// account or session, for the time in `Retry-After`. If three accounts in three sessions get a 429 within a minute,
/// the whole client is too fast. All its refreshes then pause for at most a minute, and after that a single refresh goes
/// first as a probe, of an account that was not among the three. If it succeeds, the three alone are too fast, and their
/// next 429s do not count against the others. Codes have no common pause, so that people can still sign in.
///
/// An endpoint that fails is not asked more than once a second for an account whose refresh has failed twice in a row in a
/// session. It may fail for that session's refresh token alone, so the account's other sessions do not wait.
final class TokenThrottle: Sendable {
    /// A client at a token endpoint.
    package struct Client: Hashable {
        package let tokenEndpoint: Endpoint
        package let id: String
    }

    /// The grant that is exchanged for tokens.
    package enum Grant {
        /// The code of a sign-in of this session.
        case code(session: SessionKey)
        /// The account's refresh token.
        case refresh(accountID: String, session: SessionKey)

        var isRefresh: Bool {
            if case .refresh = self { true } else { false }
        }
    }

    /// The permission for one exchange, to be passed to ``end(_:_:of:error:)``.
    package struct Leave {
        fileprivate var isProbe = false
    }

    /// If this many accounts in different sessions are throttled within ``window``, the whole client pauses.
    static let maxAccounts = 3
    /// The time window, in seconds.
    static let window: TimeInterval = 60
    /// The longest pause of a client in seconds, whatever its accounts were asked for.
    static let longestClientPause: TimeInterval = 60
    /// The time that other calls are asked to wait while a probe is under way, in seconds.
    static let probeWait: TimeInterval = 5
    /// The time after which an account that has caused a pause may be the probe, if no other wants to be, in seconds.
    static let longestWait: TimeInterval = 10
    /// The time for which accounts are known to have caused a pause, in seconds.
    static let causeMemory: TimeInterval = 600
    /// The pause of an account from its second failure (5xx) in a row on, in seconds: the first one may be a hiccup.
    static let failurePause: TimeInterval = 1
    /// The time within which failures are in a row, in seconds.
    fileprivate static let failureMemory: TimeInterval = 10
    /// The time after which a probe without an outcome no longer counts, in seconds. No exchange takes this long.
    private static let probeLimit: TimeInterval = 120

    /// An account or a session with its own pause.
    fileprivate struct Asker: Hashable {
        enum Name: Hashable {
            case account(String)
            case session(SessionKey)
            /// An account's refreshes in one session.
            case refreshes(String, SessionKey)
        }

        var client: Client
        var name: Name

        init(_ grant: Grant, of client: Client) {
            self.client = client
            name =
                switch grant {
                case .code(let session): .session(session)
                case .refresh(let id, _): .account(id)
                }
        }

        /// The refreshes of the account in its session alone; nil for a code.
        init?(ownOf grant: Grant, of client: Client) {
            guard case .refresh(let id, let session) = grant else { return nil }
            self.client = client
            name = .refreshes(id, session)
        }
    }

    /// The state of a client's refreshes.
    fileprivate struct Refreshes {
        /// The account of each session that recently received a 429.
        var refused: [SessionKey: (account: String, at: Date)] = [:]
        /// The end of the client's pause; nil again after a successful probe.
        var pausedUntil: Date?
        var probeBegan: Date?
        /// The accounts that have caused the latest pauses, and when.
        var causes: [String: Date] = [:]
    }

    /// The pause of an account, a session or a client.
    fileprivate struct Pause {
        let end: Date
        /// The status with which the provider asked for it; nil after too many requests.
        var status: Int?

        func problem(now: Date) -> Problem {
            TokenThrottle.problem(Throttle.problem(until: end, now: now), begunBy: status)
        }
    }

    fileprivate struct State {
        var askers = ExpiringMap<Asker, Pause>(maxCount: 10_000)
        /// The accounts whose latest refresh in a session met an endpoint that fails.
        var failed = ExpiringMap<Asker, Void>(maxCount: 10_000)
        var refreshes = ExpiringMap<Client, Refreshes>(maxCount: 1000)
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    /// - Parameter now: a monotonic clock.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Returns the seconds for which an account is not refreshed after an error.
    static func pause(after error: any Error) -> TimeInterval {
        guard let told = error as? OpenIDError else { return 0 }
        let asked = told.retryAfter.map { TimeInterval($0.components.seconds) }
        return min(asked ?? (told.code == .throttled ? Problem.unstatedPause : 0), Throttle.longestPause)
    }

    /// Returns the status with which the provider asked for a pause; nil after too many requests.
    static func status(after error: any Error) -> Int? {
        guard let told = error as? OpenIDError, told.code != .throttled else { return nil }
        return told.status
    }

    /// Returns the problem of a pause with the status that began it; without one there were too many requests.
    static func problem(_ throttled: Problem, begunBy status: Int?) -> Problem {
        guard let status else { return throttled }
        return Problem(
            .providerUnavailable, "The identity provider returned \(status), and is not asked for a while.",
            retryAfter: throttled.retryAfter)
    }

    /// Refuses an exchange during a pause.
    ///
    /// - Throws: ``Problem`` `throttled`, or `provider_unavailable` with the status that began the pause, each with the
    ///   remaining seconds.
    func begin(_ grant: Grant, of client: Client) throws(Problem) -> Leave {
        let now = now()
        let (leave, pause) = state.withLock { state -> (Leave, Pause?) in
            for asker in [Asker(grant, of: client), Asker(ownOf: grant, of: client)] {
                if let asker, let pause = state.askers.value(for: asker, now: now) { return (Leave(), pause) }
            }
            guard case .refresh(let id, _) = grant else { return (Leave(), nil) }
            let (leave, end) = TokenThrottle.begin(id, of: client, in: &state, now: now)
            return (leave, end.map { Pause(end: $0) })
        }
        guard let pause else { return leave }
        throw pause.problem(now: now)
    }

    private static func begin(_ account: String, of client: Client, in state: inout State, now: Date)
        -> (Leave, Date?)
    {
        guard var refreshes = state.refreshes.value(for: client, now: now), let end = refreshes.pausedUntil else {
            return (Leave(), nil)
        }
        if end > now { return (Leave(), end) }
        let isProbeUnderWay = refreshes.probeBegan.map { now.timeIntervalSince($0) < probeLimit } ?? false
        let isCause = refreshes.isCause(account, now: now) && now.timeIntervalSince(end) < longestWait
        guard !isProbeUnderWay, !isCause else { return (Leave(), now.addingTimeInterval(probeWait)) }
        refreshes.probeBegan = now
        state.keep(refreshes, of: client, now: now)
        return (Leave(isProbe: true), nil)
    }

    /// Records the outcome of an exchange.
    ///
    /// - Parameter error: the error; nil if tokens were received.
    func end(_ leave: Leave, _ grant: Grant, of client: Client, error: (any Error)?) {
        let now = now()
        let told = error as? OpenIDError
        let isTooMany = told?.code == .throttled
        let pause = error.map(TokenThrottle.pause(after:)) ?? 0
        let status = error.flatMap(TokenThrottle.status(after:))
        state.withLock { state in
            // After any other failure a code is lost, and the next sign-in has a new one.
            if pause > 0, isTooMany || grant.isRefresh {
                let end = now.addingTimeInterval(pause)
                state.askers.set(
                    Pause(end: end, status: status), for: Asker(grant, of: client), until: end, now: now)
            }
            // Another error is none of the provider's: it was not asked.
            if let own = Asker(ownOf: grant, of: client), error == nil || told != nil {
                state.note(status, of: own, now: now)
            }
            guard case .refresh(let id, let session) = grant, isTooMany || leave.isProbe else { return }
            var refreshes = state.refreshes.value(for: client, now: now) ?? Refreshes()
            if leave.isProbe { refreshes.probeBegan = nil }
            if isTooMany {
                refreshes.note(id, session, isProbe: leave.isProbe, pause: pause, now: now)
            } else if error == nil || told?.isTransient == false {
                // The provider responded normally, even if this account needs interaction, so the client's pause is
                // over.
                refreshes = Refreshes(causes: refreshes.causes)
            }
            state.keep(refreshes, of: client, now: now)
        }
    }
}

extension TokenThrottle.Refreshes {
    /// Records a 429. Pauses the client if enough accounts have one, or if the probe has.
    fileprivate mutating func note(
        _ account: String, _ session: SessionKey, isProbe: Bool, pause seconds: TimeInterval, now: Date
    ) {
        guard isProbe || !isCause(account, now: now) else { return }
        refused = refused.filter { now.timeIntervalSince($0.value.at) < TokenThrottle.window }
        refused[session] = (account, now)
        guard isProbe || Set(refused.values.map(\.account)).count >= TokenThrottle.maxAccounts else { return }
        pausedUntil = now.addingTimeInterval(min(seconds, TokenThrottle.longestClientPause))
        causes = causes.filter { now.timeIntervalSince($0.value) < TokenThrottle.causeMemory }
        for (account, _) in refused.values { causes[account] = now }
        refused = [:]
    }

    /// Whether an account has caused one of the latest pauses.
    fileprivate func isCause(_ account: String, now: Date) -> Bool {
        causes[account].map { now.timeIntervalSince($0) < TokenThrottle.causeMemory } ?? false
    }
}

extension TokenThrottle.State {
    /// Records what a refresh met: the status of an error, if it had one.
    fileprivate mutating func note(_ status: Int?, of own: TokenThrottle.Asker, now: Date) {
        guard let status, status >= 500 else {
            failed.remove(own)
            return
        }
        if failed.value(for: own, now: now) != nil {
            let end = now.addingTimeInterval(TokenThrottle.failurePause)
            askers.set(TokenThrottle.Pause(end: end, status: status), for: own, until: end, now: now)
        }
        failed.set((), for: own, until: now.addingTimeInterval(TokenThrottle.failureMemory), now: now)
    }

    /// Keeps the state of a client until its probe succeeds, or for an hour after the pause without further calls.
    fileprivate mutating func keep(_ value: TokenThrottle.Refreshes, of client: TokenThrottle.Client, now: Date) {
        guard value.pausedUntil != nil || !value.refused.isEmpty || !value.causes.isEmpty else {
            refreshes.remove(client)
            return
        }
        let end = max(now, value.pausedUntil ?? now).addingTimeInterval(Throttle.longestPause)
        refreshes.set(value, for: client, until: end, now: now)
    }
}
