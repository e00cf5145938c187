import Foundation
import Synchronization

/// Compresses assets one after the other, on a thread that gives way to everything else and that ends when nothing is left to
/// do. They are served as they are until then.
package final class AssetCompression: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isAtWork = false
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Nothing is to be compressed yet.
    package init() {}

    /// Compresses what a server has from its start.
    package func start(_ pages: Pages) {
        // It holds nothing of the server but these, so that a server that has stopped ends where it was made.
        add { [self] in pages.compress { state.withLock { !$0.isStopped } } }
    }

    /// Compresses something after what was added before.
    package func add(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            guard !state.isStopped else { return false }
            state.waiting.append(work)
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        guard needsThread else { return }
        Thread.detachNewThread { [self] in
            // Refused by a service manager's sandbox, it only costs the precedence.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
            while let work = next() { work() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.isAtWork = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }

    /// Leaves the rest as it is.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waiting = []
        }
    }
}
