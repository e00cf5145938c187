package import WebFormats

/// A sentence of the server for the person at the page, written in English. Translations are found by the English text
/// with `%@` in place of each value, as in a string catalogue.
///
/// It is created from a literal (`StaticString` rules out computed text), so that the tests can find every sentence in
/// the sources and require its translations. They also count the uses of ``init(verbatim:)``.
package struct Message: Sendable, Equatable, ExpressibleByStringInterpolation {
    package let format: String
    package let arguments: [String]

    package init(stringLiteral value: StaticString) { self.init(format: value.description, arguments: []) }

    package init(stringInterpolation: Interpolation) {
        self.init(format: stringInterpolation.format, arguments: stringInterpolation.arguments)
    }

    /// Creates a sentence from a lower layer. It contains its values already, and has no translation.
    package init(verbatim text: String) { self.init(format: text, arguments: []) }

    private init(format: String, arguments: [String]) {
        self.format = format
        self.arguments = arguments
    }

    /// The English sentence, for logs and for readers of English.
    package var english: String { filled(in: format) }

    /// Fills another format with this sentence's values.
    package func filled(in format: String) -> String { Message.filled(format, with: arguments) }

    /// Replaces each `%@` with a value.
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
    /// Encodes the English sentence.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(english)
    }
}

// MARK: Stored form

extension Message {
    /// The stored form, from which another server with the same database can show the sentence in each reader's
    /// language.
    package var stored: [String: JSONValue?] {
        ["detail": .string(format), "values": .array(arguments.map(JSONValue.string))]
    }

    /// Restores a sentence from its ``stored`` form.
    package static func restored(from members: [String: JSONValue]) -> Message? {
        members["detail"]?.string.map {
            Message(format: $0, arguments: members["values"]?.array?.compactMap(\.string) ?? [])
        }
    }
}
