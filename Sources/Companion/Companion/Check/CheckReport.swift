import CompanionCore
import Foundation

/// All findings of `companion check`, as text and as JSON.
package struct CheckReport: Sendable, Encodable, Equatable {
    /// The values to enter in an application's registration, exactly as they must be spelled.
    package struct Registration: Sendable, Encodable, Equatable {
        /// The application's name.
        package let application: String
        /// The application's title on the home page.
        package let title: String
        /// The platform under *Authentication*: a redirect URI of another platform does not count. Nil at a generic
        /// provider, which has no platforms.
        package let platform: String?
        /// The redirect URI.
        package let redirectURI: String
        /// A second redirect URI, to which the provider returns after it has signed the browser out.
        package let signedOutURI: String
        /// The front-channel logout URL.
        package let frontChannelLogoutURL: String

        init(_ application: Application, at url: PublicURL) {
            self.application = application.id
            title = application.title
            platform =
                application.kind == .oidc
                ? nil : application.credential.isConfigured ? "Web" : "Mobile and desktop applications"
            redirectURI = application.registration.redirectURI
            signedOutURI = url.postLogoutRedirectURI
            frontChannelLogoutURL = url.frontChannelLogoutURI
        }

        private enum CodingKeys: String, CodingKey {
            case application, title, platform
            case redirectURI = "redirect_uri"
            case signedOutURI = "post_logout_redirect_uri"
            case frontChannelLogoutURL = "front_channel_logout_uri"
        }
    }

    /// Whether there is no mistake. There may be advice, and things that are not known.
    package let ok: Bool
    /// The number of findings of each severity.
    package let counts: [String: Int]
    /// All findings: mistakes first, then advice, unknown results and good results.
    package let findings: [CheckFinding]
    /// The values to enter in each application's registration.
    package let registrations: [Registration]

    init(_ findings: [CheckFinding], registrations: [Registration] = []) {
        ok = !findings.contains { $0.severity == .mistake }
        counts = Self.counts(of: findings)
        self.findings = CheckFinding.Severity.allCases.flatMap { severity in
            findings.filter { $0.severity == severity }
        }
        self.registrations = registrations
    }

    /// Returns the number of findings of each severity, by its name.
    static func counts(of findings: [CheckFinding]) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: CheckFinding.Severity.allCases.map { severity in
                (severity.rawValue, findings.count { $0.severity == severity })
            })
    }

    /// The report as one JSON object.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// The report as text: the installation, then each application with its registration, mistakes first.
    package var text: String {
        var lines: [String] = []
        let general = findings.filter { $0.application == nil }
        if !general.isEmpty {
            lines.append("This installation")
            general.forEach { lines += Self.lines(of: $0) }
        }
        for registration in registrations {
            let own = findings.filter { $0.application == registration.application }
            let authorities = Set(own.compactMap(\.authority)).sorted()
            lines += ["", "\(registration.application): \(registration.title)"]
            // With several authorities (B2C's user flows), each finding names its own.
            for finding in own { lines += Self.lines(of: finding, namingAuthority: authorities.count > 1) }
            if let authority = authorities.first, authorities.count == 1 { lines.append("  Authority: \(authority)") }
            let platform = registration.platform.map { " (platform \($0))" } ?? ""
            lines += [
                "  Register as redirect URI\(platform): \(registration.redirectURI)",
                "  Register for signing out of the browser: \(registration.signedOutURI)",
                "  Register as front-channel logout URL: \(registration.frontChannelLogoutURL)",
            ]
        }
        lines += ["", summary]
        return lines.drop { $0.isEmpty }.joined(separator: "\n")
    }

    private var summary: String {
        func count(_ severity: CheckFinding.Severity) -> Int { counts[severity.rawValue] ?? 0 }
        let mistakes = count(.mistake)
        let advice = count(.advice) > 0 ? " Advice: \(count(.advice))." : ""
        let unknown = count(.unknown) > 0 ? " Not known: \(count(.unknown))." : ""
        return (mistakes == 0 ? "No errors found." : mistakes == 1 ? "1 error." : "\(mistakes) errors.") + advice
            + unknown
    }

    private static func lines(of finding: CheckFinding, namingAuthority: Bool = false) -> [String] {
        let mark =
            switch finding.severity {
            case .mistake: "ERROR   "
            case .advice: "ADVICE  "
            case .unknown: "unknown "
            case .good: "ok      "
            }
        var place = ""
        if namingAuthority, let authority = finding.authority { place = " (\(authority))" }
        var lines = ["  \(mark)\(finding.subject)\(place): \(finding.what.english)"]
        if let why = finding.why { lines.append("          Why: \(why)") }
        if let remedy = finding.remedy { lines.append("          Fix: \(remedy)") }
        return lines
    }
}
