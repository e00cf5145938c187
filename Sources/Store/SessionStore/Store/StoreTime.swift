import Synchronization

/// The time by which sessions expire, in milliseconds since 1970, and the time by which they are deleted.
///
/// The time is that of the wall clock, or of a clustered database. A second, even clock decides about deletion. It
/// advances evenly, and follows a jump of the first clock only after the jump has lasted as long as a session may stay
/// unused. A wrong clock may therefore make sessions expire, which come back when the clock is right, but it deletes
/// nothing before that. If the first clock is set back behind the even one, the even one applies, so nothing is
/// prolonged. Soon after a start, the even clock may be far behind; if the first clock is then set back, it is not
/// known whether it had been ahead. In that case it is the time, and times that were recorded ahead of it stay as they
/// are.
final class StoreTime: Sendable {
    private struct State {
        /// The difference between the source and the steady clock, and the time since when it has been so.
        var offset: Int64
        var since: Int64
        /// The difference at the start, or the latest one that has lasted. After a jump ahead that goes back to it, the
        /// jump is ignored.
        var believed: Int64
        /// The highest difference: times ahead of now may have been recorded by it.
        var highest: Int64
    }

    /// The drift that is allowed between two checks, in milliseconds.
    private static let tolerance: Int64 = 1000

    private static func isNear(_ one: Int64, _ other: Int64) -> Bool { (one &- other).magnitude <= tolerance }

    private let clocks: Clocks
    private let patience: Int64
    private let isClustered: Bool
    /// The differences of the database's and the even clock to the steady clock.
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
        // Times in the database are past. A server that starts with a wrong clock must not delete either.
        let known = isClustered ? source : opening ?? source
        even = Atomic(min(source, known) &- steady)
        let highest = max(source, known) &- steady
        state = Mutex(State(offset: source &- steady, since: steady, believed: highest, highest: highest))
    }

    private func source(_ steady: Int64) -> Int64 {
        guard isClustered else { return clocks.wall().milliseconds }
        return clocks.place?().milliseconds ?? steady &+ place.load(ordering: .relaxed)
    }

    /// The current time.
    var now: Int64 {
        let steady = clocks.steady().milliseconds
        return max(source(steady), steady &+ even.load(ordering: .relaxed))
    }

    /// The time by which deletion decides: what had expired by this time may be deleted.
    var deleting: Int64 {
        let steady = clocks.steady().milliseconds
        return min(source(steady), steady &+ even.load(ordering: .relaxed))
    }

    /// The milliseconds by which the machine's clock is ahead of the database's; nil if the database is not clustered.
    var wallAhead: Int64? {
        isClustered ? clocks.wall().milliseconds &- source(clocks.steady().milliseconds) : nil
    }

    /// Uses a time that the database's clock reported between `start` and now.
    func measured(_ time: Int64, after start: Int64) {
        let end = clocks.steady().milliseconds
        // A slow measurement is not exact.
        guard end &- start <= Self.tolerance else { return }
        place.store(time &- (start &+ (end &- start) / 2), ordering: .relaxed)
    }

    var steady: Int64 { clocks.steady().milliseconds }

    /// Checks whether the clock has jumped. Call it every second.
    ///
    /// - Returns: the time, when it is trusted and times ahead of it may have been recorded. Either a jump ahead was
    ///   taken back, or the clock has been back for as long as a session may stay unused. Before that the clock itself
    ///   may be wrong; after that, sessions recorded by the other time have expired by that time too. Call
    ///   ``broughtBack()`` next.
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

    /// Records that no stored time lies ahead of the last check any more.
    func broughtBack() {
        state.withLock { $0.highest = $0.offset }
    }
}
