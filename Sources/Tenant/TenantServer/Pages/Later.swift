import Synchronization

/// A value that is known later than whoever needs it is made.
final class Later<Value: Sendable>: Sendable {
    private let known = Mutex<Value?>(nil)

    var value: Value? {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }
}
