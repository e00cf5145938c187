import WebFormats

/// Why a path is refused.
public enum PathError: Error, Sendable, Hashable {
    /// It does not begin with `/`.
    case notAbsolute
    /// A `%` without two hexadecimal digits, or decoded bytes that are not UTF-8.
    case invalidEncoding
    /// A segment is `.` or `..`.
    case dotSegment
    /// A segment has a slash, a backslash or a control character.
    case forbiddenCharacter
}

extension RequestHead {
    /// The segments of this request's path: `decodedPathSegments(_:)`.
    public func decodedPathSegments() throws(PathError) -> [String] { try HTTPWire.decodedPathSegments(path) }
}

/// The percent-decoded segments of a path without a query: `/a%20b/c` is `["a b", "c"]`, and `/` is `[""]`.
///
/// No segment can name another folder: it is refused when it is `.` or `..` or has a slash, a backslash or a control
/// character, be it encoded once or several times (`%252e%252e`), since a later reader might decode again.
public func decodedPathSegments(_ path: String) throws(PathError) -> [String] {
    guard path.utf8.first == ASCII.slash else { throw .notAbsolute }
    var segments: [String] = []
    for encoded in path.utf8.dropFirst().split(separator: ASCII.slash, omittingEmptySubsequences: false) {
        let isEncoded = encoded.contains(UInt8(ascii: "%"))
        let segment = isEncoded ? try decodeOnce(encoded) : String(Substring(encoded))
        try check(segment)
        var inner = segment
        var rounds = 0
        while inner.utf8.contains(UInt8(ascii: "%")), let decoded = try? decodeOnce(inner.utf8) {
            // Each round costs the segment's length; nobody encodes this often but to make it cost.
            rounds += 1
            guard rounds < 4 else { throw .invalidEncoding }
            try check(decoded)
            inner = decoded
        }
        segments.append(segment)
    }
    return segments
}

private func decodeOnce(_ bytes: some Collection<UInt8>) throws(PathError) -> String {
    do throws(PercentDecoding.Problem) {
        return try PercentDecoding.decode(bytes)
    } catch {
        throw .invalidEncoding
    }
}

private func check(_ segment: String) throws(PathError) {
    // By bytes: to compare as Unicode does costs the square of a run of combining marks.
    let isDots = (1...2).contains(segment.utf8.count) && segment.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    guard !isDots else { throw .dotSegment }
    for byte in segment.utf8 where byte < 0x20 || byte == 0x7F || byte == ASCII.slash || byte == UInt8(ascii: "\\") {
        throw .forbiddenCharacter
    }
}
