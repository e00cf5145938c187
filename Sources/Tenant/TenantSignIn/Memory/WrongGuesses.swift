import Expiring
import Foundation
import HTTPServer

/// The wrong passwords and tokens of the last minute, by network. A right one is never refused because of them: other
/// people may use the same network.
struct WrongGuesses: Sendable {
    /// The number of wrong ones after which a network's next ones are refused.
    static let most = 30

    private var times = RecentTimes<PeerAddress.Network>(most: most, within: 60, maxKeys: 1000)

    /// Counts a wrong one.
    ///
    /// - Returns: the seconds to wait if there were too many, otherwise nil.
    mutating func add(_ network: PeerAddress.Network, now: Date) -> Int? {
        times.add(network, now: now).map { max(1, Int($0.rounded(.up))) }
    }
}
