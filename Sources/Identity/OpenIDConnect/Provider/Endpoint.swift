import WebFormats

/// An absolute `http` or `https` URL of the provider, checked once: it has no user information, no fragment, no spaces,
/// and no `%` without two hexadecimal digits.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// `https` or `http`, in lower case.
    public let scheme: String
    /// The host in lower case; an IPv6 address keeps its brackets.
    public let host: String
    /// The port, when it is not the scheme's default.
    public let port: Int?
    /// The path, at least `/`, still percent-encoded.
    public let path: String
    /// The query without its `?`, still percent-encoded.
    public let query: String?

    /// Parses a URL; nil for anything that is not such a URL.
    public init?(_ text: String) {
        guard text.utf8.count <= 2048, Self.isURI(text) else { return nil }
        guard let schemeEnd = text.firstRange(of: "://") else { return nil }
        scheme = text[..<schemeEnd.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = text[schemeEnd.upperBound...]
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.hostAndPort(rest[..<authorityEnd]) else { return nil }
        self.host = host
        self.port = port == (scheme == "https" ? 443 : 80) ? nil : port
        let target = rest[authorityEnd...]
        // Only an IPv6 address has brackets (RFC 3986 §3.2.2).
        guard !target.utf8.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else { return nil }
        let queryStart = target.firstIndex(of: "?")
        let path = target[..<(queryStart ?? target.endIndex)]
        self.path = path.isEmpty ? "/" : String(path)
        query = queryStart.map { String(target[target.index(after: $0)...]) }
    }

    /// Whether the host is this machine (`Loopback`). Only there is plain http accepted.
    public var isLoopback: Bool { Loopback.contains(host) }

    /// Whether requests to it cannot be read on the way.
    public var isTrustworthy: Bool { scheme == "https" || isLoopback }

    /// The host and port, in the form used in a URL.
    public var authority: String { port.map { "\(host):\($0)" } ?? host }

    /// The scheme, host and port.
    public var origin: String { "\(scheme)://\(authority)" }

    /// The request target.
    public var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }

    /// The whole URL.
    public var description: String { origin + pathAndQuery }

    /// Returns the URL with parameters added after the existing ones.
    func appending(_ parameters: [(name: String, value: String)]) -> String {
        let encoded = FormEncoding.encode(parameters)
        guard let query, !query.isEmpty else { return "\(origin)\(path)?\(encoded)" }
        return "\(origin)\(path)?\(query)&\(encoded)"
    }

    /// Returns the URL with something added to its path.
    public func appending(path more: String) -> Endpoint {
        Endpoint(scheme: scheme, host: host, port: port, path: path + more, query: query)
    }

    /// Returns an endpoint with the same scheme, host and port, another path and no query.
    func replacingPath(_ path: String) -> Endpoint {
        Endpoint(scheme: scheme, host: host, port: port, path: path, query: nil)
    }

    private init(scheme: String, host: String, port: Int?, path: String, query: String?) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }

    /// Whether each character may occur in a URI, and each `%` is followed by two hexadecimal digits (RFC 3986 §2.1).
    private static func isURI(_ text: String) -> Bool {
        var digits = 0
        for byte in text.utf8 {
            guard isAllowed(byte), digits == 0 || Hex.value(of: byte) != nil else { return false }
            digits = byte == UInt8(ascii: "%") ? 2 : max(0, digits - 1)
        }
        return digits == 0
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: (0x21...0x7E).contains(byte)
        }
    }

    private static func hostAndPort(_ text: Substring) -> (String, Int?)? {
        guard !text.contains("@") else { return nil }
        var host = text
        var port: Int?
        let bracket = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[bracket...].lastIndex(of: ":") {
            let digits = text[text.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
                (1...65535).contains(number)
            else { return nil }
            port = number
            host = text[..<colon]
        }
        let name = host.lowercased()
        if name.hasPrefix("[") {
            let inner = name.dropFirst().dropLast()
            guard name.hasSuffix("]"), !inner.isEmpty,
                inner.utf8.allSatisfy({ Hex.value(of: $0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
                )
            else { return nil }
            return (name, port)
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
        }
        return isName ? (name, port) : nil
    }
}
