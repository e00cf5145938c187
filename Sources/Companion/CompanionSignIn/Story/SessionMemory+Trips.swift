import Expiring
import Foundation
package import SessionStore

/// Stops a page that goes to the provider and back in a loop. The limit is three trips per minute for one session and
/// application; the platform itself answers such loops with AADSTS50196. Only trips that the page's script starts
/// automatically are counted, and the script marks them as such.
///
/// A person's own action (a sign-out, or a response at the provider's page) or a successful call ends the count.
extension SessionMemory {
    struct Trips: Hashable {
        var session: SessionKey
        var app: String
    }

    static let maxTrips = 3
    static let tripWindow: TimeInterval = 60

    /// Counts one trip, across all servers with the same database.
    ///
    /// - Returns: nil if the trip may start, else the seconds until the next one may.
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
