/// A language with its texts: one file of `Public/languages`, or of the demo tenant's `Public/languages/demo`.
package struct Language: Sendable {
    /// The BCP 47 tag, such as `pt-BR`, which is also the file's name.
    package let tag: String
    /// The name for itself.
    package let name: String
    /// The index in ``Languages/all``.
    package let index: Int
    /// The texts of pages and scripts, by key.
    package let page: [String: String]
    /// Translations of the server's own sentences, by the English text.
    let server: [String: String]
    /// The numbers that it explains; nil for pages that show none.
    let numbers: PlatformNumbers?
    /// The language ranges (RFC 4647) that this language serves, in lower case.
    package let ranges: [String]
    /// A version that changes with the texts of any language. It is part of the paths under which browsers cache them.
    package let version: String

    init(tag: String, index: Int, version: String, numbers: PlatformNumbers? = nil, file: LanguageFile) {
        self.tag = tag
        name = file.name
        self.index = index
        page = file.page
        server = file.server
        self.numbers = numbers
        ranges = file.ranges.map { $0.lowercased() }
        self.version = version
    }

    /// Returns the texts of some sections, by key.
    package func texts(of sections: some Collection<Substring>) -> [String: String] {
        page.filter { key, _ in sections.contains(Language.section(of: key)) }
    }

    static func section(of key: String) -> Substring {
        key[..<(key.utf8.firstIndex(of: UInt8(ascii: ".")) ?? key.endIndex)]
    }

    /// Returns the translation of a sentence, or the English text if there is none.
    package func text(_ message: Message) -> String {
        message.filled(in: server[message.format] ?? message.format)
    }

    /// Returns the translation of a sentence without arguments.
    package func text(_ english: String) -> String { server[english] ?? english }

    /// Whether there is a translation. English, the language of the sources, needs none.
    package func knows(_ message: Message) -> Bool { tag == Languages.sourceTag || server[message.format] != nil }
}

/// The content of a language's file.
struct LanguageFile: Decodable {
    /// The language's name for itself.
    var name: String
    /// The language ranges (RFC 4647) that this language serves.
    var ranges: [String]
    var page: [String: String]
    var server: [String: String]
}
