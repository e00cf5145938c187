/// The versions that this module supports.
public enum HTTPVersion: UInt8, Sendable, Hashable {
    case http10, http11

    /// Returns true for `HTTP/1.1` and false for `HTTP/1.0`; another number is not supported, and anything else is
    /// malformed.
    static func isHTTP11(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(WireError) -> Bool {
        guard range.count > name.utf8CodeUnitCount, begins(bytes.extracting(range)) else { throw .invalidVersion }
        let number = (range.lowerBound + name.utf8CodeUnitCount)..<range.upperBound
        if number.count == 3, bytes[number.lowerBound] == UInt8(ascii: "1"),
            bytes[number.lowerBound + 1] == UInt8(ascii: ".")
        {
            switch bytes[number.lowerBound + 2] {
            case UInt8(ascii: "1"): return true
            case UInt8(ascii: "0"): return false
            default: break
            }
        }
        for index in number where !ASCII.isDigit(bytes[index]) && bytes[index] != UInt8(ascii: ".") {
            throw .invalidVersion
        }
        throw .unsupportedVersion
    }

    /// Whether `bytes` are the beginning of a version, as far as they go.
    static func begins(_ bytes: Span<UInt8>) -> Bool {
        name.withUTF8Buffer { name in
            for index in 0..<min(name.count, bytes.count) where bytes[index] != name[index] { return false }
            return true
        }
    }

    private static var name: StaticString { "HTTP/" }
}

/// The framing of a message's body (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Hashable {
    /// There is no body, or Content-Length is 0.
    case none
    /// Content-Length bytes.
    case length(Int)
    /// `Transfer-Encoding: chunked`.
    case chunked
    /// Everything until the connection ends. This is only possible for a response's body.
    case untilClose
}
