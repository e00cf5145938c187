public import Foundation

/// The clocks that a server uses. Tests replace them.
public struct Clocks: Sendable {
    /// The machine's clock. It may be wrong, and it may be set.
    public var wall: @Sendable () -> Date
    /// A monotonic clock, which is not affected by changes of the wall clock. It measures durations within this
    /// process.
    public var steady: @Sendable () -> Date
    /// A replacement in tests for the clock of a clustered database.
    package var place: (@Sendable () -> Date)?

    /// Creates the clocks. By default they are those of this machine.
    public init(wall: @escaping @Sendable () -> Date = { Date() }, steady: @escaping @Sendable () -> Date = Self.even) {
        self.wall = wall
        self.steady = steady
    }

    private static let start = (date: Date(), instant: ContinuousClock.now)

    /// A clock that starts with the wall clock's time at its first use, and then advances evenly.
    public static let even: @Sendable () -> Date = {
        start.date.addingTimeInterval(start.instant.duration(to: .now) / .seconds(1))
    }
}
