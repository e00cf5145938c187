import SessionStore
import Synchronization

/// A turn to refresh that is extended until its end, however long the provider takes.
final class HeldTurn: Sendable {
    private let turn: Mutex<RefreshTurn>
    private let prolonging: Mutex<Task<Void, Never>?>

    init(_ turn: RefreshTurn, in store: SessionStore, every pause: Duration) {
        self.turn = Mutex(turn)
        prolonging = Mutex(nil)
        guard store.isClustered else { return }
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: pause)) != nil {
                guard let self else { return }
                do throws(StoreError) {
                    guard let next = try await store.prolong(now) else { return }
                    self.turn.withLock { $0 = next }
                } catch {
                    // The store is unavailable, for other servers too. The next attempt may succeed.
                    guard error.isUnavailable else { return }
                }
            }
        }
        prolonging.withLock { $0 = task }
    }

    private var now: RefreshTurn { turn.withLock { $0 } }

    /// Stops extending the turn.
    ///
    /// - Returns: the turn. Its last lease ends when the result is stored, when the turn is given back, or when it
    ///   expires.
    func end() async -> RefreshTurn {
        let task = prolonging.withLock { $0 }
        task?.cancel()
        await task?.value
        return now
    }
}
