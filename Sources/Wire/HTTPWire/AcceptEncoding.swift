/// A content coding that a response's content can have (RFC 9110 section 8.4.1).
public enum ContentCoding: String, Sendable, CaseIterable {
    /// Brotli (RFC 7932).
    case brotli = "br"
    /// gzip (RFC 1952).
    case gzip
}

/// The codings that a client accepts, with its preferences: an `Accept-Encoding` field (RFC 9110 section 12.5.3).
///
/// Anyone may send this field, so it is read in one pass and within limits. Malformed members are ignored.
public struct AcceptEncoding: Sendable, Equatable {
    /// The number of members that are read.
    private static let maxMembers = 16

    // Weights in thousandths; nil for a coding without one.
    private var brotli: Int?
    private var gzip: Int?
    private var identity: Int?
    private var others: Int?

    /// Reads a field's value.
    public init(_ field: String) {
        for member in field.utf8.split(separator: UInt8(ascii: ","), maxSplits: Self.maxMembers).prefix(Self.maxMembers)
        {
            let parts = member.split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.map(Self.trimmed), let weight = Self.weight(parts.dropFirst().first) else {
                continue
            }
            switch name.count {
            case 1 where name.first == UInt8(ascii: "*"): others = weight
            case 2 where Self.is(name, "br"): brotli = weight
            // A recipient treats x-gzip as gzip (section 8.4.1.3).
            case 4 where Self.is(name, "gzip"), 6 where Self.is(name, "x-gzip"): gzip = weight
            case 8 where Self.is(name, "identity"): identity = weight
            default: break
            }
        }
    }

    /// Returns the coding that suits the client best; nil for no coding.
    ///
    /// - Parameter offered: the available codings, the best first; their order decides between equal weights.
    public func best(of offered: some Sequence<ContentCoding>) -> ContentCoding? {
        var best: (coding: ContentCoding, weight: Int)?
        for coding in offered {
            let weight = weight(of: coding)
            // Content without a coding is accepted unless another weight is named; compressed content arrives sooner.
            if weight > 0, weight >= identity ?? 0, weight > best?.weight ?? 0 { best = (coding, weight) }
        }
        return best?.coding
    }

    private func weight(of coding: ContentCoding) -> Int {
        switch coding {
        case .brotli: brotli ?? others ?? 0
        case .gzip: gzip ?? others ?? 0
        }
    }

    /// Reads `q=` with one digit and up to three decimals, at most 1 (section 12.4.2); 1 if there is no parameter. Nil
    /// for anything else.
    private static func weight(_ parameter: Substring.UTF8View?) -> Int? {
        guard let parameter else { return 1000 }
        let text = trimmed(parameter)
        guard text.count >= 3, `is`(text.prefix(2), "q=") else { return nil }
        let digits = text.dropFirst(2)
        let decimals = digits.dropFirst(2)
        guard let whole = digits.first, whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1"),
            digits.count == 1 || digits.dropFirst().first == UInt8(ascii: "."), decimals.count <= 3
        else { return nil }
        var weight = Int(whole - UInt8(ascii: "0")) * 1000
        var unit = 100
        for decimal in decimals {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(decimal) else { return nil }
            weight += Int(decimal - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return weight <= 1000 ? weight : nil
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var text = text.drop(while: ASCII.isBlank)
        while let last = text.last, ASCII.isBlank(last) { text = text.dropLast() }
        return text
    }

    /// Whether the texts are equal except for the case of ASCII letters. `name` is in lower case.
    private static func `is`(_ text: Substring.UTF8View, _ name: StaticString) -> Bool {
        name.withUTF8Buffer { name in
            text.elementsEqual(name) { $0 == $1 || (0x41...0x5A).contains($0) && $0 | 0x20 == $1 }
        }
    }
}
