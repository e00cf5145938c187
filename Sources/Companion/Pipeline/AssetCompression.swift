import CLinux
import Foundation
import Synchronization

/// Compresses the assets on a thread of its own, which gives way to everything else. They are served as they are until
/// then.
final class AssetCompression: Sendable {
    private let isStopped = Atomic(false)

    func start(_ pages: Pages) {
        // The thread holds nothing of the server but these, so that a server that has stopped ends where it was made.
        Thread.detachNewThread { [self] in
            // Refused by a service manager's sandbox, it only costs the precedence.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
            pages.compress { !isStopped.load(ordering: .relaxed) }
            // The start is over. Half of the code that it used is never used again.
            clinux_release_code()
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}
