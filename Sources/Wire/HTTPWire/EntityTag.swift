/// An entity tag (RFC 9110 §8.8.3): `"abc"`, or `W/"abc"` for a weak one.
public struct EntityTag: Sendable, Hashable {
    /// Whether equal tags only mean equivalent content, not equal bytes.
    public let isWeak: Bool
    /// The text between the quotes.
    public let opaque: String

    /// Parses a tag, including its quotes; nil when it is not one.
    public init?(_ text: String) {
        var reader = EntityTagReader(rest: Array(text.utf8)[...])
        guard let tag = reader.next(), reader.rest.isEmpty else { return nil }
        self = tag
    }

    /// Creates a strong tag; nil when `opaque` has a character that a tag cannot have.
    public init?(strong opaque: String) {
        guard opaque.utf8.allSatisfy(EntityTagReader.isTagByte) else { return nil }
        self.init(isWeak: false, opaque: opaque)
    }

    init(isWeak: Bool, opaque: String) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    /// The field's value.
    public var text: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Whether both are strong and equal, which means equal bytes (for ranges and If-Match).
    public func stronglyMatches(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && weaklyMatches(other) }

    /// Whether both are equal apart from weakness (for If-None-Match). Compared by bytes: strings that look alike may
    /// be different tags.
    public func weaklyMatches(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }
}

/// The tags in If-Match and If-None-Match.
enum EntityTagList {
    case any
    case tags([EntityTag])

    /// Parses `*` or a comma-separated list; nil when it is neither.
    init?(_ text: String) {
        var reader = EntityTagReader(rest: Array(text.utf8)[...])
        reader.skip { ASCII.isBlank($0) }
        if reader.rest.first == UInt8(ascii: "*") {
            reader.rest = reader.rest.dropFirst()
            reader.skip { ASCII.isBlank($0) }
            guard reader.rest.isEmpty else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        while true {
            // Empty members are allowed (RFC 9110 §5.6.1.2).
            reader.skip { ASCII.isBlank($0) || $0 == ASCII.comma }
            if reader.rest.isEmpty { break }
            guard let tag = reader.next() else { return nil }
            tags.append(tag)
            reader.skip { ASCII.isBlank($0) }
            guard reader.rest.isEmpty || reader.rest.first == ASCII.comma else { return nil }
        }
        self = .tags(tags)
    }
}

private struct EntityTagReader {
    var rest: ArraySlice<UInt8>

    mutating func next() -> EntityTag? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        let opaque = rest.dropFirst().prefix(while: Self.isTagByte)
        guard opaque.endIndex < rest.endIndex, rest[opaque.endIndex] == UInt8(ascii: "\"") else { return nil }
        rest = rest[(opaque.endIndex + 1)...]
        return EntityTag(isWeak: isWeak, opaque: String(decoding: opaque, as: UTF8.self))
    }

    mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }

    /// Whether the byte is an `etagc`: visible, but not the quote, or at least 0x80.
    static func isTagByte(_ byte: UInt8) -> Bool { byte == 0x21 || (byte >= 0x23 && byte != 0x7F) }
}
