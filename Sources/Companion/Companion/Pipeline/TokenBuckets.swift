import Expiring
import Foundation
import Synchronization

/// One token bucket for each key. It allows a burst of requests at once, and a rate per minute in the long run. Full
/// buckets are forgotten.
///
/// Each bucket is stored as the date at which it will be full (the generic cell rate algorithm, ITU-T I.371).
final class TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// The time between two tokens, in seconds.
    private let interval: TimeInterval
    /// The time that an empty bucket takes to fill up, in seconds.
    private let depth: TimeInterval
    private let fullAt: Mutex<ExpiringMap<Key, Date>>

    /// - Parameters:
    ///   - rate: tokens per minute; the result is nil if this is 0.
    ///   - burst: the size of a full bucket; nil stands for the tokens of half a minute.
    ///   - maxKeys: the maximum number of buckets; beyond it the least recently used are removed.
    init?(perMinute rate: Int, burst: Int? = nil, maxKeys: Int = 10_000) {
        guard rate > 0 else { return nil }
        interval = 60 / TimeInterval(rate)
        depth = interval * TimeInterval(max(1, burst ?? (rate + 1) / 2))
        fullAt = Mutex(ExpiringMap(maxCount: maxKeys))
    }

    /// Takes a token.
    ///
    /// - Parameter now: the time on a monotonic clock.
    /// - Returns: nil if a token was available, else the seconds until one is. In that case nothing changes.
    func take(_ key: Key, now: Date) -> Int? {
        fullAt.withLock { fullAt in
            // The tolerance covers rounding errors in sums of fractions.
            let limit = depth + 0.000_001
            let missing = fullAt.value(for: key, now: now)?.timeIntervalSince(now) ?? 0
            let after = missing + interval
            guard after <= limit else { return max(1, Int((after - depth).rounded(.up))) }
            let full = now.addingTimeInterval(after)
            fullAt.set(full, for: key, until: full, now: now)
            return nil
        }
    }
}
