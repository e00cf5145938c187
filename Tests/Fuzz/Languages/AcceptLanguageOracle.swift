import Foundation

@testable import Languages

extension FuzzTarget {
    static let ofLanguages = [FuzzTarget(name: "accept-language", check: checkAcceptLanguage)]
}

/// The input is an Accept-Language field.
@Sendable func checkAcceptLanguage(_ input: [UInt8]) throws(Disagreement) {
    let header = String(decoding: input, as: UTF8.self)
    guard let languages = try? installed.get() else { throw Disagreement(description: "No languages: \(installed)") }
    let found = languages.lookup(header)?.tag
    try hold(found.map { languages[$0] != nil } ?? true, "A language is one of ours")
    guard input.allSatisfy({ $0 < 0x80 && $0 != 0x0D && $0 != 0x0A }) else { return }
    try agree(languages.lookup(header + ",")?.tag, found, "Empty members count for nothing")
    let ranges = header.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    guard ranges.count <= 8, ranges.allSatisfy(isPlain) else { return }
    try agree(languages.lookup(header.uppercased())?.tag, found, "Ranges ignore case")
    // RFC 4647 section 3.4: of several of one weight the first that fits; each is shortened from its end.
    let first = ranges.lazy.compactMap { languages.lookup($0)?.tag }.first
    try agree(found, first, "The first range that fits decides")
    for range in ranges {
        let alone = languages.lookup(range)?.tag
        try agree(languages[range].map(\.tag) ?? alone, alone, "A language's own tag is a range of it")
        try agree(languages.lookup(range + "-1x2y3z")?.tag, alone, "A longer range is shortened until it fits")
        try agree(
            languages.lookup("xx;q=0.9, \(range);q=0.1, *;q=0")?.tag, alone,
            "What is least wanted comes when nothing else does")
        try agree(languages.lookup("\(range);q=0")?.tag, nil, "What is not wanted does not come")
    }
}

private func isPlain(_ range: String) -> Bool {
    let subtags = range.split(separator: "-", omittingEmptySubsequences: false)
    return range.utf8.count <= 28 && subtags.count <= 4
        && subtags.allSatisfy { (2...8).contains($0.utf8.count) && $0.allSatisfy { $0.isLetter || $0.isNumber } }
}

private let installed = Result {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
    let folder = root.appendingPathComponent("Public/languages").standardized
    return try Languages(folder: folder.path, cookieName: "language")
}
