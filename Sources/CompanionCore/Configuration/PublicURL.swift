import WebFormats

/// The address under which users see the companion: an origin (RFC 6454) and, where it shares its host with others, a
/// path.
package struct PublicURL: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// The host, lower-case, as it stands in a URL (an IPv6 address keeps its brackets).
    package let host: String
    /// The port; nil is the scheme's own.
    package let port: Int?

    /// As it stands in an `Origin` field.
    package let origin: String

    /// The path below which everything of ours is, as `/companion`; empty when the host is ours alone. Only unreserved
    /// characters (RFC 3986 §2.3), so that it has one spelling.
    package let prefix: String

    /// Origin and path, without a slash at the end.
    package var address: String { origin + prefix }

    /// Whether cookies must be `Secure` and HSTS is sent.
    package var isSecure: Bool { scheme == "https" }

    /// The redirect URI that applications share.
    package var redirectURI: String { address + "/auth/callback" }

    /// The redirect URI of one application alone: a provider's answer that comes to it was asked for by that application
    /// (RFC 9700 §4.4.2).
    package func redirectURI(ofApplication id: String) -> String { "\(address)/auth/\(id)/callback" }

    /// Where the browser may come back to after signing out at the provider.
    package var postLogoutRedirectURI: String { address + "/auth/signed-out" }

    /// Where the provider reports sign-outs (OpenID Connect Front-Channel Logout 1.0).
    package var frontChannelLogoutURI: String { address + "/auth/front-channel-logout" }

    /// Why a text is not a public URL, for the operator.
    package struct Mistake: Error, Equatable {
        /// What is wrong and what to write instead.
        package let reason: String
    }

    /// Takes an operator's text apart.
    ///
    /// - Throws: ``Mistake`` when it is no origin with a plain path, or when it is `http` and not localhost.
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
                reason: "has no host that a browser takes: write a name of letters, digits, - and dots, or an IPv6 "
                    + "address in brackets")
        }
        guard scheme == "https" || Loopback.contains(host) else {
            throw Mistake(reason: "must be https:// unless the host is localhost: sign-in cookies need it")
        }
        if port == (scheme == "https" ? 443 : 80) { port = nil }
        self.init(scheme: scheme, host: host, port: port, prefix: prefix)
    }

    /// `http://localhost` at a port, which is where the demo and the tests live.
    package static func localhost(port: Int) -> PublicURL {
        PublicURL(scheme: "http", host: "localhost", port: port, prefix: "")
    }

    /// A lone slash is no path.
    private static func prefix(_ path: Substring) throws(Mistake) -> String {
        guard !path.isEmpty, path != "/" else { return "" }
        guard path.last != "/" else { throw Mistake(reason: "has a path that ends with /; leave that slash away") }
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard segments.allSatisfy(PublicURL.isPlain) else {
            throw Mistake(
                reason: "has a path that cannot be used: between slashes it takes letters, digits and - . _ ~, but not "
                    + "“.” or “..”, as https://host/companion")
        }
        return String(path)
    }

    /// A name, or an IPv6 address in brackets, in lower case.
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

/// The addresses of ours that the server itself writes.
extension PublicURL {
    /// Why it cannot be the address of these applications' pages; nil when it can.
    func conflict(with applications: [String]) -> String? {
        guard let segment = prefix.split(separator: "/").first.map(String.init),
            Application.reservedIDs.contains(segment) || applications.contains(segment)
        else { return nil }
        return "has a path that begins with /\(segment), which the companion itself uses; choose another"
    }

    /// The home page.
    package var homePath: String { prefix + "/" }

    /// An application's page.
    package func pagePath(of application: Application) -> String { "\(prefix)/\(application.id)" }

    /// Where a sign-in begins.
    package func signInPath(of application: Application, _ fields: [(String, String)]) -> String {
        "\(prefix)/auth/\(application.id)/sign-in?" + FormEncoding.encode(fields)
    }

    /// A request's path below the prefix, whether the front has passed that on or taken it away.
    package func ownPath(_ path: String) -> String {
        guard !prefix.isEmpty, path.hasPrefix(prefix) else { return path }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty { return "/" }
        return rest.first == "/" ? String(rest) : path
    }
}
