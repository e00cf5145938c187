public import struct Foundation.Date

/// A dictionary whose entries expire and which is bounded in count and in bytes, so that frequent requests cannot make
/// memory grow. It uses the caller's clock; nothing runs in the background.
public struct ExpiringMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The treatment of a new key when the map is full.
    public enum WhenFull: Sendable {
        /// Removes the entries that were set longest ago. This suits entries of equal value.
        case evictsOldest
        /// Refuses the new entry. This suits maps where unknown clients could otherwise evict the entries of others.
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
    /// The minimum time between two searches of all entries for expired ones, in seconds. They happen when the map is
    /// full.
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

    /// Returns the value of a key; nil if there is none or it has expired.
    public func value(for key: Key, now: Date) -> Value? {
        guard let index = indices[key], let slot = slots[index], slot.end > now else { return nil }
        return slot.value
    }

    /// Sets a key's value, which makes it the newest entry.
    ///
    /// - Parameters:
    ///   - cost: the estimated memory use of the entry, in bytes.
    ///   - end: the time at which the entry expires.
    /// - Returns: false if the value was refused because the map is full, or because the value alone is too large.
    @discardableResult
    public mutating func set(_ value: Value, for key: Key, cost: Int = 0, until end: Date, now: Date) -> Bool {
        guard max(0, cost) <= maxBytes else { return false }
        let isChange = indices[key].flatMap { slots[$0] }.map { $0.end > now } ?? false
        // The previous cost of a changed entry does not count.
        remove(key)
        return set(value, for: key, cost: cost, until: end, now: now, isChange: isChange)
    }

    /// Sets the value of a key that currently has none.
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
    ///   - initial: the value to start from if the key has none, or if its value has expired.
    ///   - end: the time at which the entry expires.
    ///   - change: changes the value and returns the estimated memory use afterwards, in bytes.
    /// - Returns: false if there was no room; the key then has no value.
    @discardableResult
    public mutating func update(
        _ key: Key, initially initial: @autoclosure () -> Value, until end: Date, now: Date,
        _ change: (inout Value) -> Int
    ) -> Bool {
        let isNew = value(for: key, now: now) == nil
        // The value is taken out of its slot first, so that it is uniquely referenced while it changes.
        var value = remove(key).flatMap { isNew ? nil : $0 } ?? initial()
        let cost = change(&value)
        return set(value, for: key, cost: cost, until: end, now: now, isChange: !isNew)
    }

    /// Removes a key.
    ///
    /// - Returns: the value, even if it has expired; nil if there was none.
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
        // Expired entries are removed even if there is room, because they would take memory until the map is full.
        while oldest != Self.none, let slot = slots[oldest], slot.end <= now { remove(at: oldest) }
        // The second condition ensures that a clock that was set back does not keep the map full.
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
