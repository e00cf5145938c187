public import struct Foundation.Date

/// A dictionary whose entries expire and which is bounded in count and in bytes, so that frequent requests cannot make
/// memory grow. It uses the caller's clock; nothing runs in the background.
public struct ExpiringMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What happens to a new key when there is no room.
    public enum WhenFull: Sendable {
        /// Removes the entries that were set longest ago: for entries of equal worth.
        case evictsOldest
        /// Refuses the new entry: where strangers could otherwise push out the entries of others.
        case refusesNewcomers
    }

    private struct Slot: Sendable {
        var key: Key
        var value: Value
        var cost: Int
        var end: Date
        var older: Int
        var newer: Int
    }

    private static var none: Int { -1 }
    /// When there is no room, all entries are searched for expired ones, at most once in this time, in seconds.
    private static var sweepInterval: Double { 1 }

    /// The maximum number of entries.
    public let maxCount: Int
    /// The maximum sum of the entries' costs, in bytes.
    public let maxBytes: Int
    private let whenFull: WhenFull
    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var indices: [Key: Int] = [:]
    private var oldest = Self.none
    private var newest = Self.none
    private var nextSweep = Date.distantPast
    /// The sum of the entries' costs, in bytes, including expired entries that have not been noticed yet.
    public private(set) var bytes = 0

    /// Creates an empty map.
    public init(maxCount: Int, maxBytes: Int = .max, whenFull: WhenFull = .evictsOldest) {
        self.maxCount = max(1, maxCount)
        self.maxBytes = maxBytes
        self.whenFull = whenFull
    }

    /// The number of entries, including expired ones that have not been noticed yet.
    public var count: Int { indices.count }

    /// Returns the value of a key; nil when there is none or it has expired.
    public func value(for key: Key, now: Date) -> Value? {
        guard let index = indices[key], let slot = slots[index], slot.end > now else { return nil }
        return slot.value
    }

    /// Sets a key's value, which makes it the newest entry.
    ///
    /// - Parameters:
    ///   - cost: an estimate of the memory that it takes, in bytes.
    ///   - end: when it is forgotten.
    /// - Returns: false when the value was refused because the map is full, or because it is too large by itself.
    @discardableResult
    public mutating func set(_ value: Value, for key: Key, cost: Int = 0, until end: Date, now: Date) -> Bool {
        guard max(0, cost) <= maxBytes else { return false }
        let isChange = indices[key].flatMap { slots[$0] }.map { $0.end > now } ?? false
        // The old cost of a changed entry does not count.
        remove(key)
        return set(value, for: key, cost: cost, until: end, now: now, isChange: isChange)
    }

    /// Sets the value of a key that has none now.
    private mutating func set(_ value: Value, for key: Key, cost: Int, until end: Date, now: Date, isChange: Bool)
        -> Bool
    {
        let cost = max(0, cost)
        guard cost <= maxBytes, makeRoom(for: cost, now: now, mayEvict: whenFull == .evictsOldest || isChange) else {
            return false
        }
        insert(Slot(key: key, value: value, cost: cost, end: end, older: newest, newer: Self.none))
        return true
    }

    /// Changes a key's value in place, or sets its first value. Both make it the newest entry.
    ///
    /// - Parameters:
    ///   - initial: the value of a key that has none, or whose value has expired.
    ///   - end: when it is forgotten.
    ///   - change: changes the value and returns an estimate of the memory that it then takes, in bytes.
    /// - Returns: false when there was no room; then the key has no value.
    @discardableResult
    public mutating func update(
        _ key: Key, initially initial: @autoclosure () -> Value, until end: Date, now: Date,
        _ change: (inout Value) -> Int
    ) -> Bool {
        let isNew = value(for: key, now: now) == nil
        // Taken out of its slot first, so that it is uniquely referenced while it changes.
        var value = remove(key).flatMap { isNew ? nil : $0 } ?? initial()
        let cost = change(&value)
        return set(value, for: key, cost: cost, until: end, now: now, isChange: !isNew)
    }

    /// Removes a key.
    ///
    /// - Returns: its value, even if it has expired; nil when there was none.
    @discardableResult
    public mutating func remove(_ key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        return remove(at: index)
    }

    /// Removes expired entries, and those that match a predicate.
    public mutating func removeAll(now: Date, where isGone: (Key, Value) -> Bool = { _, _ in false }) {
        var index = oldest
        while index != Self.none, let slot = slots[index] {
            if slot.end <= now || isGone(slot.key, slot.value) { remove(at: index) }
            index = slot.newer
        }
    }

    private func hasRoom(for cost: Int) -> Bool { count < maxCount && bytes <= maxBytes - cost }

    private mutating func makeRoom(for cost: Int, now: Date, mayEvict: Bool) -> Bool {
        // Even where there is room: what has expired would take memory until the map is full.
        while oldest != Self.none, let slot = slots[oldest], slot.end <= now { remove(at: oldest) }
        // A clock that was set back must not keep the map full.
        if !hasRoom(for: cost), now >= nextSweep || nextSweep.timeIntervalSince(now) > Self.sweepInterval {
            nextSweep = now.addingTimeInterval(Self.sweepInterval)
            removeAll(now: now)
        }
        while mayEvict, !hasRoom(for: cost), oldest != Self.none { remove(at: oldest) }
        return hasRoom(for: cost)
    }

    private mutating func insert(_ slot: Slot) {
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(slot) } else { slots[index] = slot }
        if newest != Self.none { slots[newest]?.newer = index } else { oldest = index }
        newest = index
        indices[slot.key] = index
        bytes += slot.cost
    }

    @discardableResult
    private mutating func remove(at index: Int) -> Value? {
        guard let slot = slots[index] else { return nil }
        if slot.older == Self.none { oldest = slot.newer } else { slots[slot.older]?.newer = slot.newer }
        if slot.newer == Self.none { newest = slot.older } else { slots[slot.newer]?.older = slot.older }
        indices[slot.key] = nil
        slots[index] = nil
        free.append(index)
        bytes -= slot.cost
        return slot.value
    }
}
