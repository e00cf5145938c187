import Foundation

/// State behind a lock. Not `Synchronization.Mutex`: on Linux that is a futex inside the uninstrumented standard
/// library, and Thread Sanitizer reports each of its critical sections as a race (seen with four threads that append to
/// one array under a `Mutex`), which would bury a real one. `NSLock` is a pthread mutex, which it knows.
///
/// Safe to share unchecked: the value is touched only inside `withLock`.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
