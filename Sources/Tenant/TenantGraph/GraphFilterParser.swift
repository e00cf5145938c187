import WebFormats

extension GraphFilter {
    /// Reads the value of `$filter`.
    ///
    /// - Throws: Graph's error about a clause that is malformed, or deeper than a person would write it.
    init(parsing text: String) throws(GraphError) {
        var parser = GraphFilterParser(tokens: try GraphFilterParser.tokens(text)[...])
        self = try parser.filter()
    }
}

/// A parser by recursive descent, whose depth and length are limited.
struct GraphFilterParser {
    enum Token: Hashable {
        case word(String)
        case text(String)
        case open, close, comma
    }

    private static let maxTokens = 200
    private static let maxDepth = 16

    fileprivate var tokens: ArraySlice<Token>
    private var depth = 0

    fileprivate init(tokens: ArraySlice<Token>) { self.tokens = tokens }

    private static func invalid(_ reason: String) -> GraphError { .badRequest("Invalid filter clause: \(reason)") }

    /// Returns the tokens: words, texts within quotes, parentheses and commas.
    fileprivate static func tokens(_ text: String) throws(GraphError) -> [Token] {
        var tokens: [Token] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            switch first {
            case " ", "\t": rest.removeFirst()
            case "(", ")", ",":
                rest.removeFirst()
                tokens.append(first == "(" ? .open : first == ")" ? .close : .comma)
            case "'":
                rest.removeFirst()
                var value = String.UnicodeScalarView()
                while true {
                    guard let end = rest.firstIndex(of: "'") else {
                        throw invalid("There is an unterminated string literal.")
                    }
                    value += rest[..<end]
                    rest = rest[end...].dropFirst()
                    // Two quotes are one.
                    guard rest.first == "'" else { break }
                    value.append("'")
                    rest.removeFirst()
                }
                tokens.append(.text(String(value)))
            default:
                let word = rest.prefix { !" \t(),'".unicodeScalars.contains($0) }
                tokens.append(.word(String(word)))
                rest = rest[word.endIndex...]
            }
            guard tokens.count <= maxTokens else { throw invalid("It is too long.") }
        }
        return tokens
    }

    fileprivate mutating func filter() throws(GraphError) -> GraphFilter {
        let filter = try alternatives()
        guard tokens.isEmpty else { throw Self.invalid("Syntax error after the end of the expression.") }
        return filter
    }

    private mutating func alternatives() throws(GraphError) -> GraphFilter {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maxDepth else { throw Self.invalid("It is too deep.") }
        var filters = [try conditions()]
        while take("or") { filters.append(try conditions()) }
        return filters.count == 1 ? filters[0] : .any(filters)
    }

    private mutating func conditions() throws(GraphError) -> GraphFilter {
        var filters = [try condition()]
        while take("and") { filters.append(try condition()) }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private mutating func condition() throws(GraphError) -> GraphFilter {
        if tokens.first == .open { return try group() }
        guard case .word(let word)? = tokens.popFirst() else { throw Self.invalid("An expression is expected.") }
        if word.lowercased() == "not" {
            guard tokens.first != .open else { return .not(try group()) }
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.maxDepth else { throw Self.invalid("It is too deep.") }
            return .not(try condition())
        }
        guard tokens.first != .open else { return try function(word) }
        guard case .word(let name)? = tokens.popFirst() else { throw Self.invalid("An operator is expected.") }
        if name.lowercased() == "in" { return .any(try list().map { .compare(property: word, .eq, $0) }) }
        guard let comparison = GraphFilter.Comparison(rawValue: name.lowercased()) else {
            throw Self.invalid("'\(name)' is not an operator.")
        }
        return .compare(property: word, comparison, try literal())
    }

    private mutating func group() throws(GraphError) -> GraphFilter {
        tokens = tokens.dropFirst()
        let filter = try alternatives()
        try expect(.close)
        return filter
    }

    private mutating func function(_ name: String) throws(GraphError) -> GraphFilter {
        guard let function = GraphFilter.Function(rawValue: name.lowercased()) else {
            // Such as groupTypes/any(c:c eq 'Unified')
            throw name.contains("/")
                ? .unsupportedQuery("Complex query on property \(name.prefix { $0 != "/" }) is not supported.")
                : Self.invalid("An unknown function with name '\(name)' was found.")
        }
        try expect(.open)
        guard case .word(let property)? = tokens.popFirst() else { throw Self.invalid("A property is expected.") }
        try expect(.comma)
        guard case .text(let text)? = tokens.popFirst() else { throw Self.invalid("A string literal is expected.") }
        try expect(.close)
        return .text(function, property: property, text)
    }

    private mutating func list() throws(GraphError) -> [JSONValue] {
        try expect(.open)
        var literals = [try literal()]
        while tokens.first == .comma {
            tokens = tokens.dropFirst()
            literals.append(try literal())
        }
        try expect(.close)
        return literals
    }

    private mutating func literal() throws(GraphError) -> JSONValue {
        switch tokens.popFirst() {
        case .text(let text)?: return .string(text)
        case .word("true")?: return true
        case .word("false")?: return false
        case .word("null")?: return .null
        case .word(let word)?:
            if let number = Int(word) { return .integer(number) }
            // Dates and GUIDs have no quotes.
            guard word.utf8.count == 36 || word.utf8.first.map({ (0x30...0x39).contains($0) }) == true else {
                throw Self.invalid("A literal is expected instead of '\(word)'.")
            }
            return .string(word)
        default: throw Self.invalid("A literal is expected.")
        }
    }

    private mutating func take(_ keyword: String) -> Bool {
        guard case .word(let word)? = tokens.first, word.lowercased() == keyword else { return false }
        tokens = tokens.dropFirst()
        return true
    }

    private mutating func expect(_ token: Token) throws(GraphError) {
        guard tokens.popFirst() == token else { throw Self.invalid("Unbalanced parentheses, or a missing comma.") }
    }
}
