/// JSON (RFC 8259), read strictly and written compactly.
///
/// A repeated member name refuses the whole text, because two readers of one signed object must not see two different
/// claims (RFC 7515 section 4, RFC 7519 section 4); Foundation's decoder takes one of them silently. A string with more
/// than 30 combining marks in a row refuses the text too.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number that is written without fraction and exponent, and is not too large.
    case integer(Int)
    /// Any other number, which is finite.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Arrays and objects inside one another; the platform's answers use four levels.
    static let maxDepth = 32

    /// Nil for everything that is not exactly one JSON value in UTF-8.
    public init?(parsing bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var parser = JSONParser(bytes: bytes)
        guard let value = parser.document() else { return nil }
        self = value
    }

    /// The member of an object; nil where it has none of this name, or this is no object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The truth value; nil for what is none.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The text; nil for what is no string.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The elements; nil for what is no array.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members; nil for what is no object.
    public var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// A whole number, however it is written (`3.0` is one); nil for what is none.
    public var integer: Int? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// A number with or without a fraction: a NumericDate may have one (RFC 7519 section 2).
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Objects are merged member by member; otherwise `other` wins.
    public func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let mine) = self, case .object(let theirs) = other else { return other }
        return .object(mine.merging(theirs) { $0.merging($1) })
    }
}

// Without a nil literal: in `isGood ? value : nil`, nil would be `null` where an optional is meant.
extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of a name that comes twice, the last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }

    /// A string, or `null` when there is none.
    public init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }
}
