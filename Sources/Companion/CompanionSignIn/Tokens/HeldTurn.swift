import SessionStore
import Synchronization

/// A turn to refresh that is extended until its end, however long the provider takes.
final class HeldTurn: Sendable {
    private let turn: Mutex<RefreshTurn>
    private let prolonging = Mutex<Task<Void, Never>?>(nil)
    private let store: SessionStore
    private let pause: Duration

    init(_ turn: RefreshTurn, in store: SessionStore, every pause: Duration) {
        self.turn = Mutex(turn)
        self.store = store
        self.pause = pause
        prolong()
    }

    private func prolong() {
        guard store.isClustered else { return }
        let task = Task { [weak self, store, pause] in
            while (try? await Task.sleep(for: pause)) != nil {
                guard let self else { return }
                do throws(StoreError) {
                    guard let next = try await store.prolong(now) else { return }
                    turn.withLock { $0 = next }
                } catch {
                    // The store is unavailable, for other servers too. The next attempt may succeed.
                    guard error.isUnavailable else { return }
                }
            }
        }
        prolonging.withLock { $0 = task }
    }

    /// The turn as it was extended last.
    var now: RefreshTurn { turn.withLock { $0 } }

    /// Stores the next refresh token of a response that is not checked yet. The turn continues with it.
    ///
    /// - Returns: whether it is stored. It is not if a sign-in or another server has brought newer tokens.
    func keep(_ refreshToken: String) async throws(StoreError) -> Bool {
        let ended = await end()
        defer { prolong() }
        guard let kept = try await store.keep(refreshToken, in: ended) else { return false }
        turn.withLock { $0 = kept }
        return true
    }

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
