import CompanionCore
import Foundation
import Languages
import WebFormats

/// A page as its file has it, with the places where a language's texts go.
///
/// `{{part name}}` is a piece of HTML that pages share; `{{section.key}}` a text of the language; `{{language}}` its tag;
/// `{{base}}` the public URL's path; `{{strings a b}}` the texts of these sections as JSON, for scripts; `{{texts}}` the version
/// of all texts. Other names in double braces are left for later: the error page is filled in once more for each problem.
struct PageTemplate: Sendable {
    private enum Piece {
        case text(Substring)
        case place(Substring)
    }

    private let file: String
    private let pieces: [Piece]

    /// - Parameters:
    ///   - file: the page's name, for messages.
    ///   - part: the HTML of a part, which may have places but no parts of its own.
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

    /// Where two of these stand side by side.
    private static func braces(_ brace: UInt8, in bytes: Substring.UTF8View) -> String.Index? {
        var rest = bytes
        while let place = rest.firstIndex(of: brace) {
            rest = rest[place...].dropFirst()
            if rest.first == brace { return place }
        }
        return nil
    }

    /// - Throws: ``LanguageFault`` when the language lacks a text of the page.
    func check(_ language: Language) throws(LanguageFault) {
        for case .place(let place) in pieces {
            guard let key = PageTemplate.key(place), language.page[key] == nil else { continue }
            throw LanguageFault(file: "\(language.tag).json", reason: "has no “\(key)”, which \(file) needs")
        }
    }

    /// The key of the text that belongs at a place; nil where something else does.
    private static func key(_ place: Substring) -> String? {
        place.utf8.contains(UInt8(ascii: ".")) && !place.hasPrefix("strings ") ? String(place) : nil
    }

    /// The page in a language.
    ///
    /// - Parameter prefix: the public URL's path, below which its links lead.
    /// - Throws: ``LanguageFault`` when the language lacks a text.
    func html(in language: Language, below prefix: String) throws(LanguageFault) -> String {
        try check(language)
        return checkedHTML(in: language, below: prefix)
    }

    /// The page in a language that has been checked.
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
        // Nothing in a text can end the script element or begin a comment (HTML, restrictions for contents of script).
        PageTemplate.json(language.texts(of: sections)).replacing("<", with: "\\u003c")
    }

    /// Texts as scripts read them.
    static func json(_ texts: [String: String]) -> String {
        JSONValue.object(texts.mapValues(JSONValue.string)).text
    }

    /// The page with its remaining names filled in, as the error page is.
    static func filled(_ html: String, with values: [String: String]) -> String {
        filled(html) { values[String($0)].map(HTML.init(escaping:)) }
    }

    /// The page with HTML in its remaining places; a place for which there is none stays.
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
