/// A sentence of the server's for the person at the page, written in English. Its translations are found by the English
/// text with `%@` for each value, as in a string catalogue.
package struct Message: Sendable, Equatable, ExpressibleByStringInterpolation {
    package let format: String
    package let arguments: [String]

    package init(stringLiteral value: String) {
        format = value
        arguments = []
    }

    package init(stringInterpolation: Interpolation) {
        format = stringInterpolation.format
        arguments = stringInterpolation.arguments
    }

    /// A sentence from below, which has its values in it already.
    package init(verbatim text: String) {
        format = text
        arguments = []
    }

    /// The sentence as it is written, for logs and for readers of English.
    package var english: String { filled(in: format) }

    /// A format of the same values with them in it.
    package func filled(in format: String) -> String {
        guard !arguments.isEmpty else { return format }
        var rest = arguments[...]
        return format.split(separator: "%@", omittingEmptySubsequences: false).reduce(into: "") { text, part in
            text += part
            text += rest.popFirst() ?? ""
        }
    }

    package static func + (left: Message, right: Message) -> Message {
        Message(format: left.format + right.format, arguments: left.arguments + right.arguments)
    }

    /// From its parts, as another server has stored it.
    package init(format: String, arguments: [String]) {
        self.format = format
        self.arguments = arguments
    }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var format = ""
        fileprivate var arguments: [String] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            format.reserveCapacity(literalCapacity)
        }

        package mutating func appendLiteral(_ literal: String) { format += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            format += "%@"
            arguments.append(value.description)
        }
    }
}
