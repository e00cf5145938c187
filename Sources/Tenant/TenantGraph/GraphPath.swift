import HTTPWire
import WebFormats

/// The path of a resource below `/v1.0`. A key in parentheses is one more part: `users('x')` is `users/x`.
package struct GraphPath: Sendable, Hashable {
    /// The decoded parts, without the ones that follow a collection.
    let parts: [String]
    /// The type of the elements that are asked for, such as `group`; nil if it is not restricted.
    let cast: String?
    /// Whether the number of elements is asked for.
    let isCount: Bool

    /// - Parameter segments: The decoded segments.
    package init(_ segments: some Sequence<String>) {
        var segments = Array(segments)
        // Microsoft's tutorials call `/me/`, with a slash at the end.
        if segments.last == "" { segments.removeLast() }
        var parts = segments.flatMap(Self.parts)
        isCount = parts.count > 1 && parts.last == "$count"
        if isCount { parts.removeLast() }
        let prefix = "microsoft.graph."
        if parts.count > 1, let last = parts.last, last.hasPrefix(prefix) {
            cast = String(last.dropFirst(prefix.count))
            parts.removeLast()
        } else {
            cast = nil
        }
        self.parts = parts
    }

    /// Reads the path of a request in a batch; nil if it is not below `/v1.0`.
    init?(_ head: RequestHead) {
        guard let path = try? PercentDecoding.decode(head.path.utf8) else { return nil }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.prefix(2) == ["", "v1.0"] else { return nil }
        self.init(segments.dropFirst(2))
    }

    /// Whether it is the signed-in person, whose requests are counted.
    package var isMe: Bool { parts.count == 1 && parts[0].lowercased() == "me" && cast == nil && !isCount }

    /// Whether it is a batch, whose requests are judged one by one.
    var isBatch: Bool { parts == ["$batch"] }

    private static func parts(_ segment: String) -> [String] {
        guard segment.hasSuffix(")"), let open = segment.firstIndex(of: "("), open > segment.startIndex else {
            return [segment]
        }
        return [String(segment[..<open]), unquoted(segment[open...].dropFirst().dropLast())]
    }

    /// Returns a quoted text without its quotes, anything else unchanged.
    static func unquoted(_ text: some StringProtocol) -> String {
        guard text.utf8.count > 1, text.hasPrefix("'"), text.hasSuffix("'") else { return String(text) }
        return String(text.dropFirst().dropLast()).replacing("''", with: "'")
    }
}
