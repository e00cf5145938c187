package import CompanionCore
import Foundation
import OpenIDConnect

/// The addresses that a kiosk's browser may go to, as policy of Chromium: everything is blocked but ours, the configured
/// authorities', where Microsoft's accounts sign in, and what `kiosk.hosts` names. Policy of the browser, so that neither a
/// link of a sign-in page nor a keyboard leads elsewhere.
package struct KioskPolicy: Sendable, Encodable, Equatable {
    /// Where Microsoft's platforms send people while they sign in: work accounts, personal ones, security keys, silent
    /// sign-on, and proofs that are asked for at the first sign-in.
    private static let microsoftHosts = [
        "account.live.com", "autologon.microsoftazuread-sso.com", "device.login.microsoftonline.com", "login.live.com",
        "login.microsoft.com", "login.microsoftonline.com", "login.windows.net", "mysignins.microsoft.com",
    ]

    /// `URLBlocklist`: everything.
    let blocked = ["*"]
    /// `URLAllowlist`, in Chromium's filter format: a dot before a host leaves out what is below it; without a port, any
    /// would do.
    package let allowed: [String]

    package enum CodingKeys: String, CodingKey {
        case blocked = "URLBlocklist"
        case allowed = "URLAllowlist"
    }

    /// - Returns: nil where no application has the page `kiosk`.
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

    /// One JSON object, as a file in `/etc/chromium/policies/managed` holds it.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
