package import CompanionCore
package import Foundation

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

    package init(_ findings: [CheckFinding], registrations: [Registration] = []) {
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

    /// Returns the report as text: a table with a line for each application, then the mistakes and advice, and the
    /// values to register.
    ///
    /// - Parameters:
    ///   - isVerbose: whether it has the unknown and the good results, too.
    ///   - now: the time from which days are counted.
    package func text(isVerbose: Bool = false, at now: Date = Date()) -> String {
        let places = [nil] + registrations.map(Optional.some)
        // A configuration that cannot be read has no applications.
        var lines = registrations.isEmpty ? [] : table(places, at: now)
        for place in places {
            let own = findings.filter { finding in
                finding.application == place?.application && (isVerbose || finding.severity.isProblem)
            }
            guard !own.isEmpty else { continue }
            lines += ["", place.map { "\($0.application): \($0.title)" } ?? "This installation"]
            let authorities = Set(own.compactMap(\.authority)).sorted()
            // With several authorities (B2C's user flows), each finding names its own.
            for finding in own { lines += Self.lines(of: finding, namingAuthority: authorities.count > 1) }
            if let authority = authorities.first, authorities.count == 1 { lines.append("  Authority: \(authority)") }
        }
        lines += toRegister + ["", summary(isVerbose: isVerbose)]
        return lines.drop { $0.isEmpty }.joined(separator: "\n")
    }

    /// The whole problem stands below the table.
    private static let maxProblem = 80

    /// One line for each place: how it is, the days until the first of its credentials ends, and its first problem.
    private func table(_ places: [Registration?], at now: Date) -> [String] {
        let rows = [["", "State", "Days", "First problem"]] + places.compactMap { row($0, at: now) }
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) } + row.suffix(1)
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Returns nil for a place about which nothing was found.
    private func row(_ place: Registration?, at now: Date) -> [String]? {
        let own = findings.filter { $0.application == place?.application }
        guard let worst = own.first else { return nil }
        let days = own.compactMap(\.expires).min().map(now.days)
        let unknown = own.filter { $0.severity == .unknown }.map(\.subject)
        let (state, problem) =
            worst.severity.isProblem
            ? (worst.severity == .mistake ? "ERROR" : "ADVICE", "\(worst.subject): \(worst.what.english)")
            // Nobody has seen that it works, so it is not said to be good.
            : unknown.isEmpty ? ("ok", "") : ("no problem found", "not known: \(unknown.joined(separator: ", "))")
        let short = problem.count <= Self.maxProblem ? problem : problem.prefix(Self.maxProblem - 1) + "…"
        return [place?.application ?? "This installation", state, days.map(String.init) ?? "", short]
    }

    /// The values to enter at the provider, each once.
    private var toRegister: [String] {
        guard !registrations.isEmpty else { return [] }
        func lines(_ title: String, _ value: (Registration) -> String) -> [String] {
            var seen: Set<String> = []
            return registrations.map(value).filter { seen.insert($0).inserted }.map { text in
                let of = registrations.filter { value($0) == text }
                let names =
                    of.count == registrations.count ? "" : " of \(of.map(\.application).joined(separator: ", "))"
                return "  \(title)\(names): \(text)"
            }
        }
        return ["", "Register at the provider"]
            + lines("Redirect URI") { $0.redirectURI + ($0.platform.map { " (platform \($0))" } ?? "") }
            + lines("For signing out of the browser", \.signedOutURI)
            + lines("Front-channel logout URL", \.frontChannelLogoutURL)
    }

    private func summary(isVerbose: Bool) -> String {
        func count(_ severity: CheckFinding.Severity) -> Int { counts[severity.rawValue] ?? 0 }
        let mistakes = count(.mistake)
        let advice = count(.advice) > 0 ? " Advice: \(count(.advice))." : ""
        let unknown = count(.unknown) > 0 ? " Not known: \(count(.unknown))." : ""
        let more = isVerbose || registrations.isEmpty ? "" : " With --verbose, everything that was checked."
        return (mistakes == 0 ? "No errors found." : mistakes == 1 ? "1 error." : "\(mistakes) errors.") + advice
            + unknown + more
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
