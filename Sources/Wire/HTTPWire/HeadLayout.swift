/// A range of bytes in a head. 16 bits are enough: see `WireLimits.headWindow`.
struct Slice16: Sendable, Hashable {
    var start: UInt16 = 0
    var end: UInt16 = 0

    init() {}

    init(_ range: Range<Int>) {
        start = UInt16(truncatingIfNeeded: range.lowerBound)
        end = UInt16(truncatingIfNeeded: range.upperBound)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
    var count: Int { Int(end) - Int(start) }
    var isEmpty: Bool { start == end }
}

/// The positions of a field's name and trimmed value.
struct FieldSlices: Sendable, Hashable {
    var name: Slice16
    var value: Slice16
}

/// The information that the parser has collected about a head, beside the table of its fields.
struct HeadLayout: Sendable, Hashable {
    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt16
        static let http11 = Flags(rawValue: 1 << 0)
        static let hasQuery = Flags(rawValue: 1 << 1)
        static let absoluteForm = Flags(rawValue: 1 << 2)
        static let hasHost = Flags(rawValue: 1 << 3)
        static let hasContentLength = Flags(rawValue: 1 << 4)
        static let chunked = Flags(rawValue: 1 << 5)
        static let connectionClose = Flags(rawValue: 1 << 6)
        static let connectionKeepAlive = Flags(rawValue: 1 << 7)
        static let expectsContinue = Flags(rawValue: 1 << 8)
    }

    var flags: Flags = []
    var method = Slice16()
    var target = Slice16()
    /// The path; empty if an absolute-form target has none.
    var path = Slice16()
    var query = Slice16()
    /// The host and port of the request: the target's authority, otherwise the Host field.
    var host = Slice16()
    var contentLength = 0
}
