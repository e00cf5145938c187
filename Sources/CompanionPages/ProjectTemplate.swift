import Foundation

/// A template of a project's file, in `Public/assets/projects`. The pages read the same templates with the same rules, which
/// stand at the top of `assets/template.js`; steps of a flow matter only there.
struct ProjectTemplate {
    /// The syntax of the file, which decides how a value is escaped in it.
    enum Format: String, Decodable {
        case swift, plist, pbxproj, md

        fileprivate func escaped(_ value: String) -> String {
            switch self {
            case .swift: value.unicodeScalars.map(Self.swiftEscaped).joined()
            case .plist:
                Self.withoutControls(value).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                    .replacing(">", with: "&gt;")
            case .pbxproj: Self.withoutControls(value).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            case .md: Self.withoutControls(value).replacing("`", with: " ").replacing("|", with: " ")
            }
        }

        private static func swiftEscaped(_ scalar: Unicode.Scalar) -> String {
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case "⟦", "⟧": "\\u{\(String(scalar.value, radix: 16))}"
            default: isControl(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
            }
        }

        private static func withoutControls(_ value: String) -> String {
            value.unicodeScalars.map { isControl($0) ? " " : String($0) }.joined()
        }

        private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
            [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }

    /// A template that does not keep the rules.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private let lines: [Substring]
    private let format: Format

    init(_ source: String, format: Format) {
        lines = (source.hasSuffix("\n") ? source.dropLast() : source[...]).split(
            separator: "\n", omittingEmptySubsequences: false)
        self.format = format
    }

    /// Returns a list of strings in Swift.
    static func swiftList(_ values: [String]) -> String {
        "[" + values.map { "\"\(Format.swift.escaped($0))\"" }.joined(separator: ", ") + "]"
    }

    /// Returns the text, with a line end after the last line.
    ///
    /// - Parameters:
    ///   - values: the values by name; one that is missing or empty is not set.
    ///   - text: returns a text in the reader's language.
    /// - Throws: ``Fault`` if a block has no end.
    func text(_ values: [String: String], text: @escaping (String) -> String) throws -> String {
        var filling = Filling(format: format, values: values, text: text)
        try filling.walk(lines[...], margin: "")
        return filling.lines.joined(separator: "\n") + "\n"
    }
}

/// The filling of one template.
private struct Filling {
    let format: ProjectTemplate.Format
    let values: [String: String]
    let text: (String) -> String
    private(set) var lines: [String] = []
    private var parts: [Substring: [Substring]] = [:]

    init(format: ProjectTemplate.Format, values: [String: String], text: @escaping (String) -> String) {
        self.format = format
        self.values = values
        self.text = text
    }

    mutating func walk(_ source: ArraySlice<Substring>, margin: String) throws {
        var rest = source
        while let line = rest.popFirst() {
            let content = line.drop { $0 == " " || $0 == "\t" }
            let words = content.split(separator: " ", maxSplits: 1)
            let argument = words.count > 1 ? words[1] : ""
            switch words.first {
            case "%if":
                let block = try Self.block(&rest)
                try walk((holds(argument) ? block.lines : block.alternative)[...], margin: margin)
            case "%part": parts[argument] = try Self.block(&rest).lines
            case "%use":
                let indent = line.prefix(line.count - content.count)
                try walk((parts[argument] ?? [])[...], margin: margin + indent)
            case "%steps": break
            default: add(Self.withoutSteps(line), margin: margin)
            }
        }
    }

    /// Adds a line, unless it would be the first or second empty one in a row.
    private mutating func add(_ line: Substring, margin: String) {
        if !line.isEmpty {
            lines.append(margin + filled(line))
        } else if lines.last?.isEmpty == false {
            lines.append("")
        }
    }

    private func holds(_ condition: Substring) -> Bool {
        condition.split(separator: " ").allSatisfy { name in
            let isSet = values[String(name.drop { $0 == "!" })]?.isEmpty == false
            return isSet != name.hasPrefix("!")
        }
    }

    /// Takes the lines of a block, and those after its `%else`, from the rest.
    private static func block(
        _ rest: inout ArraySlice<Substring>
    ) throws(ProjectTemplate.Fault) -> (lines: [Substring], alternative: [Substring]) {
        var parts: [[Substring]] = [[]]
        var depth = 0
        while let line = rest.popFirst() {
            let content = line.drop { $0 == " " || $0 == "\t" }
            if content.hasPrefix("%if ") || content.hasPrefix("%part ") {
                depth += 1
            } else if content == "%end" {
                if depth == 0 { return (parts[0], parts.count > 1 ? parts[1] : []) }
                depth -= 1
            } else if content == "%else", depth == 0 {
                parts.append([])
                continue
            }
            parts[parts.count - 1].append(line)
        }
        throw ProjectTemplate.Fault(description: "a block of a project's template has no %end")
    }

    private static func withoutSteps(_ line: Substring) -> Substring {
        var line = line
        if line.hasSuffix("⟧"), let mark = line.lastIndex(of: "⟦") { line = line[..<mark] }
        while line.last?.isWhitespace == true { line.removeLast() }
        return line
    }

    private func filled(_ line: Substring) -> String {
        String(line).replacing(/\{\{(=|t )?(\w+)\}\}/) { match -> String in
            let name = String(match.output.2)
            switch match.output.1 {
            case "=": return values[name] ?? ""
            case "t ":
                return text(name).replacing(/\{(\w+)\}/) { place -> String in
                    values[String(place.output.1)].map(format.escaped) ?? String(place.output.0)
                }
            default: return format.escaped(values[name] ?? "")
            }
        }
    }
}
