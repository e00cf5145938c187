/// A language in which the pages and our own sentences are kept: one file of `Public/languages`.
struct Language: Sendable {
    /// BCP 47, as `pt-BR`; the file's name.
    let tag: String
    /// Its place among ``Languages/all``.
    let index: Int
    /// The texts of pages and scripts, by key.
    let page: [String: String]
    /// Translations of the server's own sentences, by their English.
    private let server: [String: String]
    /// The language ranges (RFC 4647) that it serves, in lower case.
    let ranges: [String]
    /// Changes with the texts of pages and scripts: a part of the names under which browsers keep them.
    let version: String

    init(tag: String, index: Int, file: LanguageFile) {
        self.tag = tag
        self.index = index
        page = file.page
        server = file.server
        ranges = file.ranges.map { $0.lowercased() }
        version = Language.hash(file.page, file.server)
    }

    /// FNV-1a, 64 bits: nothing here is worth forging.
    private static func hash(_ all: [String: String]...) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for (key, text) in all.flatMap({ texts in texts.sorted { $0.key < $1.key } }) {
            for byte in [Array(key.utf8), [0], Array(text.utf8), [0]].joined() {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
            }
        }
        return String(hash, radix: 16)
    }

    /// The sections of the texts: the first parts of their keys.
    var sections: Set<Substring> { Set(page.keys.map(Language.section(of:))) }

    /// The texts of some sections, by key.
    func texts(of sections: some Collection<Substring>) -> [String: String] {
        page.filter { key, _ in sections.contains(Language.section(of: key)) }
    }

    private static func section(of key: String) -> Substring {
        key[..<(key.utf8.firstIndex(of: UInt8(ascii: ".")) ?? key.endIndex)]
    }

    /// One of our sentences; its English where the language has none.
    func text(_ message: Message) -> String {
        message.filled(in: server[message.format] ?? message.format)
    }

    /// A sentence without arguments.
    func text(_ english: String) -> String { server[english] ?? english }

    /// Whether there is a translation. English, in which the sentences are written, needs none.
    func knows(_ message: Message) -> Bool { tag == Languages.sourceTag || server[message.format] != nil }
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
