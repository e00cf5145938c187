import Synchronization

/// Counts the operations that are under way in a place where sessions live, so that it is closed when the last has ended.
package final class OperationGate: Sendable {
    private struct State {
        /// Operations that have begun and not ended.
        var running = 0
        var isOpen = true
        var whenIdle: CheckedContinuation<Void, Never>?
    }

    /// More waiting than the place can take in seconds: better a quick 503 than a queue without end.
    private static let maxRunning = 20_000

    private let name: String
    private let state = Mutex(State())

    /// - Parameter name: what messages call the place.
    package init(_ name: String) { self.name = name }

    /// Whether it takes operations.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Begins an operation.
    ///
    /// - Throws: `unavailable` when it is closed, or too many wait.
    package func enter() throws(StoreError) {
        let refusal: StoreError? = state.withLock { state in
            guard state.isOpen else { return .unavailable("\(name) is closed") }
            guard state.running < Self.maxRunning else { return .unavailable("\(name): too many operations wait") }
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

    /// Takes no more operations, and waits for those that are under way.
    ///
    /// - Returns: false when it was closed before.
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
