public import Foundation

/// A sliding-window limit for each key. It uses the caller's clock, which must be monotonic.
public struct RecentTimes<Key: Hashable & Sendable>: Sendable {
    /// The maximum number of events within the window.
    public let most: Int
    /// The length of the window, in seconds.
    public let window: TimeInterval
    private var times: ExpiringMap<Key, [Date]>

    /// Creates a limit without any events.
    ///
    /// - Parameter maxKeys: the maximum number of keys; beyond it, the keys with the oldest last events are removed.
    public init(most: Int, within window: TimeInterval, maxKeys: Int) {
        self.most = most
        self.window = window
        times = ExpiringMap(maxCount: maxKeys)
    }

    /// Counts one more event unless the limit is reached.
    ///
    /// - Returns: nil if the event was counted, else the seconds until one is allowed.
    public mutating func add(_ key: Key, now: Date) -> TimeInterval? {
        // A clock that was set back leaves times of the future.
        let recent = (times.value(for: key, now: now) ?? []).filter { abs(now.timeIntervalSince($0)) < window }
        if recent.count >= most, let oldest = recent.first { return window - now.timeIntervalSince(oldest) }
        times.set(recent + [now], for: key, until: now.addingTimeInterval(window), now: now)
        return nil
    }

    /// Removes a key's events.
    public mutating func forget(_ key: Key) { times.remove(key) }
}
