/// Writes the Prometheus text format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
package struct MetricsText {
    /// The type of a family.
    package enum Kind: String {
        case counter, gauge, histogram
    }

    /// Names and values of labels, in the order of the output.
    package typealias Labels = [(name: String, value: String)]

    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    package init() {}

    /// Begins a family. All samples of the family must follow directly.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(MetricsText.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Writes one sample.
    package mutating func sample(_ name: String, _ labels: Labels, _ value: String) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(MetricsText.escaped($0.value, quotes: true))\"" }
            text += "{\(pairs.joined(separator: ","))}"
        }
        text += " \(value)\n"
    }

    /// Writes one sample with a whole number.
    package mutating func sample(_ name: String, _ labels: Labels, _ value: some BinaryInteger) {
        sample(name, labels, String(value))
    }

    /// Writes one sample with any number.
    package mutating func sample(_ name: String, _ labels: Labels, _ value: Double) {
        sample(name, labels, MetricsText.number(value))
    }

    /// Writes a family with one sample and no labels.
    package mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        family(name, .gauge, help)
        sample(name, [], value)
    }

    /// Formats a number for Go's ParseFloat.
    package static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }

    /// Escapes backslashes and line feeds, and in a label's value also quotes.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\\\"
            case "\n", "\r\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.append(character)
            }
        }
        return result
    }
}
