package import CompanionCore
import Expiring
package import Foundation
package import SessionStore
import Synchronization

/// What is kept about sessions beside the store's cache: their sign-ins and their last steps, until an hour after the last of
/// them. ``AttemptHistory`` and ``Timeline`` write it. It is in memory, and where several servers share the sessions also in
/// the store, from which each of them reads what all know.
///
/// Both together have one bound in bytes. Sessions in which nobody has signed in have a small part of it for themselves:
/// anyone can begin a sign-in, and then only pushes out others who did no more than that.
package final class SessionMemory: Sendable {
    /// One session's part.
    package struct Notes: Sendable {
        /// A place in the map, in bytes: the entry, its key, and the two collections' own.
        fileprivate static let ownBytes = 400
        private static let maxAttempts = 20
        private static let maxAttemptBytes = 32 << 10
        private static let maxEvents = 50

        /// The oldest first.
        package private(set) var attempts: [AttemptRecord] = []
        /// By application, the oldest first.
        package private(set) var events: [String: [TimelineEvent]] = [:]
        private var attemptBytes = 0
        private var eventBytes = 0

        fileprivate var bytes: Int { Self.ownBytes + attemptBytes + eventBytes }

        /// Changes the attempts; the oldest make room.
        private mutating func changeAttempts(_ change: (inout [AttemptRecord]) -> Void) {
            change(&attempts)
            attemptBytes = attempts.reduce(0) { $0 + $1.bytes }
            while attempts.count > Self.maxAttempts || attemptBytes > Self.maxAttemptBytes {
                attemptBytes -= attempts.removeFirst().bytes
            }
        }

        /// Takes in what happened with an application.
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

        /// Why the last attempt with an application failed; nil when it did not.
        package func lastFailure(app: String) -> Problem? {
            attempts.last { $0.app == app && $0.ended != nil }?.problem
        }

        /// Adds an event; the application's oldest one makes room.
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
    /// The trips within a minute, where this server is alone. A session more pushes out only counts.
    let trips = Mutex(RecentTimes<Trips>(most: maxTrips, within: tripWindow, maxKeys: 4_000))
    package let clocks: Clocks
    /// The wall clock.
    package var now: @Sendable () -> Date { clocks.wall }
    /// Where several servers share the sessions, their store.
    package let cluster: SessionStore?

    package init(clocks: Clocks, store: SessionStore? = nil) {
        self.clocks = clocks
        cluster = store.flatMap { $0.isClustered ? $0 : nil }
    }

    /// Notes what happened in a session.
    package func note(_ entry: SessionEntry, of session: SessionKey, app: String, isSignedIn: Bool) {
        if entry.kind == .progress { trips.withLock { $0.forget(Trips(session: session, app: app)) } }
        change(session, isSignedIn: isSignedIn) { $0.apply(entry, of: app) }
        cluster?.note(entry.note(of: app), of: session)
    }

    /// Returns when other servers can see all that was noted until now.
    package func settle() async { await cluster?.settleNotes() }

    /// What all servers know of a session; nil when that is nothing. While the store cannot be asked, what this one knows.
    package func all(of session: SessionKey) async throws(StoreError) -> Notes? {
        guard let cluster else { return notes(of: session) }
        do throws(StoreError) {
            var notes = Notes()
            let stored = try await cluster.notes(of: session)
            let entries = stored.compactMap { note in SessionEntry(note).map { (entry: $0, app: note.app) } }
            // The clocks of two machines may differ: no sign-in ends before it began.
            for (entry, app) in entries.filter(\.entry.isBeginning) { notes.apply(entry, of: app) }
            for (entry, app) in entries where !entry.isBeginning { notes.apply(entry, of: app) }
            return entries.isEmpty ? nil : notes
        } catch {
            guard error.isUnavailable else { throw error }
            return notes(of: session)
        }
    }

    /// Changes a session's part.
    ///
    /// - Parameter isSignedIn: whether this shows that somebody has signed in; it stays true for the session.
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

    /// A session's part; nil when nothing is known.
    package func notes(of session: SessionKey) -> Notes? {
        let now = clocks.steady()
        return state.withLock {
            $0.signedIn.value(for: session, now: now) ?? $0.strangers.value(for: session, now: now)
        }
    }

    /// Forgets a session: it is signed out, and at a shared device the next person is another.
    package func forget(_ session: SessionKey) async {
        state.withLock { state in
            state.signedIn.remove(session)
            state.strangers.remove(session)
        }
        await cluster?.forgetNotes(of: session)
    }

    /// What it takes, in bytes.
    package var bytes: (signedIn: Int, strangers: Int) { state.withLock { ($0.signedIn.bytes, $0.strangers.bytes) } }
}

extension String {
    /// The bytes that a string takes beside its value: none up to 15, then an allocation.
    var heapBytes: Int { utf8.count <= 15 ? 0 : 48 + utf8.count }
}
