/// A language in which the pages and our own sentences are kept: one file of `Public/languages`, or of the demo
/// tenant's `Public/languages/demo`.
package struct Language: Sendable {
    /// BCP 47, as `pt-BR`; the file's name.
    package let tag: String
    /// Its place among ``Languages/all``.
    package let index: Int
    /// The texts of pages and scripts, by key.
    package let page: [String: String]
    /// Translations of the server's own sentences, by their English.
    let server: [String: String]
    /// The language ranges (RFC 4647) that it serves, in lower case.
    package let ranges: [String]
    /// Changes with the texts of any language: a part of the names under which browsers keep them.
    package let version: String

    init(tag: String, index: Int, version: String, file: LanguageFile) {
        self.tag = tag
        self.index = index
        page = file.page
        server = file.server
        ranges = file.ranges.map { $0.lowercased() }
        self.version = version
    }

    /// The sections of the texts: the first parts of their keys.
    package var sections: Set<Substring> { Set(page.keys.map(Language.section(of:))) }

    /// The texts of some sections, by key.
    package func texts(of sections: some Collection<Substring>) -> [String: String] {
        page.filter { key, _ in sections.contains(Language.section(of: key)) }
    }

    private static func section(of key: String) -> Substring {
        key[..<(key.utf8.firstIndex(of: UInt8(ascii: ".")) ?? key.endIndex)]
    }

    /// One of our sentences; its English where the language has none.
    package func text(_ message: Message) -> String {
        message.filled(in: server[message.format] ?? message.format)
    }

    /// A sentence without arguments.
    package func text(_ english: String) -> String { server[english] ?? english }

    /// Whether there is a translation. English, in which the sentences are written, needs none.
    package func knows(_ message: Message) -> Bool { tag == Languages.sourceTag || server[message.format] != nil }
}

/// What a language's file holds.
struct LanguageFile: Decodable {
    /// The language's own name for itself.
    var name: String
    /// The language ranges (RFC 4647) that it serves.
    var ranges: [String]
    var page: [String: String]
    var server: [String: String]
}
