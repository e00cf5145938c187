package import Logging

/// Formats log lines for people and machines: `message name=value`, as in logfmt. Text from outside can neither start
/// a new line or field nor send control characters to a terminal (CWE-117).
package enum LogText {
    /// Returns a line with the message and its fields, sorted by name.
    package static func line(_ message: String, _ metadata: Logger.Metadata) -> String {
        // The message ends at the first field, so only a message that could be mistaken for one is quoted.
        metadata.sorted { $0.key < $1.key }.reduce(isPlain(message, orSpaces: true) ? message : quoted(message)) {
            $0 + " \($1.key)=\(value($1.value.description))"
        }
    }

    /// Returns a single word unchanged. Other values are put in quotes, with `"`, `\` and invisible characters escaped.
    package static func value(_ text: String) -> String {
        isPlain(text, orSpaces: false) ? text : quoted(text)
    }

    private static func isPlain(_ text: String, orSpaces: Bool) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                scalar == " " ? orSpaces : !["\"", "\\", "="].contains(scalar) && isVisible(scalar)
            }
    }

    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "\"") { result, scalar in
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " ": result += " "
            case _ where isVisible(scalar): result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        } + "\""
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned: false
        default: true
        }
    }
}
