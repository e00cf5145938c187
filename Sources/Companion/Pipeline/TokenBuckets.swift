import Expiring
import Foundation
import Synchronization

/// One token bucket for each key: so many requests at once, and so many a minute in the long run. A bucket that has filled up
/// again is forgotten.
///
/// Kept is the time at which the bucket will be full (the generic cell rate algorithm: ITU-T I.371), one date for each key.
final class TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// Seconds until the next token comes.
    private let interval: TimeInterval
    /// Seconds that an empty bucket takes to fill up.
    private let depth: TimeInterval
    private let fullAt: Mutex<ExpiringMap<Key, Date>>

    /// - Parameters:
    ///   - rate: tokens that come a minute; nil is returned where there is no limit.
    ///   - burst: tokens that a full bucket has; nil is half a minute's.
    ///   - maxKeys: buckets that are kept; more push out those that were used longest ago.
    init?(perMinute rate: Int, burst: Int? = nil, maxKeys: Int = 10_000) {
        guard rate > 0 else { return nil }
        interval = 60 / TimeInterval(rate)
        depth = interval * TimeInterval(max(1, burst ?? (rate + 1) / 2))
        fullAt = Mutex(ExpiringMap(maxCount: maxKeys))
    }

    /// Takes a token.
    ///
    /// - Parameter now: by a clock that nobody sets.
    /// - Returns: nil when there was one, else the seconds until there is; then nothing has changed.
    func take(_ key: Key, now: Date) -> Int? {
        fullAt.withLock { fullAt in
            // A sum of fractions is not exact.
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
