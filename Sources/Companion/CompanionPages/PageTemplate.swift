import Languages
import WebFormats

/// A page from its file, with placeholders for texts.
///
/// `{{part name}}` stands for HTML that several pages share, `{{section.key}}` for a text of the language,
/// `{{language}}` for its tag, `{{base}}` for the public URL's path, `{{strings a b}}` for the texts of these
/// sections as JSON for scripts, and `{{texts}}` for the version of all texts. Other placeholders are kept for a
/// later step: the error page is filled in again for each problem.
struct PageTemplate: Sendable {
    private enum Piece {
        case text(Substring)
        case place(Substring)
    }

    private let file: String
    private let pieces: [Piece]

    /// - Parameters:
    ///   - file: the page's name for error messages.
    ///   - part: returns the HTML of a part, which may have placeholders but no further parts.
    init(file: String, html: String, part: (Substring) throws -> String) rethrows {
        self.file = file
        pieces = try PageTemplate.pieces(of: html).flatMap { piece in
            guard case .place(let place) = piece, place.hasPrefix("part ") else { return [piece] }
            return PageTemplate.pieces(of: try part(place.dropFirst(5)))
        }
    }

    private static func pieces(of html: String) -> [Piece] {
        var pieces: [Piece] = []
        let bytes = html.utf8
        var rest = html.startIndex
        while let open = braces(UInt8(ascii: "{"), in: bytes[rest...]),
            let close = braces(UInt8(ascii: "}"), in: bytes[bytes.index(open, offsetBy: 2)...])
        {
            pieces.append(.text(html[rest..<open]))
            pieces.append(.place(html[bytes.index(open, offsetBy: 2)..<close]))
            rest = bytes.index(close, offsetBy: 2)
        }
        return pieces + [.text(html[rest...])]
    }

    /// Returns the position of two adjacent braces.
    private static func braces(_ brace: UInt8, in bytes: Substring.UTF8View) -> String.Index? {
        var rest = bytes
        while let place = rest.firstIndex(of: brace) {
            rest = rest[place...].dropFirst()
            if rest.first == brace { return place }
        }
        return nil
    }

    /// - Throws: ``LanguageFault`` if the language lacks a text of the page.
    func check(_ language: Language) throws(LanguageFault) {
        for case .place(let place) in pieces {
            guard let key = PageTemplate.key(place), language.page[key] == nil else { continue }
            throw LanguageFault(file: "\(language.tag).json", reason: "has no “\(key)”, which \(file) needs")
        }
    }

    /// Returns the key of the text for a placeholder; nil if it does not stand for a text.
    private static func key(_ place: Substring) -> String? {
        place.utf8.contains(UInt8(ascii: ".")) && !place.hasPrefix("strings ") ? String(place) : nil
    }

    /// Returns the page in a language that has been checked.
    ///
    /// - Parameter prefix: the public URL's path, under which the page's links lead.
    func checkedHTML(in language: Language, below prefix: String) -> String {
        var html = ""
        for piece in pieces {
            switch piece {
            case .text(let text): html += text
            case .place("language"): html += language.tag
            case .place("base"): html += prefix
            case .place("texts"): html += language.version
            case .place(let place) where place.hasPrefix("strings "):
                html += strings(place.split(separator: " ").dropFirst(), of: language)
            case .place(let place):
                html += PageTemplate.key(place).map { HTML(escaping: language.page[$0] ?? "").text } ?? "{{\(place)}}"
            }
        }
        return html
    }

    private func strings(_ sections: ArraySlice<Substring>, of language: Language) -> String {
        // Escaped in this way, no text can end the script element or begin a comment (HTML, restrictions for contents
        // of script).
        PageTemplate.json(language.texts(of: sections)).replacing("<", with: "\\u003c")
    }

    /// Returns the texts as JSON for scripts.
    static func json(_ texts: [String: String]) -> String {
        JSONValue.object(texts.mapValues(JSONValue.string)).text
    }

    /// Returns the page with its remaining placeholders filled in with text, as for the error page.
    static func filled(_ html: String, with values: [String: String]) -> String {
        filled(html) { values[String($0)].map(HTML.init(escaping:)) }
    }

    /// Returns the page with HTML in its remaining placeholders. A placeholder without a value is kept.
    static func filled(_ html: String, with value: (Substring) -> HTML?) -> String {
        var filled = ""
        for piece in pieces(of: html) {
            switch piece {
            case .text(let text): filled += text
            case .place(let place): filled += value(place)?.text ?? "{{\(place)}}"
            }
        }
        return filled
    }
}
