import CompanionCore
import OpenIDConnect
import WebFormats

/// An HTML page as a reader sees it, about.
struct PageText: Sendable {
    /// Pages are only read up to this length, in bytes.
    private static let maxBytes = 65536
    /// Elements whose content nobody sees.
    private static let unseen: Set = ["script", "style", "svg", "template"]
    /// Elements with which a person could sign in, or which make a page that this type does not see.
    private static let usable: Set = ["form", "input", "script", "button", "a", "iframe"]
    private static let entities = ["quot": "\"", "#39": "'", "#x27": "'", "lt": "<", "gt": ">", "amp": "&"]

    /// The text without elements, with single spaces.
    let words: String
    /// Whether the page has something with which a person could sign in, or that may become it.
    let isUsable: Bool

    /// Reads the beginning of a page, each byte once.
    init(of page: [UInt8]) {
        var rest = page.prefix(Self.maxBytes)
        var text: [UInt8] = []
        var isUsable = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "<"):
                text.append(UInt8(ascii: " "))
                let name = String(
                    decoding: rest.prefix { $0 != 0x20 && $0 != UInt8(ascii: ">") }.prefix(16), as: UTF8.self
                )
                .lowercased()
                isUsable = isUsable || Self.usable.contains(name)
                rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
                if Self.unseen.contains(name) { Self.skip(&rest, to: Array("</\(name)".utf8)) }
            case UInt8(ascii: "&"):
                let name = String(decoding: rest.prefix(8).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
                guard let character = Self.entities[name] else { fallthrough }
                text += character.utf8
                rest = rest.dropFirst(name.utf8.count + 1)
            default: text.append(byte)
            }
        }
        words = Self.singleSpaced(String(decoding: text, as: UTF8.self))
        self.isUsable = isUsable
    }

    /// The text with single spaces. Scalar by scalar: a space and a combining mark behind it are one character, and the mark is
    /// no space.
    static func singleSpaced(_ text: String) -> String {
        text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace).map(String.init).joined(separator: " ")
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, to end: [UInt8]) {
        while !rest.isEmpty {
            rest = rest.drop { $0 != UInt8(ascii: "<") }
            if rest.prefix(end.count).map({ $0 | 0x20 }) == end.map({ $0 | 0x20 }) { return }
            rest = rest.dropFirst()
        }
    }
}

extension SentValues {
    /// Returns the words of an answer: the description of an OAuth error, or what a page says; nil if there are none.
    func words(of answer: ProviderResponse) -> String? {
        guard let json = JSONValue(parsing: answer.body), json.object != nil else {
            return words(of: PageText(of: answer.body).words)
        }
        return (json["error_description"]?.string ?? json["error"]?.string).flatMap(words(of:))
    }
}
