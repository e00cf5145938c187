/// A code for which a page asks.
struct PageCode: Sendable, Codable, Hashable {
    /// The ID of the flow that knows the code and counts the tries.
    var flow = ""
    var kind: NativeFlow.Kind
    var address: String

    /// Whether it is for the same step.
    func isFor(_ other: PageCode) -> Bool { (kind, address) == (other.kind, other.address) }
}
