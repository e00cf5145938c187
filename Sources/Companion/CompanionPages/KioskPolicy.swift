package import CompanionCore
import Foundation
import OpenIDConnect

/// A Chromium policy with the addresses that a kiosk's browser may visit. It blocks everything except this server,
/// the configured authorities, Microsoft's sign-in hosts and `kiosk.hosts`. Because the browser enforces it, neither
/// a link on a sign-in page nor the keyboard leads anywhere else.
package struct KioskPolicy: Sendable, Encodable, Equatable {
    /// The hosts to which Microsoft's platforms redirect people during a sign-in: work accounts, personal accounts,
    /// security keys, silent sign-on, and the registration of proofs at the first sign-in.
    private static let microsoftHosts = [
        "account.live.com", "autologon.microsoftazuread-sso.com", "device.login.microsoftonline.com", "login.live.com",
        "login.microsoft.com", "login.microsoftonline.com", "login.windows.net", "mysignins.microsoft.com",
    ]

    /// `URLBlocklist`: everything.
    let blocked = ["*"]
    /// `URLAllowlist`, in Chromium's filter format: a leading dot excludes subdomains, and an entry without a port
    /// allows every port.
    package let allowed: [String]

    package enum CodingKeys: String, CodingKey {
        case blocked = "URLBlocklist"
        case allowed = "URLAllowlist"
    }

    /// - Returns: nil if no application has the page `kiosk`.
    package init?(_ configuration: CompanionConfiguration) {
        guard configuration.applications.contains(where: { $0.page == .kiosk }) else { return nil }
        let own = configuration.publicURL
        let authorities = configuration.applications.flatMap { application in
            Application.UserFlow.allCases.compactMap(application.authority(of:)).map(\.origin)
        }
        let isMicrosoft = configuration.applications.contains { $0.kind != .oidc }
        let hosts = (isMicrosoft ? Self.microsoftHosts : []) + configuration.kioskHosts
        let others = authorities + hosts.map { "https://" + $0.lowercased() }
        allowed = [Self.filter(own.origin) + own.prefix] + Set(others.map(Self.filter)).sorted()
    }

    private static func filter(_ origin: String) -> String {
        let isSecure = origin.hasPrefix("https://")
        let host = origin.dropFirst(isSecure ? 8 : 7)
        let hasPort = host.split(separator: "]").last?.contains(":") ?? false
        let name = host.hasPrefix("*.") ? String(host.dropFirst(2)) : "." + host
        return (isSecure ? "https://" : "http://") + name + (hasPort ? "" : isSecure ? ":443" : ":80")
    }

    /// The policy as one JSON object, in the form of a file in `/etc/chromium/policies/managed`.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
