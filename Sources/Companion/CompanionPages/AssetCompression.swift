import Foundation
import Synchronization

/// Compresses assets one by one on a low-priority thread, which ends when no work is left. Assets are served
/// uncompressed until then.
package final class AssetCompression: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isAtWork = false
        var isStopped = false
    }

    private let state = Mutex(State())

    /// Creates the queue without starting any work.
    package init() {}

    /// Compresses the assets that the pages load.
    package func start(_ pages: Pages) {
        // The closure keeps only the pages and this object alive, so that a stopped server can be released.
        add { [self] in pages.compress { state.withLock { !$0.isStopped } } }
    }

    /// Compresses another asset after the earlier ones.
    package func add(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            guard !state.isStopped else { return false }
            state.waiting.append(work)
            defer { state.isAtWork = true }
            return !state.isAtWork
        }
        guard needsThread else { return }
        Thread.detachNewThread { [self] in
            // If a service manager's sandbox refuses this, only the low priority is lost.
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

    /// Stops compressing. The remaining assets stay uncompressed.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waiting = []
        }
    }
}
