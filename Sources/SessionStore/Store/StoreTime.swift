import Synchronization

/// What time it is for sessions, in milliseconds since 1970, and by which time they are deleted.
///
/// The time is the wall clock's, or that of the clock of a place that servers share. Beside it runs a clock that deletes: it
/// goes on evenly, and takes over a jump of the other one when that has lasted as long as a session may stay unused. So a
/// clock that is wrong may call sessions over, which are there again when it is right; it deletes nothing before. Set back
/// behind the even one it changes nothing, and so prolongs nothing. Set back from where nobody knows whether that was ahead
/// (soon after a start the even one may be long behind), it is the time, and what lies ahead of it stays as it was noted.
final class StoreTime: Sendable {
    private struct State {
        /// By how much `now` is ahead of the steady clock, and since when.
        var offset: Int64
        var since: Int64
        /// The one of the start, or the latest that has lasted: a jump ahead that goes back to it was none.
        var believed: Int64
        /// The highest one: by it something may be noted that lies ahead.
        var highest: Int64
    }

    /// So far a clock may drift from one look to the next, in milliseconds.
    private static let tolerance: Int64 = 1000

    private static func isNear(_ one: Int64, _ other: Int64) -> Bool { (one &- other).magnitude <= tolerance }

    private let clocks: Clocks
    private let patience: Int64
    private let isClustered: Bool
    /// Each is ahead of the steady clock by so much.
    private let place: Atomic<Int64>
    private let even: Atomic<Int64>
    private let state: Mutex<State>

    /// - Parameters:
    ///   - opening: ``StoreBackend/openingTime``.
    ///   - idle: how long a session may stay unused, in milliseconds.
    init(_ clocks: Clocks, opening: Int64?, isClustered: Bool, idle: Int64) {
        self.clocks = clocks
        self.isClustered = isClustered
        patience = idle
        let steady = clocks.steady().milliseconds
        let wall = clocks.wall().milliseconds
        let common = clocks.place?().milliseconds ?? opening ?? wall
        let source = isClustered ? common : wall
        place = Atomic(common &- steady)
        // What the place knows of is past. A server that starts with a wrong clock is not to delete either.
        let known = isClustered ? source : opening ?? source
        even = Atomic(min(source, known) &- steady)
        let highest = max(source, known) &- steady
        state = Mutex(State(offset: source &- steady, since: steady, believed: highest, highest: highest))
    }

    private func source(_ steady: Int64) -> Int64 {
        guard isClustered else { return clocks.wall().milliseconds }
        return clocks.place?().milliseconds ?? steady &+ place.load(ordering: .relaxed)
    }

    /// The time.
    var now: Int64 {
        let steady = clocks.steady().milliseconds
        return max(source(steady), steady &+ even.load(ordering: .relaxed))
    }

    /// What was over by this time may be deleted.
    var deleting: Int64 {
        let steady = clocks.steady().milliseconds
        return min(source(steady), steady &+ even.load(ordering: .relaxed))
    }

    /// How far the machine's clock is ahead of the place's; nil where it is the only one.
    var wallAhead: Int64? {
        isClustered ? clocks.wall().milliseconds &- source(clocks.steady().milliseconds) : nil
    }

    /// Goes on from what the place's clock said between two moments of the steady one.
    func measured(_ time: Int64, after start: Int64) {
        let end = clocks.steady().milliseconds
        // What took long says little.
        guard end &- start <= Self.tolerance else { return }
        place.store(time &- (start &+ (end &- start) / 2), ordering: .relaxed)
    }

    var steady: Int64 { clocks.steady().milliseconds }

    /// Looks whether the clock has jumped. To be called each second.
    ///
    /// - Returns: the time, when it is believed and something may have been noted that lies ahead of it: a jump ahead was
    ///   taken back, or the clock has been back for as long as a session may stay unused. Before that it may be wrong itself;
    ///   after it, what was noted by the other time is over by that one as well. To be followed by ``broughtBack()``.
    func look() -> Int64? {
        let steady = steady
        let source = source(steady) &- steady
        return state.withLock { state in
            let even = even.load(ordering: .relaxed)
            let offset = max(source, even)
            if !Self.isNear(offset, state.offset) { state.since = steady }
            state.offset = offset
            let hasLasted = steady &- state.since >= patience
            if Self.isNear(source, even) || source > even && hasLasted {
                self.even.store(source, ordering: .relaxed)
            }
            let isBelieved = hasLasted || Self.isNear(offset, state.believed)
            if isBelieved { state.believed = offset }
            if offset < state.highest &- Self.tolerance { return isBelieved ? steady &+ offset : nil }
            state.highest = offset
            return nil
        }
    }

    /// Nothing lies ahead any more of the time of the last look.
    func broughtBack() {
        state.withLock { $0.highest = $0.offset }
    }
}
