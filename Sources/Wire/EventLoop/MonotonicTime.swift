import Foundation

/// A moment of the kernel's monotonic clock: nanoseconds since boot, unaffected by changes of the wall clock.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot.
    public let nanoseconds: UInt64

    /// Creates the moment `nanoseconds` after boot.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Reads the clock, which takes about 25 ns. On a worker, `Worker.now` costs nothing.
    public static func read() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// Returns the moment `duration` later; saturates at both ends.
    public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let nanoseconds = duration.wholeNanoseconds
        let (sum, overflow) =
            nanoseconds < 0
            ? time.nanoseconds.subtractingReportingOverflow(nanoseconds.magnitude)
            : time.nanoseconds.addingReportingOverflow(nanoseconds.magnitude)
        guard overflow else { return MonotonicTime(nanoseconds: sum) }
        return MonotonicTime(nanoseconds: nanoseconds < 0 ? 0 : .max)
    }

    /// Returns the time from `start` to `end`; negative if `end` is earlier.
    public static func - (end: MonotonicTime, start: MonotonicTime) -> Duration {
        end >= start
            ? .nanoseconds(Int64(clamping: end.nanoseconds - start.nanoseconds))
            : .nanoseconds(-Int64(clamping: start.nanoseconds - end.nanoseconds))
    }

    /// Orders by time.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero; saturates at the limits of 64 bits (292 years).
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowAgain) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowAgain ? (seconds < 0 ? .min : .max) : sum
    }
}
