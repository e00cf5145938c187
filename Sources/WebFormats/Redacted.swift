/// A value that holds secrets: printing, interpolating, dumping or reflecting it shows its type's name only, so that no log
/// line and no test failure has them.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The type's name.
    public var description: String { "\(Self.self)(redacted)" }
    /// The type's name.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
