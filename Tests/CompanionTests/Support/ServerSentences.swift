import Foundation

@testable import CompanionCore
@testable import CompanionCheck
@testable import OpenIDConnect

/// Every sentence of the server's that a language file has to translate: those that the code can list, and those that stand
/// in the sources as literals where a ``Message`` for a page is expected.
///
/// Code that it does not understand is in ``unread``, so that no sentence is missed.
struct ServerSentences {
    private(set) var all: Set<String> = []
    /// Places whose sentence is no literal and no other ``Message`` that is known to be one.
    private(set) var unread: [String] = []
    /// The number of times that each file names the type ``Message``, except in its declaration: sentences come from there.
    private(set) var mentions: [String: Int] = [:]
    /// The number of times that each file makes a ``Message`` of a text that is no literal.
    private(set) var computed: [String: Int] = [:]

    /// The files whose findings a portal shows.
    private static let shown: Set = [
        "APIProbe.swift", "ApplicationCheck.swift", "ApplicationFindings.swift", "AuthorityCheck.swift",
        "CheckFinding.swift", "CredentialFindings.swift", "CredentialProbe.swift", "MixUpFindings.swift",
        "PushedProbe.swift", "RegistrationFindings.swift", "RegistrationProbe.swift",
    ]

    /// Those of all sources.
    static let ofSources = Result { try ServerSentences() }

    private init() throws {
        all = Set(Problem.Code.allCases.map { Problem($0, "").title.format })
        let sources = Site.root.appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            read(code, of: file.lastPathComponent, isInCore: file.path.contains("/CompanionCore/"))
        }
    }

    /// The findings in one file's code.
    init(reading code: String, of file: String) { read(code, of: file, isInCore: true) }

    /// Reads code without comments.
    private mutating func read(_ code: String, of file: String, isInCore: Bool) {
        guard !["Message.swift", "Language.swift"].contains(file) else { return }
        let (named, made) = (code.matches(of: /\bMessage\b/).count, code.matches(of: /\bMessage[.(]/).count)
        if named > made { mentions[file] = named - made }
        if made > 0 { computed[file] = made }
        // Sentences of `companion check` alone are English. The portal shows what is found about an application as well.
        let isShown = Self.shown.contains(file)
        let isForOperators = code.contains(/\bCheckFinding\b/) && !isShown
        if isShown { readSecondArguments(of: /\.(?:good|unknown|advice|mistake)\(|[.\s]saying\((?!_)/, code, file) }
        if !isForOperators { readVariables(code, file) }
        // Other targets have types of their own with this name.
        guard isInCore || code.contains(/\bimport CompanionCore\b/) else { return }
        readSecondArguments(of: /\bProblem(?:\.init)?\(/, code, file)
        readSecondArguments(of: /[\s(\[,:]\.init\((?=\s*\.)/, code, file)
        if code.contains(/\b(?:struct|extension) Problem\b/) { readSecondArguments(of: /\bself\.init\(/, code, file) }
        if code.contains(/\bProblem\.init\b(?!\()|\btypealias\b[^\n]*\bProblem\b/) {
            unread.append("\(file): a problem that is not made by Problem(")
        }
    }

    /// Reads the second of the arguments without labels, as in `Problem(.code, "…")`.
    private mutating func readSecondArguments(of call: some RegexComponent, _ code: String, _ file: String) {
        for match in code.matches(of: call) {
            var reader = SentenceReader(code[match.range.upperBound...])
            guard !reader.isLabelled else { continue }
            reader.skipArgument()
            guard reader.skip(","), !reader.isLabelled else { continue }
            note(reader.sentences(), at: match.range.lowerBound, code, file)
        }
    }

    /// Reads what a variable of the type is set to, as in `let detail: Message = …`.
    private mutating func readVariables(_ code: String, _ file: String) {
        for match in code.matches(of: /: Message\??\s*=/) {
            var reader = SentenceReader(code[match.range.upperBound...])
            note(reader.sentences(), at: match.range.lowerBound, code, file)
        }
    }

    private mutating func note(_ found: [String]?, at place: String.Index, _ code: String, _ file: String) {
        if let found { all.formUnion(found) } else { unread.append("\(file): \(code[place...].prefix(120))") }
    }
}

/// Reads Swift expressions of the type ``Message`` as the compiler sees them: literals with `%@` for each interpolation, `+`,
/// `condition ? one : other`, parentheses.
private struct SentenceReader {
    private var rest: Substring

    init(_ source: Substring) { rest = source }

    /// Whether an argument with a label stands here.
    var isLabelled: Bool { rest.prefixMatch(of: /\s*\w+:/) != nil }

    mutating func skip(_ token: String) -> Bool {
        let ahead = rest.drop { $0.isWhitespace }
        guard ahead.hasPrefix(token) else { return false }
        rest = ahead.dropFirst(token.count)
        return true
    }

    /// Goes to the comma or the parenthesis that ends the argument.
    mutating func skipArgument() { skip { $0 == "," } }

    /// All that the expression can be, and goes behind it; nil for one that is not understood.
    mutating func sentences() -> [String]? {
        let before = rest
        if let sum = sum() { return sum }
        rest = before
        // A condition: what stands before the first question mark with a space before it.
        skip { $0 == "?" }
        guard skip("?"), let one = sentences(), skip(":"), let other = sentences() else { return nil }
        return one + other
    }

    private mutating func sum() -> [String]? {
        guard var all = term() else { return nil }
        while skip("+") {
            guard let next = term() else { return nil }
            all = all.flatMap { start in next.map { start + $0 } }
        }
        return all
    }

    private mutating func term() -> [String]? {
        if skip("\"") { return rest.hasPrefix("\"\"") ? nil : [literal()] }
        if skip("(") {
            guard let inner = sentences(), skip(")") else { return nil }
            return inner
        }
        // Its sentences are known from elsewhere.
        guard rest.prefixMatch(of: /\s*(?:Message\(verbatim:|detail\b)/) != nil else { return nil }
        skipArgument()
        return []
    }

    /// Goes to the first such character that is in no string and no parenthesis, or to the end of these.
    private mutating func skip(to end: (Character) -> Bool) {
        var depth = 0
        while let character = rest.first {
            if depth == 0, end(character) || character == ")" || character == "}" { return }
            rest = rest.dropFirst()
            switch character {
            case "\"": _ = literal()
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: break
            }
        }
    }

    /// Goes behind the literal whose first quotation mark is read.
    private mutating func literal() -> String {
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\" where rest.first == "(":
                rest = rest.dropFirst()
                skip { _ in false }
                rest = rest.dropFirst()
                text += "%@"
            case "\\": text.append(rest.popFirst() ?? "\\")
            default: text.append(character)
            }
        }
        return text
    }
}
