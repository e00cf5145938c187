import CompanionCore
import Expiring
import Foundation
import OpenIDConnect
import SessionStore
import Synchronization

/// The pauses that token endpoints ask for.
///
/// A 429 to a refresh says something about one account, and one to a code about one person's session: each pauses alone, for
/// as long as `Retry-After` says. When three accounts of three sessions get one within a minute, it is the client that is
/// too quick: its refreshes pause, a minute at most, and then one of them goes first. Codes have no common pause, so that
/// people can sign in meanwhile.
final class TokenThrottle: Sendable {
    /// A client at a token endpoint.
    package struct Client: Hashable {
        package let tokenEndpoint: Endpoint
        package let id: String
    }

    /// What is exchanged for tokens.
    package enum Grant {
        /// The code of a sign-in of this session.
        case code(session: SessionKey)
        /// The account's refresh token.
        case refresh(accountID: String, session: SessionKey)

        var isRefresh: Bool {
            if case .refresh = self { true } else { false }
        }
    }

    /// Leave to ask, given back to ``end(_:_:of:error:)``.
    package struct Leave {
        fileprivate var isProbe = false
    }

    /// This many accounts, each of another session, within ``window`` make it the client's.
    static let maxAccounts = 3
    /// In seconds.
    static let window: TimeInterval = 60
    /// How long a client pauses at most, whatever its accounts were asked for, in seconds.
    static let longestClientPause: TimeInterval = 60
    /// How long others are asked to wait while a probe is under way, in seconds.
    static let probeWait: TimeInterval = 5
    /// A probe that never ended is none any more, in seconds: longer than an exchange can take.
    private static let probeLimit: TimeInterval = 120

    /// An account or a session whose exchanges pause.
    fileprivate struct Asker: Hashable {
        enum Name: Hashable {
            case account(String)
            case session(SessionKey)
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
    }

    /// What is known of a client's refreshes.
    fileprivate struct Refreshes {
        /// The account that each session got a 429 for lately.
        var refused: [SessionKey: (account: String, at: Date)] = [:]
        /// Set from the client's first pause until a probe went well.
        var pausedUntil: Date?
        var probeBegan: Date?
    }

    fileprivate struct State {
        var askers = ExpiringMap<Asker, Date>(maxCount: 10_000)
        var refreshes = ExpiringMap<Client, Refreshes>(maxCount: 1000)
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    /// - Parameter now: a clock that nobody sets.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// For how long an account is not refreshed after an error, in seconds.
    static func pause(after error: any Error) -> TimeInterval {
        guard let told = error as? OpenIDError else { return 0 }
        let asked = told.retryAfter.map { TimeInterval($0.components.seconds) }
        return min(asked ?? (told.code == .throttled ? Problem.unstatedPause : 0), Throttle.longestPause)
    }

    /// Refuses what would come too early.
    ///
    /// - Throws: ``Problem`` `throttled` with the seconds that are left.
    func begin(_ grant: Grant, of client: Client) throws(Problem) -> Leave {
        let now = now()
        let (leave, end) = state.withLock { state -> (Leave, Date?) in
            if let end = state.askers.value(for: Asker(grant, of: client), now: now) { return (Leave(), end) }
            return grant.isRefresh ? TokenThrottle.begin(of: client, in: &state, now: now) : (Leave(), nil)
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
        state.withLock { state in
            // A code that fails otherwise is lost, and the next sign-in has another one.
            if pause > 0, isTooMany || grant.isRefresh {
                let end = now.addingTimeInterval(pause)
                state.askers.set(end, for: Asker(grant, of: client), until: end, now: now)
            }
            guard case .refresh(let id, let session) = grant, isTooMany || leave.isProbe else { return }
            var refreshes = state.refreshes.value(for: client, now: now) ?? Refreshes()
            if leave.isProbe { refreshes.probeBegan = nil }
            if isTooMany {
                refreshes.note(id, session, isProbe: leave.isProbe, pause: pause, now: now)
            } else if error == nil || told?.isTransient == false {
                // It was answered, if only that this account needs its person: the client is welcome again.
                refreshes = Refreshes()
            }
            state.keep(refreshes, of: client, now: now)
        }
    }
}

extension TokenThrottle.Refreshes {
    /// Takes note of a 429; pauses the client after those of enough accounts, and after each probe's.
    fileprivate mutating func note(
        _ account: String, _ session: SessionKey, isProbe: Bool, pause seconds: TimeInterval, now: Date
    ) {
        refused = refused.filter { now.timeIntervalSince($0.value.at) < TokenThrottle.window }
        refused[session] = (account, now)
        guard isProbe || Set(refused.values.map(\.account)).count >= TokenThrottle.maxAccounts else { return }
        pausedUntil = now.addingTimeInterval(min(seconds, TokenThrottle.longestClientPause))
        refused = [:]
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
