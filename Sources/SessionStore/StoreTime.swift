import Synchronization

/// What time it is for sessions, in milliseconds since 1970, and by which time they are deleted.
///
/// The time is the wall clock's, or that of the clock of a place that servers share. Beside it runs a clock that deletes: it
/// goes on evenly, and takes over a jump of the other one when that has lasted as long as a session may stay unused. So a
/// clock that is wrong may call sessions over, which are there again when it is right; it deletes nothing before. Set back
/// behind the even one it changes nothing, and so prolongs nothing.
final class StoreTime: Sendable {
    private struct State {
        /// By how much the source is ahead of the even clock, and since when.
        var jump: (offset: Int64, since: Int64)?
        /// By how much `now` was ahead of the steady clock.
        var last: Int64
    }

    /// So far a clock may drift from one look to the next, in milliseconds.
    private static let tolerance: Int64 = 1000

    private let clocks: Clocks
    private let patience: Int64
    private let isShared: Bool
    /// Each is ahead of the steady clock by so much.
    private let place: Atomic<Int64>
    private let even: Atomic<Int64>
    private let state: Locked<State>

    /// - Parameters:
    ///   - opening: ``StoreBackend/openingTime``.
    ///   - idle: how long a session may stay unused, in milliseconds.
    init(_ clocks: Clocks, opening: Int64?, isShared: Bool, idle: Int64) {
        self.clocks = clocks
        self.isShared = isShared
        patience = idle
        let steady = clocks.steady().milliseconds
        let wall = clocks.wall().milliseconds
        let shared = clocks.place?().milliseconds ?? opening ?? wall
        let source = isShared ? shared : wall
        place = Atomic(shared &- steady)
        // What the place knows of is past. A server that starts with a wrong clock is not to delete either.
        even = Atomic(min(source, isShared ? source : opening ?? source) &- steady)
        state = Locked(State(last: source &- steady))
    }

    private func source(_ steady: Int64) -> Int64 {
        guard isShared else { return clocks.wall().milliseconds }
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
        isShared ? clocks.wall().milliseconds &- source(clocks.steady().milliseconds) : nil
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
    /// - Returns: whether `now` has gone back, because a jump was taken back: what was noted meanwhile lies ahead.
    func look() -> Bool {
        let steady = steady
        let offset = source(steady) &- steady
        return state.withLock { state in
            let ahead = offset &- even.load(ordering: .relaxed)
            if ahead <= Self.tolerance {
                state.jump = nil
                if ahead >= -Self.tolerance { even.store(offset, ordering: .relaxed) }
            } else if let jump = state.jump, abs(jump.offset &- offset) <= Self.tolerance {
                state.jump?.offset = offset
                if steady &- jump.since >= patience { even.store(offset, ordering: .relaxed) }
            } else {
                state.jump = (offset, steady)
            }
            let next = max(offset, even.load(ordering: .relaxed))
            defer { state.last = next }
            return next < state.last &- Self.tolerance
        }
    }
}
