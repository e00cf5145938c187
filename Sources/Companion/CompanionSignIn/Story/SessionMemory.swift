package import CompanionCore
import Expiring
package import Foundation
package import SessionStore
import Synchronization

/// Records about sessions beside the store: their sign-ins and last steps, kept for an hour after the last entry.
/// ``AttemptHistory`` and ``Timeline`` write them. They are in memory and, if several servers use one database, also in
/// the store, where each server reads the entries of all.
///
/// The memory for all records is limited. Sessions without a sign-in share a small part of it: since anyone can start a
/// sign-in, they only evict each other.
package final class SessionMemory: Sendable {
    /// The records of one session.
    package struct Notes: Sendable {
        /// The memory for an empty entry in bytes: the map's entry, its key, and the two collections.
        fileprivate static let ownBytes = 400
        private static let maxAttempts = 20
        private static let maxAttemptBytes = 32 << 10
        private static let maxEvents = 50
        private static let maxSpent = 5

        /// The attempts, oldest first.
        package private(set) var attempts: [AttemptRecord] = []
        /// The steps by application, oldest first.
        package private(set) var events: [String: [TimelineEvent]] = [:]
        /// The values of the last redeemed sign-ins by application, oldest first; only in the demo.
        private var spent: [String: [SpentValues]] = [:]
        private var attemptBytes = 0
        private var eventBytes = 0
        private var spentBytes = 0

        fileprivate var bytes: Int { Self.ownBytes + attemptBytes + eventBytes + spentBytes }

        /// Changes the attempts. Beyond the limit the oldest are removed.
        private mutating func changeAttempts(_ change: (inout [AttemptRecord]) -> Void) {
            change(&attempts)
            attemptBytes = attempts.reduce(0) { $0 + $1.bytes }
            while attempts.count > Self.maxAttempts || attemptBytes > Self.maxAttemptBytes {
                attemptBytes -= attempts.removeFirst().bytes
            }
        }

        /// Applies an entry about an application.
        mutating func apply(_ entry: SessionEntry, of app: String) {
            switch entry {
            case .step(let event): add(event, of: app)
            case .began(let record): changeAttempts { $0.append(record) }
            case .ended(let end):
                changeAttempts { records in
                    guard let index = records.firstIndex(where: { $0.id == end.id }) else { return }
                    records[index].ended = end.at
                    records[index].grantedScopes = end.grantedScopes
                    records[index].declinedScopes = end.declinedScopes
                    records[index].accountID = end.accountID
                    records[index].problem = end.problem
                }
            case .acted: break
            }
        }

        /// Returns the problem of the last attempt with an application; nil if it did not fail.
        package func lastFailure(app: String) -> Problem? {
            attempts.last { $0.app == app && $0.ended != nil }?.problem
        }

        /// Adds a sign-in's values. Beyond the limit the application's oldest are removed.
        mutating func add(_ values: SpentValues, of app: String) {
            spent[app] = (spent[app] ?? []).suffix(Self.maxSpent - 1) + [values]
            spentBytes = spent.values.joined().reduce(0) { $0 + $1.bytes }
        }

        /// Returns the values of the sign-in that an event with an application belongs to, if they may be shown.
        package func spent(of event: TimelineEvent, app: String) -> SpentValues? {
            event.attempt.flatMap { number in spent[app]?.last { $0.attempt == number } }
        }

        /// Adds an event. Beyond the limit the application's oldest event is removed.
        private mutating func add(_ event: TimelineEvent, of app: String) {
            events[app, default: []].append(event)
            eventBytes += event.bytes
            if let count = events[app]?.count, count > Self.maxEvents, let oldest = events[app]?.removeFirst() {
                eventBytes -= oldest.bytes
            }
        }
    }

    private struct State {
        var signedIn = ExpiringMap<SessionKey, Notes>(maxCount: 10_000, maxBytes: 10 << 20)
        var strangers = ExpiringMap<SessionKey, Notes>(maxCount: 5_000, maxBytes: 2 << 20)
    }

    private static let lifetime: TimeInterval = 3600
    private let state = Mutex(State())
    /// The trips within a minute, used by a single server. Sessions beyond the limit only reset the oldest counts.
    let trips = Mutex(RecentTimes<Trips>(most: maxTrips, within: tripWindow, maxKeys: 4_000))
    package let clocks: Clocks
    /// The wall clock.
    package var now: @Sendable () -> Date { clocks.wall }
    /// The store, if several servers share its database.
    package let cluster: SessionStore?

    package init(clocks: Clocks, store: SessionStore? = nil) {
        self.clocks = clocks
        cluster = store.flatMap { $0.isClustered ? $0 : nil }
    }

    /// Records an event of a session.
    package func note(_ entry: SessionEntry, of session: SessionKey, app: String, isSignedIn: Bool) {
        if entry.kind == .progress { trips.withLock { $0.forget(Trips(session: session, app: app)) } }
        change(session, isSignedIn: isSignedIn) { $0.apply(entry, of: app) }
        cluster?.note(entry.note(of: app), of: session)
    }

    /// Waits until other servers can see everything recorded so far.
    package func settle() async { await cluster?.settleNotes() }

    /// Returns the records of a session from all servers; nil if there are none. While the store is unavailable, these
    /// are the records of this server.
    package func all(of session: SessionKey) async throws(StoreError) -> Notes? {
        guard let cluster else { return notes(of: session) }
        do throws(StoreError) {
            var notes = Notes()
            let stored = try await cluster.notes(of: session)
            let entries = stored.compactMap { note in SessionEntry(note).map { (entry: $0, app: note.app) } }
            // Clocks of two machines may differ, so beginnings are applied first: no sign-in ends before it began.
            for (entry, app) in entries.filter(\.entry.isBeginning) { notes.apply(entry, of: app) }
            for (entry, app) in entries where !entry.isBeginning { notes.apply(entry, of: app) }
            return entries.isEmpty ? nil : notes
        } catch {
            guard error.isUnavailable else { throw error }
            return notes(of: session)
        }
    }

    /// Changes the records of a session.
    ///
    /// - Parameter isSignedIn: whether this shows that an account is signed in; this stays true for the session.
    package func change(_ session: SessionKey, isSignedIn: Bool, _ change: (inout Notes) -> Void) {
        let now = clocks.steady()
        let end = now.addingTimeInterval(Self.lifetime)
        func update(_ map: inout ExpiringMap<SessionKey, Notes>, initially notes: Notes) {
            map.update(session, initially: notes, until: end, now: now) { notes in
                change(&notes)
                return notes.bytes
            }
        }
        state.withLock { state in
            if isSignedIn || state.signedIn.value(for: session, now: now) != nil {
                let before = state.strangers.value(for: session, now: now)
                state.strangers.remove(session)
                update(&state.signedIn, initially: before ?? Notes())
            } else {
                update(&state.strangers, initially: Notes())
            }
        }
    }

    /// Returns this server's records of a session; nil if there are none.
    package func notes(of session: SessionKey) -> Notes? {
        let now = clocks.steady()
        return state.withLock {
            $0.signedIn.value(for: session, now: now) ?? $0.strangers.value(for: session, now: now)
        }
    }

    /// Removes the records of a session that is signed out, since on a shared device another person is next.
    package func forget(_ session: SessionKey) async {
        state.withLock { state in
            state.signedIn.remove(session)
            state.strangers.remove(session)
        }
        await cluster?.forgetNotes(of: session)
    }

    /// The memory use, in bytes.
    package var bytes: (signedIn: Int, strangers: Int) { state.withLock { ($0.signedIn.bytes, $0.strangers.bytes) } }
}

extension String {
    /// The heap memory of a string in bytes: none up to 15 bytes of text, then an allocation.
    var heapBytes: Int { utf8.count <= 15 ? 0 : 48 + utf8.count }
}
