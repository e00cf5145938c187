import Foundation
import WebFormats

/// The origins under which the tenant is reached. Its URLs follow the name in the request, as long as it is one of these:
/// a client compares the URLs of one answer with those of another, and with its authority.
struct Origins: Sendable {
    /// The origin of the request that is worked on; nil outside of a request.
    @TaskLocal static var current: String?

    /// The names with which this machine calls itself.
    private static let names = ["localhost", "127.0.0.1", "[::1]"]

    /// The origin of requests that do not say one of the others.
    let main: String
    private let all: [String]

    /// - Parameters:
    ///   - host: The configured host, an IPv6 address in brackets.
    ///   - publicURL: The configured origin.
    init(scheme: String, host: String, port: Int, publicURL: String?) {
        let suffix = port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)"
        let own = "\(scheme)://\(host)\(suffix)"
        main = publicURL ?? own
        all = [main, own] + Self.names.map { "\(scheme)://\($0)\(suffix)" }
    }

    /// Returns the origin of a request by its `Host`; nil if the request may not be answered.
    ///
    /// The name must be one of ours whatever it resolves to. This protects against DNS rebinding. Another port of
    /// loopback is a published port of a container.
    func origin(ofHost host: String) -> String? {
        let host = host.lowercased()
        if let known = all.first(where: { $0.authorityOfOrigin == host }) { return known }
        return Loopback.contains(authority: host) ? main : nil
    }

    /// Whether cookies may be limited to https.
    var isSecure: Bool { main.hasPrefix("https:") }
}

extension String {
    /// The origin of an http or https URL, in the spelling of the URL; nil for any other text.
    var webOrigin: String? {
        guard let url = URLComponents(string: self), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host
        else { return nil }
        return "\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")"
    }

    /// The host and the port of an origin.
    var authorityOfOrigin: Substring { drop { $0 != "/" }.dropFirst(2) }
}

extension Substring {
    /// The host of a host and port.
    var withoutPort: Substring { hasPrefix("[") ? prefix { $0 != "]" } + "]" : prefix { $0 != ":" } }

    /// Whether a host and port are those of an IP address.
    var isAddress: Bool { hasPrefix("[") || prefix { $0 != ":" }.allSatisfy { $0.isNumber || $0 == "." } }
}
