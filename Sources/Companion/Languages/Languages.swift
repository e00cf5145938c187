import Foundation
import HTTPTypes
import HTTPWire

/// All languages, and which of them a request gets.
struct Languages: Sendable {
    /// The language in which the server's sentences are written.
    static let sourceTag = "en"
    private static let maxRanges = 32

    /// English first, the others by their tags.
    let all: [Language]
    /// The cookie in which a choice is kept.
    let cookieName: String

    var source: Language { all[0] }

    /// Reads the folder once.
    ///
    /// - Throws: when the folder or a file cannot be read, or when English is not there.
    init(folder: String, cookieName: String) throws {
        self.cookieName = cookieName
        let tags = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
            .map { String($0.dropLast(".json".count)) }
        guard tags.contains(Languages.sourceTag) else { throw LanguageFault(file: folder, reason: "has no en.json") }
        let ordered = [Languages.sourceTag] + tags.filter { $0 != Languages.sourceTag }.sorted()
        all = try ordered.enumerated().map { index, tag in
            let path = "\(folder)/\(tag).json"
            do {
                let file = try JSONDecoder().decode(
                    LanguageFile.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
                return Language(tag: tag, index: index, file: file)
            } catch {
                throw LanguageFault(file: path, reason: "is no language file: \(error)")
            }
        }
    }

    subscript(tag: String) -> Language? { all.first { $0.tag == tag } }

    /// The language of a request: the person's choice, else what the browser asks for, else English.
    func language(of head: RequestHead) -> Language {
        if let cookies = head[.cookie],
            let chosen = RequestCookies(cookies).all(cookieName).lazy.compactMap({ self[$0] }).first
        {
            return chosen
        }
        return head[.acceptLanguage].flatMap(lookup) ?? source
    }

    /// RFC 4647 section 3.4: each range in the order of its weight, shortened until it fits.
    func lookup(_ acceptLanguage: String) -> Language? {
        let ranges = acceptLanguage.split(separator: ",").prefix(Languages.maxRanges).compactMap(Self.weighted)
        for (range, _) in ranges.sorted(by: { $0.weight > $1.weight }) {
            var range = range
            while true {
                if let language = all.first(where: { $0.matches(range) }) { return language }
                guard let cut = range.lastIndex(of: "-") else { break }
                range = range[..<cut]
            }
        }
        return nil
    }

    /// `sv;q=0.8`; nil for what is not wanted or cannot be read.
    private static func weighted(_ item: Substring) -> (range: Substring, weight: Double)? {
        let parts = item.split(separator: ";")
        guard let range = parts.first?.trimmingPrefix(while: \.isWhitespace).prefix(while: { !$0.isWhitespace }),
            !range.isEmpty
        else { return nil }
        guard parts.count > 1 else { return (range, 1) }
        let quality = parts[1].trimmingCharacters(in: .whitespaces)
        guard quality.hasPrefix("q="), let weight = Double(quality.dropFirst(2)), weight > 0 else { return nil }
        return (range, weight)
    }
}

/// A language file that cannot be used.
struct LanguageFault: Error, CustomStringConvertible {
    let file: String
    let reason: String

    var description: String { "\(file) \(reason)" }
}
