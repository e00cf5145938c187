import WebFormats

/// A path on this site to return to after a sign-in (security law 5: an open redirect would help phishing under our
/// name).
package struct ReturnPath: Sendable, Equatable {
    package let text: String

    /// Accepts a path of ours in the form of a `Location` field. Returns nil for anything that a browser could
    /// interpret as another site: a scheme, `//host`, `/\host` or control characters, plain or percent-encoded. Also
    /// returns nil for `/auth/` and `/api/`, which are for scripts and providers: a link to them could do more than it
    /// shows.
    ///
    /// - Parameter prefix: the public URL's path. Other paths on the host are not ours.
    package init?(_ text: String, below prefix: String) {
        guard text.utf8.count <= 512, text.utf8.first == UInt8(ascii: "/"), text.hasPrefix(prefix),
            prefix.isEmpty || ["/", "?", "#", nil].contains(text.dropFirst(prefix.count).first)
        else { return nil }
        var bytes = Array(text.utf8)
        // The text is decoded until it no longer changes, because a proxy may decode it once more than we do.
        for _ in 0..<4 {
            guard ReturnPath.isSafe(bytes, spaces: bytes != Array(text.utf8)), ReturnPath.isPage(bytes, below: prefix)
            else { return nil }
            guard let decoded = PercentDecoding.bytes(bytes) else { return nil }
            if decoded == bytes {
                self.text = text
                return
            }
            bytes = decoded
        }
        return nil
    }

    private static func isSafe(_ bytes: [UInt8], spaces: Bool) -> Bool {
        guard bytes.first == UInt8(ascii: "/"),
            bytes.allSatisfy({ ($0 > 0x20 || spaces && $0 == 0x20) && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return false }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        return segments.allSatisfy { $0 != [0x2E, 0x2E] && $0 != [0x2E] }
            && (segments.count == 1 || segments.first?.isEmpty == false)
    }

    /// Whether the path leads neither to `/auth/` nor to `/api/`, even if a proxy merges two slashes into one.
    private static func isPage(_ bytes: [UInt8], below prefix: String) -> Bool {
        guard bytes.starts(with: prefix.utf8) else { return false }
        let path = bytes.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let first = path.split(separator: UInt8(ascii: "/")).first.map { String(decoding: $0, as: UTF8.self) }
        return first != "auth" && first != "api"
    }
}
