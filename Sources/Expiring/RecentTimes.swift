public import Foundation

/// Lets something happen so many times within a sliding window, for each key. It uses the caller's clock, which has to be one
/// that nobody sets.
public struct RecentTimes<Key: Hashable & Sendable>: Sendable {
    /// How often it may happen within the window.
    public let most: Int
    /// In seconds.
    public let window: TimeInterval
    private var times: ExpiringMap<Key, [Date]>

    /// Nothing has happened yet.
    ///
    /// - Parameter maxKeys: keys that are kept; more push out those for which it happened longest ago.
    public init(most: Int, within window: TimeInterval, maxKeys: Int) {
        self.most = most
        self.window = window
        times = ExpiringMap(maxCount: maxKeys)
    }

    /// Counts once more, unless it happened as often as it may.
    ///
    /// - Returns: nil when it was counted, else the seconds until there is room.
    public mutating func add(_ key: Key, now: Date) -> TimeInterval? {
        let recent = (times.value(for: key, now: now) ?? []).filter { now.timeIntervalSince($0) < window }
        if recent.count >= most, let oldest = recent.first { return window - now.timeIntervalSince(oldest) }
        times.set(recent + [now], for: key, until: now.addingTimeInterval(window), now: now)
        return nil
    }

    /// Forgets what happened for a key.
    public mutating func forget(_ key: Key) { times.remove(key) }
}
