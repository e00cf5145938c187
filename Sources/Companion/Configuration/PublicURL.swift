/// The origin that users see: scheme, host and port, without a path (RFC 6454).
public struct PublicURL: Sendable, Equatable {
    /// `http` or `https`.
    public let scheme: String
    /// The host, lower-case, as it stands in a URL (an IPv6 address keeps its brackets).
    public let host: String
    /// The port; nil is the scheme's own.
    public let port: Int?

    /// As it stands in an `Origin` field.
    public let origin: String

    /// Whether cookies must be `Secure` and HSTS is sent.
    public var isSecure: Bool { scheme == "https" }

    /// The one redirect URI of every application.
    public var redirectURI: String { origin + "/auth/callback" }

    /// Why a text is not a public URL, for the operator.
    public struct Mistake: Error, Equatable {
        /// What is wrong and what to write instead.
        public let reason: String
    }

    /// Takes an operator's text apart.
    ///
    /// - Throws: ``Mistake`` when it is no origin, or when it is `http` and not localhost.
    public init(_ text: String) throws(Mistake) {
        guard let separator = text.firstRange(of: "://") else {
            throw Mistake(reason: "is not a URL; write it as https://companion.example.com")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Mistake(reason: "must begin with https:// (or http://localhost)")
        }
        var rest = text[separator.upperBound...]
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.contains(where: { "/?#@\\".contains($0) || $0.isWhitespace }) else {
            throw Mistake(reason: "must be an origin alone, without a path, query or user: \(scheme)://host[:port]")
        }
        let colon =
            rest.hasPrefix("[")
            ? rest.firstIndex(of: "]").flatMap { rest[$0...].firstIndex(of: ":") } : rest.firstIndex(of: ":")
        let host = rest[..<(colon ?? rest.endIndex)].lowercased()
        var port: Int?
        if let colon {
            guard let number = Int(rest[rest.index(after: colon)...]), (1...65535).contains(number) else {
                throw Mistake(reason: "has a port that is not a number between 1 and 65535")
            }
            port = number
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Mistake(reason: "has no host, or one that is not ASCII")
        }
        guard scheme == "https" || PublicURL.isLoopback(host) else {
            throw Mistake(reason: "must be https:// unless the host is localhost: sign-in cookies need it")
        }
        if port == (scheme == "https" ? 443 : 80) { port = nil }
        self.init(scheme: scheme, host: host, port: port)
    }

    /// `http://localhost` at a port, which is where the demo and the tests live.
    public static func localhost(port: Int) -> PublicURL {
        PublicURL(scheme: "http", host: "localhost", port: port)
    }

    private init(scheme: String, host: String, port: Int?) {
        self.scheme = scheme
        self.host = host
        self.port = port
        origin = "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "")
    }

    /// Whether a host's name can only mean this machine.
    static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1" || host == "[::1]"
    }
}
