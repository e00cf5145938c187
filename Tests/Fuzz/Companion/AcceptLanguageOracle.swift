import Foundation

@testable import Companion

/// The input is an Accept-Language field.
@Sendable func checkAcceptLanguage(_ input: [UInt8]) throws(Disagreement) {
    let header = String(decoding: input, as: UTF8.self)
    guard let languages = try? installed.get() else { throw Disagreement(description: "No languages: \(installed)") }
    let found = languages.lookup(header)?.tag
    try hold(found.map { languages[$0] != nil } ?? true, "A language is one of ours")
    guard input.allSatisfy({ $0 < 0x80 && $0 != 0x0D && $0 != 0x0A }) else { return }
    try agree(languages.lookup(header.uppercased())?.tag, found, "Ranges ignore case")
    try agree(languages.lookup(header + ",")?.tag, found, "Empty members count for nothing")
    let ranges = header.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    // One range, or several of one weight: the first that fits, shortened from its end (RFC 4647 section 3.4).
    guard ranges.count <= 8, ranges.allSatisfy(isPlain) else { return }
    let expected = ranges.lazy.compactMap { range in
        sequence(first: range[...]) { longer in longer.lastIndex(of: "-").map { longer[..<$0] } }
            .lazy.compactMap { candidate in languages.all.first { $0.matches(candidate) } }.first
    }.first
    try agree(found, expected?.tag, "The first range that fits decides")
    for range in ranges {
        try agree(
            languages.lookup("xx;q=0.9, \(range);q=0.1, *;q=0")?.tag, languages.lookup(range)?.tag,
            "What is least wanted comes when nothing else does")
    }
}

private func isPlain(_ range: String) -> Bool {
    let subtags = range.split(separator: "-", omittingEmptySubsequences: false)
    return range.utf8.count <= 35 && subtags.count <= 4
        && subtags.allSatisfy { (2...8).contains($0.utf8.count) && $0.allSatisfy { $0.isLetter || $0.isNumber } }
}

private let installed = Result {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
    let folder = root.appendingPathComponent("Public/languages").standardized
    return try Languages(folder: folder.path, cookieName: "language")
}
