package import Foundation

/// A backend that several servers can use at once.
///
/// Adds to ``StoreBackend`` the things on which servers must agree: which server redeems a refresh token, which one
/// does a chore, which sessions have changed, and which servers are running. A backend used by a single server needs
/// none of this, and pays nothing for it.
///
/// All times are measured by the database's own clock. Methods take and return durations only, so the clocks of the
/// machines may differ. Each method is one transaction.
package protocol ClusteredStoreBackend: StoreBackend, PostedAnswerKeeper {
    /// Returns the versions of sessions. Every change that a reader could notice gives the session a new version: to an
    /// account, its tokens, the session id, the current account, or a lease that is given back. Using the session does
    /// not, and neither does taking a lease.
    ///
    /// - Parameter limit: the longest time that the caller waits, if it can go on without an answer; nil waits for as
    ///   long as it takes. After one call has run out of time, calls with a limit fail at once until the database has
    ///   answered again.
    /// - Returns: the version of each session that exists.
    func versions(of sessions: [SessionKey], within limit: Duration?) async throws(StoreError) -> [SessionKey: Int64]

    /// Takes a lease if ``SignInRules/lease(_:refreshToken:seen:by:now:)`` allows it. The account's fence then rises by
    /// one, and the process holds the lease until it gives the lease back or the lease expires.
    ///
    /// - Parameters:
    ///   - seen: the sealed refresh token that the caller wants to redeem, as the caller read it.
    ///   - duration: how long the lease lasts.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func takeRefreshLease(
        of account: AccountKey, seen: Data, by process: ServerProcess.ID, for duration: Duration
    ) async throws(StoreError) -> RefreshLeaseAnswer
    /// Ends a lease, unless another process has taken it since or its account is gone. The session gets a new version,
    /// so that waiting processes read it again.
    ///
    /// - Parameters:
    ///   - pause: the time for which no process may take the next lease.
    ///   - status: the provider's status that began the pause; nil after too many requests.
    func giveBack(_ lease: RefreshLease, pause: Duration, status: Int?) async throws(StoreError)

    /// Takes a chore, or extends it for the process that has it.
    ///
    /// - Returns: false when another process has it now.
    func take(_ chore: Chore, by process: ServerProcess.ID, for duration: Duration) async throws(StoreError) -> Bool

    /// Records that a process is running and which keys it has, and deletes the records of processes that ended a day
    /// ago.
    ///
    /// - Parameter duration: how long the process counts as running from now on; zero when it ends.
    func report(_ process: ServerProcess, for duration: Duration) async throws(StoreError)
    /// - Returns: what a server needs to know about the database from time to time.
    func standing() async throws(StoreError) -> PlaceStanding
    /// - Returns: the running processes, in the order of their ids.
    func livingProcesses() async throws(StoreError) -> [ServerProcess]

    /// - Returns: the state of the connections to the database; nil if the backend needs none.
    func connections() async -> StoreConnections?
    /// Whether the first connection to the database was encrypted; nil if the backend needs none.
    var isEncrypted: Bool? { get }

    // MARK: Notes and trips

    /// Adds notes, including notes of sessions that no longer exist. Now and then a session's oldest notes are deleted
    /// (``SignInRules/maxNotes``, ``SessionNoteRow/makesRoom``); purging attempts deletes expired notes.
    func add(_ notes: [SessionNoteRow]) async throws(StoreError)
    /// - Parameter since: the lowest id.
    /// - Returns: a session's notes in the order of their ids.
    func notes(of session: SessionKey, since: Int64) async throws(StoreError) -> [SessionNoteRow]
    /// Deletes a session's notes.
    func forgetNotes(of session: SessionKey) async throws(StoreError)
    /// Adds a trip, unless ``SignInRules/oldestTrip(among:most:)`` finds that the limit is reached.
    ///
    /// - Parameter since: trips with a lower id do not count.
    /// - Returns: nil when it was added, else the id of the oldest trip.
    func addTrip(_ trip: SessionNoteRow, unlessThereAre most: Int, since: Int64) async throws(StoreError) -> Int64?
}

extension ClusteredStoreBackend {
    /// Returns the versions of sessions, and waits for as long as it takes.
    package func versions(of sessions: [SessionKey]) async throws(StoreError) -> [SessionKey: Int64] {
        try await versions(of: sessions, within: nil)
    }
}

/// A chore that one process does on behalf of all processes that use the database.
package enum Chore: String, Sendable, CaseIterable {
    /// Deletes what has expired.
    case purge
    /// Reseals what an older key sealed.
    case resealing
    /// Checks the applications at night.
    case checks
}

/// A server that uses the same database as others.
package struct ServerProcess: Sendable, Equatable {
    /// The id of one run of a server. It is never used again.
    package typealias ID = String

    package var id: ID
    /// The machine's name.
    package var host: String
    /// The program's version.
    package var version: String
    /// The keys that it can use, in no particular order.
    package var keys: Set<KeyRing.KeyID>
    /// The milliseconds by which its machine's clock is ahead of the database's; nil if the server is too old to report
    /// it.
    package var clockAhead: Int64?

    package init(id: ID, host: String, version: String, keys: Set<KeyRing.KeyID>, clockAhead: Int64?) {
        self.id = id
        self.host = host
        self.version = version
        self.keys = keys
        self.clockAhead = clockAhead
    }
}

/// The facts that the database reports to the servers that use it.
package struct PlaceStanding: Sendable {
    /// The database's own time, in milliseconds since 1970.
    package var time: Int64
    /// The keys that have sealed something and are not retired.
    package var sealingKeys: Set<KeyRing.KeyID>
    /// The reason for which this version can no longer use the database; nil if it can.
    package var refusal: StoreError?

    package init(time: Int64, sealingKeys: Set<KeyRing.KeyID>, refusal: StoreError? = nil) {
        self.time = time
        self.sealingKeys = sealingKeys
        self.refusal = refusal
    }
}

/// The right to redeem an account's refresh token. One process holds it at a time.
package struct RefreshLease: Sendable, Equatable {
    package var account: AccountKey
    /// The number of the lease among those of the account; nil if the database is not clustered and has no leases.
    package var fence: Int64?
    /// The sealed refresh token that the holder may redeem.
    package var spent: Data

    package init(account: AccountKey, fence: Int64?, spent: Data) {
        self.account = account
        self.fence = fence
        self.spent = spent
    }
}

/// The result of asking for a lease.
package enum RefreshLeaseAnswer: Sendable, Equatable {
    /// The caller holds the lease.
    case taken(RefreshLease)
    /// Another process holds the lease.
    ///
    /// - Parameters:
    ///   - by: the process that holds it.
    ///   - remaining: the time after which the lease expires, unless it is given back before.
    ///   - version: the session's version when this was decided: a different version means that the lease was given
    ///     back.
    case held(by: ServerProcess.ID, remaining: Duration, version: Int64)
    /// A refresh failed a moment ago, and the next one must wait for this long. The status is the one that began the
    /// pause; nil after too many requests.
    case tooEarly(Duration, status: Int?)
    /// The stored refresh token has changed or is gone: read again.
    case changed
}

/// The state of an account's leases. An account begins with `RefreshState()`.
package struct RefreshState: Sendable, Equatable {
    /// The number of the latest lease.
    package var fence: Int64 = 0
    /// The process that took it; empty if no process holds it.
    package var holder: ServerProcess.ID = ""
    /// The time at which the lease expires, in milliseconds since 1970 by the database's clock.
    package var until: Int64 = 0
    /// The earliest time at which the next lease may be taken, by the same clock.
    package var retryAt: Int64 = 0
    /// The provider's status that began this pause; nil after too many requests.
    package var retryStatus: Int?

    package init(
        fence: Int64 = 0, holder: ServerProcess.ID = "", until: Int64 = 0, retryAt: Int64 = 0, retryStatus: Int? = nil
    ) {
        self.fence = fence
        self.holder = holder
        self.until = until
        self.retryAt = retryAt
        self.retryStatus = retryStatus
    }

    /// Returns the state after the next lease was taken.
    package func taken(by process: ServerProcess.ID, for duration: Duration, now: Int64) -> RefreshState {
        RefreshState(fence: fence + 1, holder: process, until: now + duration.milliseconds, retryAt: 0)
    }

    /// Returns the state after the lease was given back.
    package func givenBack(pause: Duration, status: Int? = nil, now: Int64) -> RefreshState {
        RefreshState(
            fence: fence, holder: "", until: 0, retryAt: now + max(0, pause.milliseconds), retryStatus: status)
    }

    /// Returns the state with a lease of possible length, if it lasts longer: it was taken before the database's clock
    /// was set back. A living holder prolongs it; that of one that has died ends. nil if nothing has to change.
    package func broughtBack(now: Int64) -> RefreshState? {
        guard !holder.isEmpty, until > now, until - now > SignInRules.longestLease else { return nil }
        var state = self
        state.until = now + SignInRules.longestLease
        return state
    }

    /// The state after a refresh or a sign-in has stored new tokens. Older leases may no longer write, except over the
    /// refresh token for which they were taken.
    package var renewed: RefreshState { RefreshState(fence: fence + 1) }
}

extension SignInRules {
    /// The decision of ``lease(_:refreshToken:seen:by:now:)``. Times are in milliseconds.
    package enum LeaseDecision: Sendable, Equatable {
        case take, held(remaining: Int64), tooEarly(Int64, status: Int? = nil), changed
    }

    /// The longest lease, in milliseconds. If a server dies in its turn to refresh, the others wait for this long.
    package static let longestLease: Int64 = 20_000
    /// The longest pause between the leases of an account, in milliseconds.
    package static let longestPause: Int64 = 3_600_000
    /// The longest time for which a process has a chore, or counts as running after a report, in milliseconds.
    package static let longestHold: Int64 = 60_000
    /// The time after the database's return, or after a process has started, in which it takes over nobody's lease: the
    /// holder has lost the database, too, and stores its answer as soon as it notices the return.
    package static let returnGrace: Duration = .seconds(2)

    /// Whether a process may redeem an account's refresh token now.
    ///
    /// A process may take its own lease again. It runs one refresh of an account at a time, so a lease that it still
    /// holds is left over from a refresh that could not give it back, because the database was unavailable.
    ///
    /// - Parameters:
    ///   - refreshToken: the sealed refresh token that is stored.
    ///   - seen: the refresh token that the caller has read.
    ///   - now: the time by the database's clock.
    ///   - sinceReturn: the time since the process has started, or could use the database again; nil if that does not
    ///     matter.
    package static func lease(
        _ state: RefreshState, refreshToken: Data?, seen: Data, by process: ServerProcess.ID, now: Int64,
        sinceReturn: Duration? = nil
    ) -> LeaseDecision {
        guard refreshToken == seen else { return .changed }
        if !state.holder.isEmpty, state.holder != process {
            if state.until > now { return .held(remaining: min(state.until - now, longestLease)) }
            if let sinceReturn, sinceReturn < returnGrace {
                return .held(remaining: max(1, (returnGrace - sinceReturn).milliseconds))
            }
        }
        // A pause that would last for longer began before the database's clock was set back.
        guard state.retryAt > now, state.retryAt - now <= longestPause else { return .take }
        return .tooEarly(state.retryAt - now, status: state.retryStatus)
    }

    /// Whether the tokens of a refresh may be stored. They may while its lease is the latest. After that they may only
    /// replace the refresh token that was redeemed, because then no other refresh and no sign-in has replaced it.
    package static func mayStore(under lease: RefreshLease, fence: Int64?, refreshToken: Data?) -> Bool {
        if let own = lease.fence, own == fence { return true }
        return refreshToken == lease.spent
    }

    /// Whether a process may take a chore that `holder` has until a time by the database's clock.
    package static func mayTake(_ process: ServerProcess.ID, from holder: ServerProcess.ID, until: Int64, now: Int64)
        -> Bool
    {
        // A time further ahead was written before the database's clock was set back.
        holder == process || until <= now || until - now > longestHold
    }
}
