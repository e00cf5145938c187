/// The reason why a form or a query cannot be parsed.
public enum FormError: Error, Sendable, Hashable {
    /// A `%` is not followed by two hexadecimal digits.
    case invalidEscape
    /// A decoded name or value is not UTF-8.
    case invalidUTF8
    /// There are more fields than the limit.
    case tooManyFields
}

/// The fields of `application/x-www-form-urlencoded`, from a form's body or a URL's query, in the order sent.
public struct FormFields: Sendable, Hashable {
    /// One field, decoded.
    public struct Field: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value; empty if there is no `=`.
        public let value: String

        /// Compares bytes, because Unicode's canonical equivalence takes quadratic time for long runs of combining
        /// marks.
        fileprivate func isNamed(_ wanted: String) -> Bool { name.utf8.elementsEqual(wanted.utf8) }
    }

    /// All fields in the order sent.
    public let fields: [Field]

    /// Makes fields of names and values that are decoded already.
    public init(_ pairs: [(name: String, value: String)]) {
        fields = pairs.map { Field(name: $0.name, value: $0.value) }
    }

    /// Parses a URL's query, without the `?`.
    public init(query: String, maxFields: Int = 100) throws(FormError) {
        try self.init(body: Array(query.utf8), maxFields: maxFields)
    }

    /// Parses a form's body.
    ///
    /// - Parameter isRepaired: whether bytes that are not UTF-8 become U+FFFD instead of an error.
    public init(body: [UInt8], maxFields: Int = 100, isRepaired: Bool = false) throws(FormError) {
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
                Field(
                    name: try Self.decode(pair[..<equals], isRepaired),
                    value: try Self.decode(pair[equals...].dropFirst(), isRepaired)))
        }
        self.fields = fields
    }

    /// The value of the first field with this name.
    public subscript(name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// Returns the values of all fields with this name.
    public func values(for name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Whether any name occurs more than once, which OAuth forbids for parameters (RFC 6749 §3.1).
    public var hasRepeatedNames: Bool { Set(fields.map { Array($0.name.utf8) }).count < fields.count }

    /// Whether this name occurs more than once.
    public func isRepeated(_ name: String) -> Bool { fields.count { $0.isNamed(name) } > 1 }

    private static func decode(_ bytes: ArraySlice<UInt8>, _ isRepaired: Bool) throws(FormError) -> String {
        if isRepaired {
            guard let bytes = PercentDecoding.bytes(bytes, plusIsSpace: true) else { throw .invalidEscape }
            return String(decoding: bytes, as: UTF8.self)
        }
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
