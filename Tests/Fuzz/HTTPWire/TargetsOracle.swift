import Foundation

@testable import HTTPWire

/// The input is a request's path.
@Sendable func checkTargets(_ input: [UInt8]) throws(Disagreement) {
    let path = String(decoding: input, as: UTF8.self)
    let parts = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    let segments: [String]
    do {
        segments = try decodedPathSegments(path)
    } catch {
        switch error {
        case .notAbsolute: try hold(path.utf8.first != UInt8(ascii: "/"), "A path that begins with a slash is absolute")
        case .invalidEncoding:
            try hold(
                parts.contains { decodedStrictlyByFoundation($0) == nil || decodings($0).count > 4 },
                "Foundation refuses the encoding too")
        case .dotSegment, .forbiddenCharacter:
            try hold(parts.flatMap(decodings).contains { !isPlain($0) }, "A segment is refused for a reason")
        }
        return
    }
    try agree(segments.map(Optional.some), parts.map(decodedStrictlyByFoundation), "Foundation decodes the same")
    for segment in segments {
        try hold(decodings(segment).allSatisfy(isPlain), "No decoding of a segment names another folder: \(segment)")
    }
    let written = segments.map { "/" + ($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "%") }
    try agree(try? decodedPathSegments(written.joined()), segments, "A path that is written comes back")
}

/// The text, and what it becomes when it is decoded again and again.
private func decodings(_ text: String) -> [String] {
    var all = [text]
    while all.count < 8, let next = all.last.flatMap(decodedStrictlyByFoundation), next != all.last { all.append(next) }
    return all
}

private func isPlain(_ segment: String) -> Bool {
    segment != "." && segment != ".."
        && segment.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
}
