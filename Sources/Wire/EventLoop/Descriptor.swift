import Foundation

/// The sole owner of a file descriptor, which is closed when the owner is destroyed.
public struct Descriptor: ~Copyable, Sendable {
    /// The descriptor's number; valid only while the owner lives.
    public let rawValue: Int32

    /// Takes ownership of `rawValue`, the result of the system call `operation`; -1 means that the call failed.
    public init(_ rawValue: Int32, from operation: String) throws(EventLoopError) {
        guard rawValue >= 0 else { throw .system(operation: operation, code: errno) }
        self.rawValue = rawValue
    }

    /// Gives up the ownership: the caller must close it.
    public consuming func release() -> Int32 {
        let raw = rawValue
        discard self
        return raw
    }

    deinit { _ = close(rawValue) }
}
