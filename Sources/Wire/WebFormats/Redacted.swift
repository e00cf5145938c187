/// A type that contains secrets. Printing, interpolating, dumping or reflecting a value shows only its type's name, so
/// that secrets never reach a log line or a test failure.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The type's name, marked as redacted.
    public var description: String { "\(Self.self)(redacted)" }
    /// The type's name, marked as redacted.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
