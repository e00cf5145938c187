import Foundation
import Synchronization
import WebFormats

/// The origins under which the tenant is reached. Its URLs follow the name in the request, as long as it is one of these:
/// a client compares the URLs of one answer with those of another, and with its authority.
package struct Origins: Sendable {
    /// The origin of the request that is worked on; nil outside of a request.
    @TaskLocal package static var current: String?

    /// The names with which this machine calls itself.
    private static let names = ["localhost", "127.0.0.1", "[::1]", Tenant.fabrikamHost]

    /// The origin of requests that do not say one of the others.
    package let main: String
    private let all: [String]

    /// - Parameters:
    ///   - host: The configured host, an IPv6 address in brackets.
    ///   - publicURL: The configured origin.
    package init(scheme: String, host: String, port: Int, publicURL: String?) {
        let suffix = port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)"
        let own = "\(scheme)://\(host)\(suffix)"
        main = publicURL ?? own
        all = [main, own] + Self.names.map { "\(scheme)://\($0)\(suffix)" }
    }

    /// Returns the origin of a request by its `Host`; nil if the request may not be answered.
    ///
    /// The name must be one of ours whatever it resolves to. This protects against DNS rebinding. Another port of
    /// loopback is a published port of a container.
    package func origin(ofHost host: String) -> String? {
        let host = host.lowercased()
        if let known = all.first(where: { $0.authorityOfOrigin == host }) { return known }
        return Loopback.contains(authority: host) ? main : nil
    }
}

/// The origins of a tenant, whose port is known once it listens.
package final class Addresses: Sendable {
    private let known: Mutex<Origins>

    package init(_ origins: Origins) { known = Mutex(origins) }

    /// The origins under which the tenant is reached.
    package var origins: Origins {
        get { known.withLock { $0 } }
        set { known.withLock { $0 = newValue } }
    }

    /// The URL of the tenant as the request named it, or else its main one.
    package var baseURL: String { Origins.current ?? origins.main }

    /// Whether the request came by https, so that cookies may be limited to it.
    package var isSecure: Bool { baseURL.hasPrefix("https:") }

    /// The beginning of the names of cookies. Over https, a tenant that speaks plain http cannot overwrite them; over http
    /// they carry the port, because all ports of a host share their cookies.
    package var cookiePrefix: String {
        isSecure
            ? "__Host-demo-tenant-" : "demo-tenant-\(String(baseURL.reversed().prefix(while: \.isNumber).reversed()))-"
    }

    /// Returns the issuer of version 1 tokens, which is on a host of its own on the real platform.
    package func stsIssuer(ofTenant id: String) -> String { "\(baseURL)/sts/\(id)/" }

    /// Returns the issuer of a tenant. The external tenant's is on another host than its authority, as on the platform; it is
    /// only a name and is never fetched.
    package func issuer(ofTenant id: String) -> String {
        // An address has no names below it.
        guard id == Tenant.fabrikam, !baseURL.authorityOfOrigin.isAddress else { return "\(baseURL)/\(id)/v2.0" }
        // At its own name the tenant's ID stands in the place of the name, as in `ciamlogin.com`.
        let host = baseURL.replacing("://fabrikam.ciamlogin.", with: "://ciamlogin.")
        return "\(host.replacing("://", with: "://\(id)."))/\(id)/v2.0"
    }
}

extension String {
    /// The origin of an http or https URL, in the spelling of the URL; nil for any other text.
    package var webOrigin: String? {
        guard let url = URLComponents(string: self), let scheme = url.scheme, ["http", "https"].contains(scheme),
            let host = url.host
        else { return nil }
        return "\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")"
    }

    /// The host and the port of an origin.
    package var authorityOfOrigin: Substring { drop { $0 != "/" }.dropFirst(2) }
}

extension Substring {
    /// The host of a host and port.
    package var withoutPort: Substring { hasPrefix("[") ? prefix { $0 != "]" } + "]" : prefix { $0 != ":" } }

    /// Whether a host and port are those of an IP address.
    var isAddress: Bool { hasPrefix("[") || prefix { $0 != ":" }.allSatisfy { $0.isNumber || $0 == "." } }
}
