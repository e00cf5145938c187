public import Foundation

/// The clocks that a server goes by. Tests have their own.
public struct Clocks: Sendable {
    /// The machine's clock. It may be wrong, and somebody may set it.
    public var wall: @Sendable () -> Date
    /// It goes on evenly whatever becomes of the wall clock: for what lasts from one moment of this process to another.
    public var steady: @Sendable () -> Date
    /// Tests have it in place of the clock of a database that servers share.
    package var place: (@Sendable () -> Date)?

    /// Every clock, those of this machine unless said otherwise.
    public init(wall: @escaping @Sendable () -> Date = { Date() }, steady: @escaping @Sendable () -> Date = Self.even) {
        self.wall = wall
        self.steady = steady
    }

    private static let start = (date: Date(), instant: ContinuousClock.now)

    /// The time at which this was first asked for, and what has passed since.
    public static let even: @Sendable () -> Date = {
        start.date.addingTimeInterval(start.instant.duration(to: .now) / .seconds(1))
    }
}
