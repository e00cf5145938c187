/// Why a form or a query cannot be read.
public enum FormError: Error, Sendable, Hashable {
    /// A `%` without two hexadecimal digits.
    case invalidEscape
    /// A decoded name or value is not UTF-8.
    case invalidUTF8
    /// There are more fields than the limit.
    case tooManyFields
}

/// `application/x-www-form-urlencoded` fields: a form's body or a URL's query, in the order sent.
public struct FormFields: Sendable, Hashable {
    /// One field, decoded.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value; empty when there was no `=`.
        public let value: String

        /// Byte by byte: Unicode's equivalence costs the square of a run of combining marks.
        fileprivate func isNamed(_ wanted: String) -> Bool { name.utf8.elementsEqual(wanted.utf8) }
    }

    /// All fields in the order sent.
    public let fields: [Field]

    /// The fields of a URL's query, without the `?`.
    public init(query: String, maxFields: Int = 100) throws(FormError) {
        try self.init(body: Array(query.utf8), maxFields: maxFields)
    }

    /// The fields of a body.
    public init(body: [UInt8], maxFields: Int = 100) throws(FormError) {
        var fields: [Field] = []
        var start = 0
        while start < body.count {
            let end = body[start...].firstIndex(of: UInt8(ascii: "&")) ?? body.count
            let pair = body[start..<end]
            start = end + 1
            guard !pair.isEmpty else { continue }
            guard fields.count < maxFields else { throw .tooManyFields }
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            fields.append(
                Field(name: try Self.decode(pair[..<equals]), value: try Self.decode(pair[equals...].dropFirst())))
        }
        self.fields = fields
    }

    /// The value of the first field of that name.
    public subscript(name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The values of all fields of that name.
    public func values(for name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Whether a name comes more than once; OAuth parameters must not (RFC 6749 §3.1).
    public var hasRepeatedNames: Bool { Set(fields.map { Array($0.name.utf8) }).count < fields.count }

    /// Whether this name comes more than once.
    public func isRepeated(_ name: String) -> Bool { fields.count { $0.isNamed(name) } > 1 }

    private static func decode(_ bytes: ArraySlice<UInt8>) throws(FormError) -> String {
        do throws(PercentDecoding.Problem) {
            return try PercentDecoding.decode(bytes, plusIsSpace: true)
        } catch {
            switch error {
            case .invalidEscape: throw .invalidEscape
            case .invalidUTF8: throw .invalidUTF8
            }
        }
    }
}
