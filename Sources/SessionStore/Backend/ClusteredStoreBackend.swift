package import Foundation

/// A place where the sessions of several servers live at once.
///
/// What they have to agree on beside ``StoreBackend``: which of them redeems a refresh token, which does a chore, what has
/// changed, and who they are. A place that one server has for itself needs none of this, and costs none of it.
///
/// All times are measured by the place's own clock. A verb takes and returns only how long something lasts, so that the
/// clocks of the machines may differ. Every verb is one transaction.
package protocol ClusteredStoreBackend: StoreBackend, PostedAnswerKeeper {
    /// The sessions' versions. Whatever changes a session that somebody may have read gives it another one: an account,
    /// tokens, an id, who is current, a lease given back. That it was used does not, and neither does taking a lease.
    ///
    /// - Parameter limit: how long the caller waits, who can go on without an answer; nil for as long as it takes. After one
    ///   wait in vain, none of those who set it waits at all, until the place has answered something.
    /// - Returns: the version of each that there is.
    func versions(of sessions: [SessionKey], within limit: Duration?) async throws(StoreError) -> [SessionKey: Int64]

    /// Does what ``SignInRules/lease(_:refreshToken:seen:by:now:)`` says: where it may be taken, the account's fence rises
    /// by one, and the lease is the process's until it is given back, or its time is over.
    ///
    /// - Parameters:
    ///   - seen: the sealed refresh token that the caller wants to redeem, as it was read.
    ///   - duration: how long the lease lasts.
    /// - Throws: `noSuchSession` when the account is not signed in.
    func takeRefreshLease(
        of account: AccountKey, seen: Data, by process: ServerProcess.ID, for duration: Duration
    ) async throws(StoreError) -> RefreshLeaseAnswer
    /// Ends a lease, unless somebody else has taken it since or its account is gone. The session gets another version, so
    /// that those who wait look again.
    ///
    /// - Parameter pause: how long nobody may take the next one.
    func giveBack(_ lease: RefreshLease, pause: Duration) async throws(StoreError)

    /// Takes a chore, or extends it for the process that has it.
    ///
    /// - Returns: false when another process has it now.
    func take(_ chore: Chore, by process: ServerProcess.ID, for duration: Duration) async throws(StoreError) -> Bool

    /// Notes that a process works here, and with which keys, and forgets those that ended a day ago.
    ///
    /// - Parameter duration: how long it counts as living from now on; zero when it ends.
    func report(_ process: ServerProcess, for duration: Duration) async throws(StoreError)
    /// - Returns: what a server has to know of the place from time to time.
    func standing() async throws(StoreError) -> PlaceStanding
    /// - Returns: the processes that live, in the order of their ids.
    func livingProcesses() async throws(StoreError) -> [ServerProcess]

    /// - Returns: the connections to the place; nil where it needs none.
    func connections() async -> StoreConnections?
    /// Whether the first connection to the place was encrypted; nil where it needs none.
    var isEncrypted: Bool? { get }

    // MARK: What servers remember for each other

    /// Adds notes, also of sessions that are no more. Now and then the oldest ones of a session go
    /// (``SignInRules/maxNotes``, ``SessionNoteRow/makesRoom``); purging attempts deletes those that are too old.
    func add(_ notes: [SessionNoteRow]) async throws(StoreError)
    /// - Parameter since: the least id.
    /// - Returns: a session's notes in the order of their ids.
    func notes(of session: SessionKey, since: Int64) async throws(StoreError) -> [SessionNoteRow]
    /// Deletes a session's notes.
    func forgetNotes(of session: SessionKey) async throws(StoreError)
    /// Adds a trip, unless ``SignInRules/oldestTrip(among:most:)`` says that there are as many as there may be.
    ///
    /// - Parameter since: what is older, by its id, does not count.
    /// - Returns: nil when it was added, else the id of the oldest trip.
    func addTrip(_ trip: SessionNoteRow, unlessThereAre most: Int, since: Int64) async throws(StoreError) -> Int64?
}

extension ClusteredStoreBackend {
    /// The same for a caller who needs the answer.
    package func versions(of sessions: [SessionKey]) async throws(StoreError) -> [SessionKey: Int64] {
        try await versions(of: sessions, within: nil)
    }
}

/// What one process does for all that share a place.
package enum Chore: String, Sendable, CaseIterable {
    /// Deleting what is over.
    case purge
    /// Sealing anew what an older key sealed.
    case resealing
}

/// A server that works on the same place as others.
package struct ServerProcess: Sendable, Equatable {
    /// Names one run of a server. It is never used again.
    package typealias ID = String

    package var id: ID
    /// The machine's name.
    package var host: String
    /// The program's version.
    package var version: String
    /// The keys that it can open, in no order.
    package var keys: Set<KeyRing.KeyID>
    /// How far its machine's clock is ahead of the place's, in milliseconds; nil where an older version does not say.
    package var clockAhead: Int64?

    package init(id: ID, host: String, version: String, keys: Set<KeyRing.KeyID>, clockAhead: Int64?) {
        self.id = id
        self.host = host
        self.version = version
        self.keys = keys
        self.clockAhead = clockAhead
    }
}

/// What a place says of itself to the servers that share it.
package struct PlaceStanding: Sendable {
    /// By its own clock, in milliseconds since 1970.
    package var time: Int64
    /// The keys that have sealed something, as far as they were not retired.
    package var sealingKeys: Set<KeyRing.KeyID>
    /// Why this version may not work with it any more; nil while it may.
    package var refusal: StoreError?

    package init(time: Int64, sealingKeys: Set<KeyRing.KeyID>, refusal: StoreError? = nil) {
        self.time = time
        self.sealingKeys = sealingKeys
        self.refusal = refusal
    }
}

/// The right to redeem an account's refresh token, which one process has at a time.
package struct RefreshLease: Sendable, Equatable {
    package var account: AccountKey
    /// The number of the lease among those of the account; nil where the place is not clustered and knows no leases.
    package var fence: Int64?
    /// The sealed refresh token that it costs.
    package var spent: Data

    package init(account: AccountKey, fence: Int64?, spent: Data) {
        self.account = account
        self.fence = fence
        self.spent = spent
    }
}

/// What came of asking for a lease.
package enum RefreshLeaseAnswer: Sendable, Equatable {
    /// It is the caller's.
    case taken(RefreshLease)
    /// Another process has it.
    ///
    /// - Parameters:
    ///   - by: which one.
    ///   - remaining: for how long, unless it gives it back before.
    ///   - version: the session's, as it was when this was decided: another one says that the lease was given back.
    case held(by: ServerProcess.ID, remaining: Duration, version: Int64)
    /// A refresh failed a moment ago, and the next one has to wait for so long.
    case tooEarly(Duration)
    /// Another refresh token is stored by now, or none: read again.
    case changed
}

/// How it stands with the leases of an account. Nothing in it is ever null: an account begins with `RefreshState()`.
package struct RefreshState: Sendable, Equatable {
    /// The number of the latest lease.
    package var fence: Int64 = 0
    /// Who took it.
    package var holder: ServerProcess.ID = ""
    /// When it ends, in milliseconds since 1970 by the place's clock.
    package var until: Int64 = 0
    /// When the next one may be taken, by the same clock.
    package var retryAt: Int64 = 0

    package init(fence: Int64 = 0, holder: ServerProcess.ID = "", until: Int64 = 0, retryAt: Int64 = 0) {
        self.fence = fence
        self.holder = holder
        self.until = until
        self.retryAt = retryAt
    }

    /// With the next lease taken.
    package func taken(by process: ServerProcess.ID, for duration: Duration, now: Int64) -> RefreshState {
        RefreshState(fence: fence + 1, holder: process, until: now + duration.milliseconds, retryAt: 0)
    }

    /// With the lease given back.
    package func givenBack(pause: Duration, now: Int64) -> RefreshState {
        RefreshState(fence: fence, holder: "", until: 0, retryAt: now + max(0, pause.milliseconds))
    }

    /// After new tokens were stored by a refresh or a sign-in: no lease taken before may write any more, but over the
    /// refresh token that it was taken for.
    package var renewed: RefreshState { RefreshState(fence: fence + 1) }
}

extension SignInRules {
    /// What ``lease(_:refreshToken:seen:by:now:)`` says. Times are in milliseconds.
    package enum LeaseDecision: Sendable, Equatable {
        case take, held(remaining: Int64), tooEarly(Int64), changed
    }

    /// Whether a process may redeem an account's refresh token now.
    ///
    /// A process may take its own lease again: within it, one refresh runs at a time, so what it forgot to give back (the
    /// place was away then) is its own.
    ///
    /// - Parameters:
    ///   - refreshToken: the sealed refresh token that is stored.
    ///   - seen: the one that the caller has read.
    ///   - now: by the place's clock.
    package static func lease(
        _ state: RefreshState, refreshToken: Data?, seen: Data, by process: ServerProcess.ID, now: Int64
    ) -> LeaseDecision {
        guard refreshToken == seen else { return .changed }
        if state.until > now, state.holder != process { return .held(remaining: state.until - now) }
        return state.retryAt > now ? .tooEarly(state.retryAt - now) : .take
    }

    /// Whether what a refresh brought may be stored: while its lease is the latest, else only over the very refresh token
    /// that it cost, which no other refresh and no sign-in has replaced then.
    package static func mayStore(under lease: RefreshLease, fence: Int64?, refreshToken: Data?) -> Bool {
        if let own = lease.fence, own == fence { return true }
        return refreshToken == lease.spent
    }

    /// Whether a process may do a chore that `holder` has until a time by the place's clock.
    package static func mayTake(_ process: ServerProcess.ID, from holder: ServerProcess.ID, until: Int64, now: Int64)
        -> Bool
    {
        holder == process || until <= now
    }
}
