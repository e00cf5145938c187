/// JSON (RFC 8259), parsed strictly and written compactly.
///
/// A repeated member name makes the whole text invalid, because two readers of one signed object must not see different
/// claims (RFC 7515 section 4, RFC 7519 section 4); Foundation's decoder silently picks one. A string with more than 30
/// combining marks in a row is invalid too.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number written without a fraction and exponent that fits in an `Int`.
    case integer(Int)
    /// Any other finite number.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The maximum nesting of arrays and objects. The platform's responses use four levels.
    static let maxDepth = 32

    /// Parses exactly one JSON value in UTF-8; returns nil for anything else.
    public init?(parsing bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var parser = JSONParser(bytes: bytes)
        guard let value = parser.document() else { return nil }
        self = value
    }

    /// The member of an object; nil if it has no such member, or is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The Boolean; nil for any other value.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The text; nil for anything but a string.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The elements; nil for anything but an array.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members; nil for anything but an object.
    public var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The whole number in any notation (`3.0` counts); nil for any other value.
    public var integer: Int? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, with or without a fraction: a NumericDate may have one (RFC 7519 section 2).
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Merges objects member by member. Otherwise `other` wins.
    public func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let mine) = self, case .object(let theirs) = other else { return other }
        return .object(mine.merging(theirs) { $0.merging($1) })
    }
}

// There is no nil literal: in `isGood ? value : nil`, nil would become `null` although an optional is meant.
extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. If a name occurs twice, the last value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }

    /// Creates a string, or `null` for nil.
    public init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
}
