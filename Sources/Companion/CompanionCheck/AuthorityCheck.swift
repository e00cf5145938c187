package import CompanionCore
import CompanionSignIn
package import Foundation
package import HTTPClient
import HTTPTypes
package import Languages
import OpenIDConnect
import WebFormats

/// Tries everything that a sign-in with each application needs: discovery, issuer, keys, clock, credential, registration,
/// API. This is the only checker: `companion check`, a portal and a program's request run it.
package struct AuthorityCheck: Sendable {
    /// The findings for one application at one authority.
    package struct Report: Sendable {
        /// The application.
        package let application: Application
        /// The authority. Each user flow of B2C has its own.
        package let authority: String
        /// One finding for each check.
        package fileprivate(set) var findings: [CheckFinding] = []
        /// The worst severity.
        package var state: CheckFinding.Severity { .worst(of: findings) }
        /// Whether everything is in order; nil if something is not known and nothing is wrong.
        package var isHealthy: Bool? { state == .unknown ? nil : state == .good }

        fileprivate mutating func add(_ finding: CheckFinding) {
            findings.append(finding.of(application, authority: authority))
        }
    }

    /// The largest clock difference that ID-token checks allow.
    private static let maxClockSkew: TimeInterval = 300
    /// Above this difference the check warns: a clock synchronized over the network is off by less than a second.
    private static let worryingClockSkew: TimeInterval = 120

    private let client: HTTPClient
    private let configuration: CompanionConfiguration
    private let english: Language?
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - client: the client that connects to the providers.
    ///   - configuration: the configuration with the addresses that registrations must have, and all applications.
    ///   - english: the language that explains a refused credential; nil if it cannot be read.
    ///   - now: the wall clock.
    package init(
        client: HTTPClient, configuration: CompanionConfiguration, english: Language?,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client
        self.configuration = configuration
        self.english = english
        self.now = now
    }

    /// Checks all applications concurrently, so that a slow provider delays no other check.
    package func run(_ applications: [Application]) async -> [Report] {
        let targets = applications.flatMap { application in
            Application.UserFlow.allCases.compactMap { flow in application.authority(of: flow).map { (application, $0) }
            }
        }
        // A fresh directory, because the running server's cache would hide the provider's present state.
        let directory = ProviderDirectory(transport: { try await client.send($0) }, now: now)
        return await withTaskGroup(of: (Int, Report).self) { group in
            for (index, (application, authority)) in targets.enumerated() {
                group.addTask { (index, await check(application, at: authority, directory)) }
            }
            var reports: [Int: Report] = [:]
            for await (index, report) in group { reports[index] = report }
            return reports.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private func check(
        _ application: Application, at authority: Authority, _ directory: ProviderDirectory
    ) async -> Report {
        var report = Report(application: application, authority: authority.description)
        let metadata = await usable(authority, directory, &report)
        if let metadata, application.kind == .oidc, application.api == nil, metadata.userInfoEndpoint == nil {
            report.add(
                .mistake(
                    "user_info", "The provider has no UserInfo endpoint. Configure api instead.",
                    why: "The page has nothing to call after signing in.",
                    remedy: "Set apps.\(application.id).api to an API that accepts the provider's access tokens."))
        }
        // The application's other authorities, of B2C's user flows, have the same registration.
        guard report.authority == application.authority.description else { return report }
        if let metadata, metadata.endSessionEndpoint == nil { report.add(keptSession) }
        report.findings += await ApplicationCheck(
            application: application, configuration: configuration, english: english, metadata: metadata,
            client: client, directory: directory, now: now
        ).findings
        return report
    }

    /// The consequences of a provider without a page for signing out.
    private var keptSession: CheckFinding {
        let finding = CheckFinding.advice(
            "sign_out", "The provider has no end_session_endpoint, so its session goes on after a sign-out.",
            why: "Whoever uses the same browser next may get in at the provider without a password.",
            remedy:
                "On one's own device, sign in in a private window and close it. At a kiosk, restart the browser after each person. If the provider has such a page, let it name the page in its discovery document."
        )
        guard configuration.deviceMode == .shared else { return finding }
        return finding.saying(
            .advice,
            "On this shared device, each sign-in therefore asks for the password, and an ID token without auth_time is refused."
        )
    }

    private func usable(
        _ authority: Authority, _ directory: ProviderDirectory, _ report: inout Report
    ) async -> ProviderMetadata? {
        guard await reach(authority, &report), let metadata = await metadata(of: authority, directory, &report) else {
            return nil
        }
        await checkKeys(of: metadata, directory, &report)
        return metadata
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
                        : authority.kind == .oidc
                            ? "Compare authority with the issuer that the provider's documentation names, letter by letter."
                            : "Compare authority and kind with the app registration's Endpoints page."))
            return nil
        }
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
}

// MARK: - Stored form

extension AuthorityCheck.Report {
    /// The stored form. The application is the key.
    var stored: JSONValue { ["authority": .string(authority), "findings": .array(findings.map(\.stored))] }

    /// Restores a report from its ``stored`` form.
    init?(stored: JSONValue, of application: Application) {
        guard let authority = stored["authority"]?.string, let findings = stored["findings"]?.array else { return nil }
        self.init(
            application: application, authority: authority,
            findings: findings.compactMap { CheckFinding(stored: $0, of: application) })
    }
}
