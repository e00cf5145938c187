import Cryptography
import Foundation
import HTTPTypes
package import HTTPWire
import WebFormats

/// All languages, and the choice of one for a request.
package struct Languages: Sendable {
    /// The language of the sentences in the sources.
    package static let sourceTag = "en"

    /// All languages: English first, then by tag.
    package let all: [Language]
    /// The cookie for a person's choice.
    package private(set) var cookieName: String
    /// The indices of the languages by the ranges that they serve. If two languages serve the same range, the first one
    /// counts.
    private let places: [String: Int]
    private let folder: String

    package var source: Language { all[0] }
    /// The sections of the texts, which are the first parts of their keys.
    package let sections: Set<Substring>

    /// Reads the folder.
    ///
    /// - Parameter numbers: the platform's numbers that the languages explain, if any.
    /// - Throws: if the folder or a file cannot be read, or if there is no English.
    package init(folder: String, cookieName: String, numbers: PlatformNumbers? = nil) throws {
        self.cookieName = cookieName
        self.folder = folder
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw LanguageFault(
                file: folder, reason: "cannot be read; public must be the folder Public of this version, with the pages"
            )
        }
        let tags = names.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) }
        guard tags.contains(Languages.sourceTag) else { throw LanguageFault(file: folder, reason: "has no en.json") }
        let ordered = [Languages.sourceTag] + tags.filter { $0 != Languages.sourceTag }.sorted()
        // All languages share one version, because the English sentences are part of the program and keys in the other
        // files.
        var hash = SHA256()
        let files = try ordered.map { tag in
            let path = "\(folder)/\(tag).json"
            do {
                let content = try Data(contentsOf: URL(fileURLWithPath: path))
                hash.update(data: content)
                return try JSONDecoder().decode(LanguageFile.self, from: content)
            } catch {
                throw LanguageFault(file: path, reason: "is no language file: \(error)")
            }
        }
        let version = Hex.encode(hash.finalize().prefix(6))
        all = zip(ordered, files).enumerated().map { index, language in
            Language(tag: language.0, index: index, version: version, numbers: numbers, file: language.1)
        }
        sections = Set(all[0].page.keys.map(Language.section(of:)))
        places = Dictionary(all.flatMap { language in language.ranges.map { ($0, language.index) } }) { first, _ in
            first
        }
    }

    /// Checks that all languages have the same sentences, for pages that must not mix two languages.
    ///
    /// - Throws: if a language lacks a sentence that another one has.
    package func requireSameSentences() throws(LanguageFault) {
        let sentences = Set(all.flatMap(\.server.keys))
        for language in all.dropFirst() {
            if let missing = sentences.subtracting(language.server.keys).min() {
                throw LanguageFault(file: "\(folder)/\(language.tag).json", reason: "has no “\(missing)”")
            }
        }
    }

    /// Returns the same languages with another cookie for the choice.
    package func with(cookieName: String) -> Languages {
        var copy = self
        copy.cookieName = cookieName
        return copy
    }

    package subscript(tag: String) -> Language? { all.first { $0.tag == tag } }

    /// Returns the language of a request: the person's choice, the browser's preference, or English.
    package func language(of head: RequestHead) -> Language {
        chosen(by: head) ?? head[.acceptLanguage].flatMap(lookup) ?? source
    }

    /// Returns the person's choice; nil if there is none.
    package func chosen(by head: RequestHead) -> Language? {
        RequestCookies(head).first(cookieName) { tag in
            tag.withUnsafeBufferPointer { self[String(decoding: $0, as: UTF8.self)] }
        }
    }

    /// Returns the language for the range with the greatest weight that a language serves, or the first of equal ones
    /// (RFC 4647 section 3.4).
    package func lookup(_ acceptLanguage: String) -> Language? {
        var best: (place: Int, weight: Double)?
        for range in LanguageRange.all(in: acceptLanguage) where range.weight > best?.weight ?? 0 {
            if let place = place(serving: range) { best = (place, range.weight) }
        }
        return best.map { all[$0.place] }
    }

    /// Shortens the range subtag by subtag until a language serves it.
    private func place(serving range: LanguageRange) -> Int? {
        var rest = range.lowercased[...]
        while true {
            if let place = places[String(decoding: rest, as: UTF8.self)] { return place }
            guard let cut = rest.lastIndex(of: UInt8(ascii: "-")) else { return nil }
            rest = rest[..<cut]
        }
    }
}

/// A language file that cannot be used.
package struct LanguageFault: Error, CustomStringConvertible {
    package let file: String
    package let reason: String

    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    package var description: String { "\(file) \(reason)" }
}
