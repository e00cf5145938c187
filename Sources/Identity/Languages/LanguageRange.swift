/// One member of `Accept-Language` (RFC 9110 section 12.5.4), such as `sv;q=0.8`.
///
/// Any client can send this field, but browsers send short ones. It is therefore parsed in one pass and within limits.
struct LanguageRange: Equatable {
    /// The maximum number of members. Further ones are ignored.
    private static let maxRanges = 16
    /// The minimum length that RFC 5646 section 4.4.1 requires. A longer range is skipped.
    private static let maxBytes = 35
    private static let maxSubtags = 8

    /// The range's bytes with ASCII letters in lower case.
    let lowercased: [UInt8]
    /// The weight, above 0 and normally at most 1.
    let weight: Double

    /// Returns the valid members with a weight above 0, in the order of the field.
    static func all(in field: String) -> [LanguageRange] {
        field.utf8.split(separator: UInt8(ascii: ","), maxSplits: maxRanges).prefix(maxRanges).compactMap {
            LanguageRange($0)
        }
    }

    private init?(_ member: Substring.UTF8View) {
        let parts = member.split(separator: UInt8(ascii: ";"), maxSplits: 2)
        guard let range = parts.first?.drop(while: Self.isBlank).prefix(while: { !Self.isBlank($0) }),
            (1...Self.maxBytes).contains(range.count),
            range.count(where: { $0 == UInt8(ascii: "-") }) < Self.maxSubtags
        else { return nil }
        lowercased = range.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard parts.count > 1 else {
            weight = 1
            return
        }
        let quality = parts[1].drop(while: Self.isBlank).prefix { !Self.isBlank($0) }
        guard quality.starts(with: "q=".utf8), let weight = Self.weight(quality.dropFirst(2)), weight > 0 else {
            return nil
        }
        self.weight = weight
    }

    /// Parses digits and a point. RFC 9110 section 12.4.2 allows one digit and up to three decimals.
    private static func weight(_ text: Substring.UTF8View) -> Double? {
        guard text.count <= 8, text.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        return Double(Substring(text))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
