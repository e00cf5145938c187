import Synchronization

/// One item of work for a worker.
enum WorkItem: Sendable {
    case closure(@Sendable () -> Void)
    case job(UnownedJob)
}

/// The work that other threads have submitted to a worker. Only the thread that makes it non-empty must wake the
/// worker.
final class Inbox: Sendable {
    enum Acceptance {
        /// The worker must be woken.
        case wasEmpty
        /// Another thread has woken it, or is about to.
        case wasWaiting
        /// The worker has been shut down; the item was not taken.
        case closed
    }

    private struct State {
        var items: [WorkItem] = []
        var closed = false
        var wakeups: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of additions that required a wake-up since the beginning.
    var wakeups: UInt64 { state.withLock { $0.wakeups } }

    func add(_ item: WorkItem) -> Acceptance {
        state.withLock { state in
            if state.closed { return .closed }
            state.items.append(item)
            guard state.items.count == 1 else { return .wasWaiting }
            state.wakeups &+= 1
            return .wasEmpty
        }
    }

    /// Exchanges the waiting items for the empty array `items`, so that the two arrays' storage is used in turn.
    func take(into items: inout [WorkItem]) {
        state.withLock { swap(&$0.items, &items) }
    }

    /// Closes the inbox and returns the waiting items.
    func close() -> [WorkItem] {
        state.withLock { state in
            state.closed = true
            defer { state.items = [] }
            return state.items
        }
    }
}
