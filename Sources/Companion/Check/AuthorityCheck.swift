package import CompanionCore
import CompanionSignIn
import EventLoop
package import Foundation
package import HTTPClient
import HTTPTypes
import HTTPWire
import OpenIDConnect

/// Tries everything that a sign-in with each application needs: discovery, issuer, keys, clock, and the application's
/// credential.
package struct AuthorityCheck: Sendable {
    /// The findings for one application at one authority.
    package struct Report: Sendable {
        /// The application.
        package let application: Application
        /// The authority. Each user flow of B2C has its own.
        package let authority: String
        /// One finding for each check. Pages show them, so all are made in this file, where the tests look for
        /// sentences that need translations.
        package fileprivate(set) var findings: [CheckFinding] = []
        /// The worst severity; what only a sign-in or a permission could show does not count.
        package var state: CheckFinding.Severity {
            findings.contains { $0.severity == .mistake }
                ? .mistake : findings.contains { $0.severity == .advice } ? .advice : .good
        }
        /// Whether nothing has to be done.
        package var isHealthy: Bool { state == .good }

        fileprivate mutating func add(_ finding: CheckFinding) {
            findings.append(finding.of(application, authority: authority))
        }
    }

    /// The largest clock difference that ID-token checks allow.
    private static let maxClockSkew: TimeInterval = 300
    /// Above this difference the check warns: a clock synchronized over the network is off by less than a second.
    private static let worryingClockSkew: TimeInterval = 120
    /// The time before a credential expires at which the check starts to warn.
    static let expiryWarning: TimeInterval = 30 * 86_400

    private let client: HTTPClient
    private let registration: @Sendable (Application) -> CheckReport.Registration
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - client: the client that connects to the providers.
    ///   - configuration: the configuration with the addresses that registrations must have.
    ///   - now: the wall clock.
    package init(
        client: HTTPClient, configuration: CompanionConfiguration, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client
        let url = configuration.publicURL
        registration = { CheckReport.Registration($0, at: url) }
        self.now = now
    }

    /// Checks all applications concurrently, so that a slow provider delays no other check.
    package func run(_ applications: [Application]) async -> [Report] {
        let targets = applications.flatMap { application in
            Application.UserFlow.allCases.compactMap { flow in application.authority(of: flow).map { (application, $0) }
            }
        }
        return await withTaskGroup(of: (Int, Report).self) { group in
            for (index, (application, authority)) in targets.enumerated() {
                group.addTask { (index, await check(application, at: authority)) }
            }
            var reports: [Int: Report] = [:]
            for await (index, report) in group { reports[index] = report }
            return reports.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func check(_ application: Application, at authority: Authority) async -> Report {
        var report = Report(application: application, authority: authority.description)
        checkCredential(of: application, &report)
        guard await reach(authority, &report) else { return report }
        // A fresh directory, because the running server's cache would hide the provider's present state.
        let directory = ProviderDirectory(transport: { try await client.send($0) }, now: now)
        guard let metadata = await metadata(of: authority, directory, &report) else { return report }
        await checkKeys(of: metadata, directory, &report)
        await checkRegistration(directory, &report)
        if application.kind == .oidc, metadata.pushedAuthorizationEndpoint != nil {
            report.add(.good("par", "The provider takes the parameters of a sign-in in advance (PAR)."))
        }
        if application.kind == .oidc, application.api == nil, metadata.userInfoEndpoint == nil {
            report.add(
                .mistake(
                    "user_info", "The provider has no UserInfo endpoint. Configure api instead.",
                    why: "The page has nothing to call after signing in.",
                    remedy: "Set apps.\(application.id).api to an API that accepts the provider's access tokens."))
        }
        return report
    }

    /// Returns whether the authority responds at all.
    private func reach(_ authority: Authority, _ report: inout Report) async -> Bool {
        do throws(HTTPClientError) {
            checkClock(try await client.send(authority.discoveryRequest.head).head, &report)
            return true
        } catch {
            report.add(
                .mistake(
                    "discovery", "The authority cannot be reached: \(error.reason)",
                    why: "Without the provider nobody can sign in, and no token is renewed.",
                    remedy: CheckFinding.remedy(reaching: "\(authority)/")))
            return false
        }
    }

    /// Returns nil when the metadata cannot be used.
    private func metadata(
        of authority: Authority, _ directory: ProviderDirectory, _ report: inout Report
    ) async -> ProviderMetadata? {
        do throws(OpenIDError) {
            let metadata = try await directory.metadata(for: authority)
            report.add(.good("discovery", "The authority responds. Its issuer is \(metadata.issuer)."))
            return metadata
        } catch {
            report.add(
                .mistake(
                    "discovery", "The authority's metadata cannot be used: \(error.description)",
                    why: "Nobody can sign in, because the endpoints and the issuer come from there.",
                    remedy: error.isTransient
                        ? "Look at the provider's status page, and try again in a few minutes."
                        : "Compare authority and kind with the app registration's Endpoints page."))
            return nil
        }
    }

    /// Compares the configuration with the registration, if the application may read it. What the registration says about
    /// the credential replaces a date that the operator has typed.
    private func checkRegistration(_ directory: ProviderDirectory, _ report: inout Report) async {
        let application = report.application
        guard application.isAppOnlyAllowed, authorityIsFirst(report) else { return }
        let probe = DirectoryProbe(client: client, directory: directory, now: now)
        do throws(DirectoryProbe.Obstacle) {
            let (registered, graphScopes) = try await probe.registration(of: application)
            let findings = RegistrationFindings(
                application: application, registered: registered, wanted: registration(application),
                credential: probe.credential(of: application), graphScopes: graphScopes, now: now()
            ).all
            if findings.contains(where: { $0.subject == "credential" }) {
                report.findings.removeAll { $0.subject == "credential" }
            }
            for finding in findings { report.add(finding) }
            if let granted = await probe.grantedScopes(of: application) {
                report.add(
                    granted.isEmpty
                        ? .good("consent", "No administrator has consented for everyone, so each person is asked.")
                        : .good(
                            "consent",
                            "An administrator has consented for everyone: \(granted.sorted().joined(separator: ", ")).")
                )
            }
        } catch {
            switch error {
            case .forbidden:
                report.add(
                    .unknown(
                        "registration",
                        "The application may not read its own registration. It needs the application permission Application.Read.All, with an administrator's consent."
                    ))
            case .unavailable(let reason):
                report.add(.unknown("registration", "The app registration cannot be read now: \(reason)"))
            }
        }
    }

    /// Whether this is the authority of the application's sign-in; its registration is compared once.
    private func authorityIsFirst(_ report: Report) -> Bool {
        report.authority == report.application.authority.description
    }

    private func checkKeys(
        of metadata: ProviderMetadata, _ directory: ProviderDirectory, _ report: inout Report
    ) async {
        do throws(OpenIDError) {
            _ = try await directory.signingKeys(of: metadata)
            report.add(.good("keys", "The provider's signing keys can be read."))
        } catch {
            report.add(
                .mistake(
                    "keys", "The provider's signing keys cannot be used: \(error.description)",
                    why: "Nobody can sign in, because ID tokens cannot be checked without the keys.",
                    remedy: "Try again in a minute. If it happens again, the provider has to fix it."))
        }
    }

    private func checkClock(_ head: HTTPResponse, _ report: inout Report) {
        guard let skew = head.clockSkew(at: now()) else { return }
        let why = "An ID token is valid only between two times, with 5 minutes' leeway."
        let remedy =
            "Have the clock set from the network: where systemd does that, with `timedatectl set-ntp true`. A "
            + "container has the clock of the machine that it runs on, so set it there."
        if abs(skew) > AuthorityCheck.maxClockSkew {
            report.add(
                .mistake(
                    "clock",
                    "This machine's clock differs by \(Int(skew)) seconds from the provider's, so ID tokens are refused. Set the clock.",
                    why: why, remedy: remedy))
        } else if abs(skew) > AuthorityCheck.worryingClockSkew {
            report.add(
                .advice(
                    "clock",
                    "This machine's clock differs by \(Int(skew)) seconds from the provider's. From 300 seconds, ID tokens are refused. Set the clock.",
                    why: why, remedy: remedy))
        } else {
            report.add(.good("clock", "This machine's clock and the provider's agree."))
        }
    }

    private func checkCredential(of application: Application, _ report: inout Report) {
        let authentication: ClientAuthentication
        do {
            authentication = try ClientCredentials.read(application.credential)
        } catch {
            report.add(
                .mistake(
                    "credential", "The application cannot authenticate: \(error)",
                    why: "The provider issues tokens only to an application that proves its identity.",
                    remedy: "Put the file there, readable only by the user who runs the server."))
            return
        }
        switch authentication {
        case .publicClient:
            report.add(.good("credential", "No secret is configured: the application is a public client."))
        case .certificate(let certificate): checkExpiry(certificate.notValidAfter, of: application, &report)
        case .secret, .assertion:
            guard let date = application.clientSecretExpires else {
                report.add(
                    .good(
                        "credential", "Secret configured. Set client_secret_expires to be warned before it expires."))
                return
            }
            checkExpiry(date, of: application, &report)
        }
    }

    private func checkExpiry(_ date: Date, of application: Application, _ report: inout Report) {
        let why =
            "From that day on nobody can sign in and no token is renewed. People who are signed in stay signed in."
        let remedy = application.credential.renewal
        let day = date.formatted(.iso8601.year().month().day())
        let left = date.timeIntervalSince(now())
        func add(_ finding: CheckFinding) {
            var finding = finding
            finding.expires = date
            report.add(finding)
        }
        if left <= 0 {
            add(
                .mistake(
                    "credential", "The secret or certificate expired on \(day). Replace it now.", why: why,
                    remedy: remedy
                ))
        } else if left < AuthorityCheck.expiryWarning {
            let days = Int(left / 86_400)
            add(
                .advice(
                    "credential",
                    days == 1
                        ? "The secret or certificate expires on \(day), in 1 day. Replace it."
                        : "The secret or certificate expires on \(day), in \(days) days. Replace it.",
                    why: why, remedy: remedy))
        } else {
            add(.good("credential", "The secret or certificate is valid until \(day)."))
        }
    }
}

extension ClientCredential {
    /// The instruction for replacing the credential.
    var renewal: String {
        switch self {
        case .fixed(.publicClient):
            "Under Certificates & secrets create a secret and configure it, or register the redirect URI for mobile and "
                + "desktop applications, which need none."
        case .fixed:
            "Under Certificates & secrets create a new secret, set it and client_secret_expires in the environment, restart, "
                + "then delete the old one."
        case .secretFile(let path, _):
            "Under Certificates & secrets create a new secret, write its value to \(path) (no restart is needed), "
                + "set client_secret_expires to its expiry date, then delete the old one."
        case .certificateFiles(let certificate, let privateKey):
            "Add a new certificate under Certificates & secrets, then write it to \(certificate) and its key to "
                + "\(privateKey) (no restart is needed)."
        case .federatedTokenFile(let path):
            "Check the program that writes \(path): it should have renewed the token."
        }
    }
}
