import Foundation
import WebFormats

/// A page as its file has it, with the places where a language's texts go.
///
/// `{{part name}}` is a piece of HTML that pages share; `{{section.key}}` a text of the language; `{{language}}` its tag;
/// `{{base}}` the public URL's path; `{{strings a b}}` the texts of these sections as JSON, for scripts. Other names in
/// double braces are left for later: the error page is filled in once more for each problem.
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
        var rest = html[...]
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            pieces.append(.text(rest[..<open.lowerBound]))
            pieces.append(.place(rest[open.upperBound..<close.lowerBound]))
            rest = rest[close.upperBound...]
        }
        return pieces + [.text(rest)]
    }

    /// The page in a language.
    ///
    /// - Parameter prefix: the public URL's path, below which its links lead.
    /// - Throws: ``LanguageFault`` when the language lacks a text.
    func html(in language: Language, below prefix: String) throws(LanguageFault) -> String {
        var html = ""
        for piece in pieces {
            switch piece {
            case .text(let text): html += text
            case .place("language"): html += language.tag
            case .place("base"): html += prefix
            case .place(let place) where place.hasPrefix("strings "):
                html += strings(place.split(separator: " ").dropFirst(), of: language)
            case .place(let key) where key.contains("."):
                guard let text = language.page[String(key)] else {
                    throw LanguageFault(file: "\(language.tag).json", reason: "has no “\(key)”, which \(file) needs")
                }
                html += PageTemplate.escaped(text)
            case .place(let name): html += "{{\(name)}}"
            }
        }
        return html
    }

    private func strings(_ sections: ArraySlice<Substring>, of language: Language) -> String {
        let texts = language.page.filter { key, _ in sections.contains(key.prefix { $0 != "." }) }
        // Nothing in a text can end the script element or begin a comment (HTML, restrictions for contents of script).
        return PageTemplate.json(texts).replacing("<", with: "\\u003c")
    }

    /// Texts as scripts read them.
    static func json(_ texts: [String: String]) -> String {
        JSONValue.object(texts.mapValues(JSONValue.string)).text
    }

    /// The page with its remaining names filled in, as the error page is.
    static func filled(_ html: String, with values: [String: String]) -> String {
        values.reduce(html) { html, value in html.replacing("{{\(value.key)}}", with: escaped(value.value)) }
    }

    /// Text as HTML content or a quoted attribute's value.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "{": result += "&#123;"
            default: result.append(character)
            }
        }
        return result
    }
}
