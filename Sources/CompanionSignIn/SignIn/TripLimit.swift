import Expiring
import Foundation
import SessionStore
import Synchronization

/// Stops a page that goes to the provider and back again and again by itself: at most three trips a minute for one session
/// and application (the platform itself answers such loops with AADSTS50196). Only what the page's script begins by itself
/// is counted, and says so; what a person presses is no loop.
///
/// A person's own act (a sign-out, an answer at the provider's page) or a call that succeeded ends the count.
package final class TripLimit: Sendable {
    private struct Key: Hashable {
        var session: SessionKey
        var app: String
    }

    static let maxTrips = 3
    package static let window: TimeInterval = 60
    /// Within a minute. What more there are push out only counts.
    private static let maxSessions = 4_000
    private let trips = Mutex(
        RecentTimes<Key>(most: maxTrips, within: TripLimit.window, maxKeys: TripLimit.maxSessions))
    private let now: @Sendable () -> Date

    /// - Parameter now: a clock that nobody sets.
    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Counts one trip.
    ///
    /// - Returns: nil when it may go ahead, else the seconds until the next may.
    package func begin(session: SessionKey, app: String) -> Int? {
        let now = now()
        return trips.withLock { $0.add(Key(session: session, app: app), now: now) }.map(TripLimit.seconds)
    }

    /// Counts one trip at all servers that share the sessions; where one is alone, here.
    ///
    /// - Returns: nil when it may go ahead, else the seconds until the next may.
    package func begin(session: SessionKey, app: String, atAllOf store: SessionStore?) async throws(StoreError) -> Int?
    {
        guard let store else { return begin(session: session, app: app) }
        let age = try await store.countTrip(
            of: session, app: app, most: TripLimit.maxTrips, within: .seconds(TripLimit.window))
        return age.map { TripLimit.seconds(TripLimit.window - $0 / .seconds(1)) }
    }

    private static func seconds(_ wait: TimeInterval) -> Int { max(1, Int(wait.rounded(.up))) }

    /// Forgets a session's trips.
    func reset(session: SessionKey, app: String) {
        trips.withLock { $0.forget(Key(session: session, app: app)) }
    }
}
