import Synchronization

/// A value that concurrent tasks of a test share.
package final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    package init(_ value: Value) { state = Mutex(value) }
    package var value: Value { state.withLock { $0 } }
    @discardableResult
    package func change(_ body: @Sendable (inout Value) -> Void) -> Value {
        state.withLock { value in
            body(&value)
            return value
        }
    }
}
