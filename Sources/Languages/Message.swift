package import WebFormats

/// A sentence of the server's for the person at the page, written in English. Its translations are found by the English
/// text with `%@` for each value, as in a string catalogue.
///
/// It is made of a literal (`StaticString` keeps computed text out), so that the tests find every sentence in the sources and
/// can ask for its translations. They count the places of ``init(verbatim:)``.
package struct Message: Sendable, Equatable, ExpressibleByStringInterpolation {
    package let format: String
    package let arguments: [String]

    package init(stringLiteral value: StaticString) { self.init(format: value.description, arguments: []) }

    package init(stringInterpolation: Interpolation) {
        self.init(format: stringInterpolation.format, arguments: stringInterpolation.arguments)
    }

    /// A sentence from below, which has its values in it already and no translation.
    package init(verbatim text: String) { self.init(format: text, arguments: []) }

    private init(format: String, arguments: [String]) {
        self.format = format
        self.arguments = arguments
    }

    /// The sentence as it is written, for logs and for readers of English.
    package var english: String { filled(in: format) }

    /// A format of the same values with them in it.
    package func filled(in format: String) -> String { Message.filled(format, with: arguments) }

    /// A text with values in the places of `%@`.
    package static func filled(_ format: String, with values: [String]) -> String {
        guard !values.isEmpty else { return format }
        var rest = values[...]
        return format.split(separator: "%@", omittingEmptySubsequences: false).reduce(into: "") { text, part in
            text += part
            text += rest.popFirst() ?? ""
        }
    }

    package static func + (left: Message, right: Message) -> Message {
        Message(format: left.format + right.format, arguments: left.arguments + right.arguments)
    }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var format = ""
        fileprivate var arguments: [String] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            format.reserveCapacity(literalCapacity)
        }

        package mutating func appendLiteral(_ literal: StaticString) { format += literal.description }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            format += "%@"
            arguments.append(value.description)
        }
    }
}

extension Message: Encodable {
    /// For programs, as for readers of English.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(english)
    }
}

// MARK: The stored form

extension Message {
    /// The members with which servers that share the sessions hand a sentence on, for each reader's language.
    package var stored: [String: JSONValue?] {
        ["detail": .string(format), "values": .array(arguments.map(JSONValue.string))]
    }

    /// Reads what another server has ``stored``.
    package static func restored(from members: [String: JSONValue]) -> Message? {
        members["detail"]?.string.map {
            Message(format: $0, arguments: members["values"]?.array?.compactMap(\.string) ?? [])
        }
    }
}
