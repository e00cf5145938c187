import Foundation

/// The one owner of a file descriptor, which is closed when the owner goes.
public struct Descriptor: ~Copyable, Sendable {
    /// The number by which the kernel knows it; valid only while the owner lives.
    public let rawValue: Int32

    /// Takes over `rawValue`, the answer of the system call `operation`; -1 is that call's failure.
    public init(_ rawValue: Int32, from operation: String) throws(EventLoopError) {
        guard rawValue >= 0 else { throw .system(operation: operation, code: errno) }
        self.rawValue = rawValue
    }

    /// Gives the ownership up: the caller closes it.
    public consuming func release() -> Int32 {
        let raw = rawValue
        discard self
        return raw
    }

    deinit { _ = close(rawValue) }
}
