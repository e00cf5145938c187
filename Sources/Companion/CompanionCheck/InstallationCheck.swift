package import CompanionCore
package import Foundation
package import HTTPClient
import Languages
import OpenIDConnect
import SessionStore
import WebFormats

/// Checks everything that a configured installation needs: files, keys, database, disk, proxies, providers and
/// registrations. It changes nothing.
package struct InstallationCheck: Sendable {
    private let client: HTTPClient
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - client: the client that connects to the providers.
    ///   - now: the wall clock.
    package init(client: HTTPClient, now: @escaping @Sendable () -> Date = { Date() }) {
        self.client = client
        self.now = now
    }

    /// Returns the report for a configuration that cannot be read: its mistakes.
    package static func report(of mistakes: ConfigurationMistakes) -> CheckReport {
        CheckReport(
            mistakes.all.map { mistake in
                .mistake(
                    "configuration", "\(mistake.key) \(mistake.explanation)",
                    why: "A server of your own does not start with this configuration.",
                    remedy: "Change \(mistake.key) in the configuration file or the environment.")
            })
    }

    /// Runs all checks. This takes as long as the slowest provider, and reads the whole database.
    package func run(_ configuration: CompanionConfiguration) async -> CheckReport {
        // A folder without pages is a mistake of the configuration, or ends the server's start.
        let english = try? Languages(publicFolder: configuration.publicFolder, cookieName: "").source
        async let reports = AuthorityCheck(
            client: client, configuration: configuration, english: english, now: now
        ).run(configuration.applications)
        async let ownAddress = PublicURLProbe(client: client).finding(for: configuration.publicURL)
        let storage = Self.storage(configuration)
        var findings =
            storage.findings + ConfigurationFindings(configuration: configuration, now: now()).general
        if let files = configuration.tls {
            findings += CertificateFindings(files: files, host: configuration.publicURL.host, now: now()).all
        }
        findings += [await ownAddress].compactMap(\.self)
        findings += await reports.flatMap(\.findings)
        for application in configuration.applications {
            findings += Self.signOutClaims(application, storage.latestClaims[application.id])
            findings += Self.authenticationTime(application, storage.latestClaims[application.id], in: configuration)
        }
        let registrations = configuration.applications.map {
            CheckReport.Registration($0, at: configuration.publicURL)
        }
        return CheckReport(findings, registrations: registrations)
    }

    private static func storage(_ configuration: CompanionConfiguration) -> StoreInspection {
        var ring: KeyRing?
        var failure: StoreError?
        do throws(StoreError) {
            ring = try configuration.encryptionKey.loaded()
        } catch {
            failure = error
        }
        return configuration.place.inspect(ring, key: configuration.encryptionKey, failure: failure)
    }

    /// Checks for the optional claim by which a portal can tell that its operator signed in recently.
    static func authenticationTime(
        _ application: Application, _ claims: String?, in configuration: CompanionConfiguration
    ) -> [CheckFinding] {
        guard application.kind == .workforce || application.kind == .external,
            application.admitsOperators(at: configuration.publicURL, mode: configuration.deviceMode),
            claims.flatMap(AuthenticationTime.init(ofValidated:)) == nil
        else { return [] }
        guard claims != nil else {
            return [
                .unknown("auth_time", "Whether ID tokens have the auth_time claim is known after the first sign-in.")
                    .of(application)
            ]
        }
        return [
            .advice(
                "auth_time", "The latest ID token has no auth_time claim.",
                why:
                    "Ending another person's session requires a recent sign-in. Without the claim the time of our own "
                    + "request counts, and the audit log says auth_time=absent.",
                remedy: remedy(forClaim: "auth_time")
            ).of(application)
        ]
    }

    /// Checks for the optional claims that signing out needs. Known only after a sign-in.
    static func signOutClaims(_ application: Application, _ claims: String?) -> [CheckFinding] {
        guard application.kind == .workforce || application.kind == .external, let claims,
            let decoded = JSONValue(parsing: claims.utf8)?.object
        else { return [] }
        let needed = [
            ("login_hint", "Without it, the provider asks which account to sign out."),
            ("sid", "Without it, a sign-out at the provider ends no session here: it names the session by sid."),
        ]
        return needed.filter { decoded[$0.0] == nil }.map { name, why in
            CheckFinding.advice(
                name, "The latest ID token has no \(name) claim.", why: why, remedy: remedy(forClaim: name)
            ).of(application)
        }
    }

    private static func remedy(forClaim name: String) -> String {
        "In the app registration: Token configuration, Add optional claim, token type ID, \(name). It comes with the next sign-in."
    }
}
