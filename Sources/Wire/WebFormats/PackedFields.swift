/// A sequence of texts and numbers without names or types, for readers that know the order. It is for data in which
/// each byte counts, such as a cookie.
///
/// A text is stored as its length and its UTF-8; nil has a length of its own. Numbers are LEB128 (as in DWARF 5 section
/// 7.6), signed ones with ZigZag encoding.
public struct PackedFields: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty sequence.
    public init() {}

    /// Writes a number.
    public mutating func append(_ number: Int64) { append(unsigned: UInt64(bitPattern: number << 1 ^ number >> 63)) }

    /// Writes bytes or nil.
    public mutating func append(_ field: [UInt8]?) {
        append(unsigned: UInt64(field.map { $0.count + 1 } ?? 0))
        bytes += field ?? []
    }

    /// Writes a text or nil.
    public mutating func append(_ text: String?) { append(text.map { Array($0.utf8) }) }

    private mutating func append(unsigned number: UInt64) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// Reads the fields of ``PackedFields`` in order.
public struct PackedReader: Sendable {
    /// The error for bytes that are not valid packed fields.
    public struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>

    /// - Parameter bytes: the bytes from ``PackedFields/bytes``.
    public init(_ bytes: some Sequence<UInt8>) { rest = ArraySlice(bytes) }

    /// - Throws: ``Malformed`` if no valid number follows.
    public mutating func number() throws(Malformed) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// - Returns: the bytes; nil if nil was written.
    /// - Throws: ``Malformed`` if no valid bytes follow.
    public mutating func bytes() throws(Malformed) -> [UInt8]? {
        let count = try unsigned()
        guard count > 0 else { return nil }
        guard count - 1 <= UInt64(rest.count) else { throw Malformed() }
        let field = Array(rest.prefix(Int(count - 1)))
        rest = rest.dropFirst(field.count)
        return field
    }

    /// - Returns: the text; nil if nil was written.
    /// - Throws: ``Malformed`` if no valid UTF-8 follows.
    public mutating func optionalText() throws(Malformed) -> String? {
        guard let field = try bytes() else { return nil }
        guard let text = String(validating: field, as: UTF8.self) else { throw Malformed() }
        return text
    }

    /// - Throws: ``Malformed``, also if nil was written.
    public mutating func text() throws(Malformed) -> String {
        guard let text = try optionalText() else { throw Malformed() }
        return text
    }

    private mutating func unsigned() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard let byte = rest.popFirst() else { throw Malformed() }
            // A number has at most 64 bits and no unnecessary bytes.
            guard shift < 63 || byte <= 1, shift == 0 || byte != 0 else { throw Malformed() }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Malformed()
    }
}
