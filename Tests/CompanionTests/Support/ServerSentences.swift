import Foundation

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn
@testable import OpenIDConnect

/// Every sentence of the server's that a language file has to translate: those that the code can list, and those that stand
/// in the sources as the text of a problem or a finding.
enum ServerSentences {
    static func all() throws -> Set<String> {
        var sentences = Set(Problem.Code.allCases.map { Problem($0, "").title.format })
        for explanation in ErrorExplanation.all {
            sentences.formUnion([explanation.cause, explanation.remedy])
        }
        let sources = Site.root.appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", file.path.contains("/Sources/Companion") else { continue }
            sentences.formUnion(messages(in: try String(contentsOf: file, encoding: .utf8)))
        }
        return sentences
    }

    /// The literals behind `Problem(.code,` (or its `self.init`), `interaction(.code,` and `.add(.subject,`, and both of a conditional message.
    private static func messages(in source: String) -> [String] {
        var found: [String] = []
        for call in source.matches(
            of: /(?:Problem|interaction|report\.add|self\.init)\(\s*\.\w+,\s*(?:isGood: \w+,\s*)?(?=")/)
        {
            var scanner = LiteralScanner(source[call.range.upperBound...])
            found.append(scanner.message())
        }
        for choice in source.matches(of: /: Message =[^?]*\?\s*(?=")/) {
            var scanner = LiteralScanner(source[choice.range.upperBound...])
            found.append(scanner.message())
            scanner.skip { $0 != "\"" }
            found.append(scanner.message())
        }
        return found
    }
}

/// Reads Swift string literals as ``Message`` sees them: `%@` for each interpolation, `+` joins.
private struct LiteralScanner {
    private var rest: Substring

    init(_ source: Substring) { rest = source }

    mutating func skip(while condition: (Character) -> Bool) { rest = rest.drop(while: condition) }

    mutating func message() -> String {
        var text = literal()
        while true {
            let ahead = rest.drop { $0.isWhitespace }
            guard ahead.first == "+" else { return text }
            rest = ahead.dropFirst().drop { $0.isWhitespace }
            text += literal()
        }
    }

    private mutating func literal() -> String {
        var text = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\" where rest.first == "(":
                interpolation()
                text += "%@"
            case "\\": text.append(rest.popFirst() ?? "\\")
            default: text.append(character)
            }
        }
        return text
    }

    private mutating func interpolation() {
        var depth = 0
        while let character = rest.popFirst() {
            if character == "\"" {
                rest = rest.drop { $0 != "\"" }.dropFirst()
            } else if character == "(" {
                depth += 1
            } else if character == ")" {
                depth -= 1
                if depth == 0 { return }
            }
        }
    }
}
