import WebFormats

/// The address under which users see the companion: an origin (RFC 6454) and, if the host also serves something else,
/// a path.
package struct PublicURL: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in lower case, as in a URL (an IPv6 address keeps its brackets).
    package let host: String
    /// The port; nil stands for the scheme's default port.
    package let port: Int?

    /// The origin in the form of an `Origin` field.
    package let origin: String

    /// The path under which everything is served, such as `/companion`; empty if the host serves nothing else. It has
    /// only unreserved characters (RFC 3986 §2.3), so that there is only one spelling.
    package let prefix: String

    /// The origin and the path, without a trailing slash.
    package var address: String { origin + prefix }

    /// Whether cookies must be `Secure`.
    package var isSecure: Bool { scheme == "https" }

    /// The name with which cookies begin. Browsers do not separate the ports of a host (RFC 6265 §8.5), so that over http,
    /// where several servers share localhost, it has the port. `__Host-` makes the browser reject a cookie set by another
    /// host or over plain http (RFC 6265bis §4.1.3.2).
    package var cookieName: String { isSecure ? "__Host-companion" : "companion-\(port ?? 80)" }

    /// The redirect URI that applications share.
    package var redirectURI: String { address + "/auth/callback" }

    /// Returns the redirect URI of one application alone. A response that arrives there was requested by that
    /// application (RFC 9700 §4.4.2).
    package func redirectURI(ofApplication id: String) -> String { "\(address)/auth/\(id)/callback" }

    /// The page to which the browser returns after signing out at the provider.
    package var postLogoutRedirectURI: String { address + "/auth/signed-out" }

    /// The address to which the provider reports sign-outs (OpenID Connect Front-Channel Logout 1.0).
    package var frontChannelLogoutURI: String { address + "/auth/front-channel-logout" }

    /// The reason why a text is not a public URL, for the operator.
    package struct Mistake: Error, Equatable {
        /// The mistake, and what to write instead.
        package let reason: String
    }

    /// Parses an operator's text.
    ///
    /// - Throws: ``Mistake`` if the text is not an origin with a plain path, or if it is `http` and the host is not
    ///   localhost.
    package init(_ text: String) throws(Mistake) {
        guard let separator = text.firstRange(of: "://") else {
            throw Mistake(reason: "is not a URL; write it as https://companion.example.com")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw Mistake(reason: "must begin with https:// (or http://localhost)")
        }
        let all = text[separator.upperBound...]
        guard !all.contains(where: { "?#@\\".contains($0) || $0.isWhitespace }) else {
            throw Mistake(reason: "must have no query, fragment or user: \(scheme)://host[:port][/path]")
        }
        let rest = all.prefix { $0 != "/" }
        let prefix = try PublicURL.prefix(all[rest.endIndex...])
        let colon =
            rest.hasPrefix("[")
            ? rest.firstIndex(of: "]").flatMap { rest[$0...].firstIndex(of: ":") } : rest.firstIndex(of: ":")
        let host = rest[..<(colon ?? rest.endIndex)].lowercased()
        var port: Int?
        if let colon {
            guard let number = Int(digits: rest[rest.index(after: colon)...]), (1...65535).contains(number) else {
                throw Mistake(reason: "has a port that is not a number between 1 and 65535")
            }
            port = number
        }
        guard PublicURL.isHost(host) else {
            throw Mistake(
                reason: "has no valid host: write a name of letters, digits, - and dots, or an IPv6 "
                    + "address in brackets")
        }
        guard scheme == "https" || Loopback.contains(host) else {
            throw Mistake(reason: "must be https:// unless the host is localhost: sign-in cookies need it")
        }
        if port == (scheme == "https" ? 443 : 80) { port = nil }
        self.init(scheme: scheme, host: host, port: port, prefix: prefix)
    }

    /// Returns `http://localhost` or `https://localhost` with a port, for the demo and the tests.
    package static func localhost(port: Int, isSecure: Bool = false) -> PublicURL {
        PublicURL(scheme: isSecure ? "https" : "http", host: "localhost", port: port, prefix: "")
    }

    /// Returns the validated path. A single slash counts as no path.
    private static func prefix(_ path: Substring) throws(Mistake) -> String {
        guard !path.isEmpty, path != "/" else { return "" }
        guard path.last != "/" else { throw Mistake(reason: "has a path that ends with /; remove that slash") }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard segments.allSatisfy(PublicURL.isPlain) else {
            throw Mistake(
                reason: "has a path that cannot be used: between slashes it takes letters, digits and - . _ ~, but not "
                    + "“.” or “..”, for example https://host/companion")
        }
        return String(path)
    }

    /// Whether the text is a host name, or an IPv6 address in brackets, in lower case.
    private static func isHost(_ host: String) -> Bool {
        if host.hasPrefix("[") {
            return host.hasSuffix("]") && AddressRange(String(host.dropFirst().dropLast()))?.isIPv6 ?? false
        }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        }
    }

    private static func isPlain(_ segment: Substring) -> Bool {
        let isUnreserved = segment.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~".utf8.contains(byte)
            }
        }
        return isUnreserved && !segment.isEmpty && segment != "." && segment != ".."
    }

    private init(scheme: String, host: String, port: Int?, prefix: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.prefix = prefix
        origin = "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "")
    }
}

/// The addresses of this server that the server itself writes.
extension PublicURL {
    /// Returns the reason why the path conflicts with these applications' pages; nil if it does not.
    func conflict(with applications: [String]) -> String? {
        guard let segment = prefix.split(separator: "/").first.map(String.init),
            Application.reservedIDs.contains(segment) || applications.contains(segment)
        else { return nil }
        return "has a path that begins with /\(segment), which the companion itself uses; choose another"
    }

    /// The path of the home page.
    package var homePath: String { prefix + "/" }

    /// Returns the path of an application's page.
    package func pagePath(of application: Application) -> String { "\(prefix)/\(application.id)" }

    /// Returns the path at which a sign-in begins.
    package func signInPath(of application: Application, _ fields: [(String, String)]) -> String {
        "\(prefix)/auth/\(application.id)/sign-in?" + FormEncoding.encode(fields)
    }

    /// Returns a request's path without the prefix, whether the proxy has kept or removed it.
    package func ownPath(_ path: String) -> String {
        guard !prefix.isEmpty, path.hasPrefix(prefix) else { return path }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty { return "/" }
        return rest.first == "/" ? String(rest) : path
    }
}
