package import Logging

/// A log line for people that machines can read as well: `message name=value`, in the form that logfmt has. Text from
/// outside can neither begin a line nor a field of its own, nor steer a terminal (CWE-117).
package enum LogText {
    /// The message and its fields, by name.
    package static func line(_ message: String, _ metadata: Logger.Metadata) -> String {
        // A message is read up to the first field, so that only what could pass for one is quoted.
        metadata.sorted { $0.key < $1.key }.reduce(isPlain(message, orSpaces: true) ? message : quoted(message)) {
            $0 + " \($1.key)=\(value($1.value.description))"
        }
    }

    /// A value as it stands when it is one word, else in quotes with `"`, `\` and whatever cannot be seen escaped.
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
