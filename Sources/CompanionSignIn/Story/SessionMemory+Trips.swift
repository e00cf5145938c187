import Expiring
import Foundation
package import SessionStore

/// Stops a page that goes to the provider and back again and again by itself: at most three trips a minute for one session
/// and application (the platform itself answers such loops with AADSTS50196). Only trips that the page's script begins by
/// itself are counted, and they say so; a trip that a person begins is no loop.
///
/// A person's own act (a sign-out, an answer at the provider's page) or a call that succeeded ends the count.
extension SessionMemory {
    struct Trips: Hashable {
        var session: SessionKey
        var app: String
    }

    static let maxTrips = 3
    static let tripWindow: TimeInterval = 60

    /// Counts one trip, at all servers that share the sessions.
    ///
    /// - Returns: nil when it may go ahead, else the seconds until the next may.
    package func countTrip(of session: SessionKey, app: String) async throws(StoreError) -> Int? {
        let wait: TimeInterval?
        if let cluster {
            let age = try await cluster.countTrip(
                of: session, app: app, most: Self.maxTrips, within: .seconds(Self.tripWindow))
            wait = age.map { Self.tripWindow - $0 / .seconds(1) }
        } else {
            let now = clocks.steady()
            wait = trips.withLock { $0.add(Trips(session: session, app: app), now: now) }
        }
        return wait.map { max(1, Int($0.rounded(.up))) }
    }
}
