import EventLoop
import Synchronization

/// Thins out the lines of faults: the first of each cause is written at once, and from then on the newest of each second,
/// with the number of the others. When a second brings no other, the cause is forgotten.
///
/// Otherwise an outage at 1,000 requests a second would log 340 KB a second. What is not written of the others is which
/// requests they were: their correlation IDs, traces, durations and sizes. All else is their cause.
final class FaultLines<Cause: Hashable & Sendable, Fault: Sendable>: Sendable {
    /// Which seconds are counted, so that a test can say when one is over.
    typealias Timer = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// More causes than these within a second are written without being counted: the memory stays bounded.
    static var maxCauses: Int { 256 }

    private struct Second {
        var newest: Fault?
        var others = 0
    }

    private let seconds = Mutex<[Cause: Second]>([:])
    private let afterASecond: Timer
    private let write: @Sendable (Fault, _ others: Int) -> Void

    /// - Parameters:
    ///   - afterASecond: calls its argument a second later; by default on the worker that calls it.
    ///   - write: writes a line, with the number of faults of this cause since the line before.
    init(
        afterASecond: @escaping Timer = { then in _ = Worker.current?.addTimer(after: .seconds(1), then) },
        write: @escaping @Sendable (Fault, _ others: Int) -> Void
    ) {
        self.afterASecond = afterASecond
        self.write = write
    }

    /// Takes one fault.
    func note(_ fault: Fault, of cause: Cause) {
        let (isWritten, isCounted) = seconds.withLock { seconds in
            if let second = seconds[cause] {
                seconds[cause] = Second(newest: fault, others: second.newest == nil ? 0 : second.others + 1)
                return (false, true)
            }
            guard seconds.count < Self.maxCauses else { return (true, false) }
            seconds[cause] = Second()
            return (true, true)
        }
        guard isWritten else { return }
        write(fault, 0)
        if isCounted { waitForTheEnd(of: cause) }
    }

    private func waitForTheEnd(of cause: Cause) {
        afterASecond { [weak self] in
            guard let self else { return }
            let second = seconds.withLock { seconds in
                let second = seconds[cause]
                seconds[cause] = second?.newest == nil ? nil : Second()
                return second
            }
            guard let newest = second?.newest else { return }
            write(newest, second?.others ?? 0)
            waitForTheEnd(of: cause)
        }
    }

    /// Writes what no timer will write any more, when the server has stopped.
    func end() {
        let left = seconds.withLock { seconds in
            defer { seconds = [:] }
            return seconds.values
        }
        for second in left { if let newest = second.newest { write(newest, second.others) } }
    }
}
