import Synchronization

/// Counts the operations in progress on a database, so that closing waits until the last one has ended.
package final class OperationGate: Sendable {
    private struct State {
        /// The number of operations that have begun and not ended.
        var running = 0
        var isOpen = true
        var whenIdle: CheckedContinuation<Void, Never>?
    }

    /// More than the database can do in seconds: a quick 503 is better than an endless queue.
    private static let maxRunning = 20_000

    private let name: String
    private let state = Mutex(State())

    /// - Parameter name: the database's name in messages.
    package init(_ name: String) { self.name = name }

    /// Whether operations are accepted.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Begins an operation.
    ///
    /// - Throws: `unavailable` when the gate is closed, or too many operations are waiting.
    package func enter() throws(StoreError) {
        let refusal: StoreError? = state.withLock { state in
            guard state.isOpen else { return .unavailable("\(name) is closed") }
            guard state.running < Self.maxRunning else {
                return .unavailable("\(name): too many operations are waiting")
            }
            state.running += 1
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Ends an operation.
    package func leave() {
        let waiter = state.withLock { state in
            state.running -= 1
            guard state.running == 0, let waiter = state.whenIdle else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.whenIdle = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Refuses new operations and waits for those in progress.
    ///
    /// - Returns: false when the gate was closed before.
    package func close() async -> Bool {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        guard wasOpen else { return false }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.running > 0 { state.whenIdle = continuation }
                return state.running == 0
            }
            if isIdle { continuation.resume() }
        }
        return true
    }
}
