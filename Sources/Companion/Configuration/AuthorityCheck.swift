import EventLoop
import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import OpenIDConnect

/// Reaches each application's authority as a sign-in would: discovery, issuer, keys, clock.
public enum AuthorityCheck {
    /// What was found for one application.
    public struct Report: Sendable {
        /// The application's name.
        public let application: String
        /// Its authority.
        public let authority: String
        /// What is right and what is wrong, one line each.
        public internal(set) var findings: [String] = []
        /// Whether a sign-in can work.
        public internal(set) var isHealthy = true
    }

    /// The most by which the clocks may differ: what ID-token checks allow.
    private static let maxClockSkew: TimeInterval = 300

    /// Checks all applications, one after the other.
    public static func run(_ configuration: CompanionConfiguration, workers: WorkerGroup) async -> [Report] {
        let client = HTTPClient(workers: workers)
        var reports: [Report] = []
        for application in configuration.applications {
            // Each user flow of B2C is an authority of its own.
            for authority in Application.UserFlow.allCases.compactMap({ application.authority(of: $0) }) {
                reports.append(await check(application, at: authority, client: client))
            }
        }
        await client.shutdown()
        return reports
    }

    private static func check(
        _ application: Application, at authority: Authority, client: HTTPClient
    ) async -> Report {
        var report = Report(application: application.id, authority: authority.description)
        let directory = ProviderDirectory(
            transport: { request in
                let response = try await client.send(request.head, body: request.body)
                return ProviderResponse(head: response.head, body: response.body)
            }, now: { Date() })
        do throws(HTTPClientError) {
            let answer = try await client.send(authority.discoveryRequest.head)
            if let skew = clockSkew(answer.head), abs(skew) > maxClockSkew {
                report.isHealthy = false
                report.findings.append(
                    "clock: this machine differs by \(Int(skew)) seconds from the provider's, so that ID tokens are refused; "
                        + "set the clock")
            }
        } catch {
            report.isHealthy = false
            report.findings.append("cannot be reached: \(error.reason)")
            return report
        }
        do throws(OpenIDError) {
            let metadata = try await directory.metadata(for: authority)
            report.findings.append("discovery: ok, issuer \(metadata.issuer)")
            _ = try await directory.signingKeys(of: metadata)
            report.findings.append("keys: ok")
            if application.kind == .oidc, application.api == nil, metadata.userInfoEndpoint == nil {
                report.isHealthy = false
                report.findings.append("UserInfo: the provider has no such endpoint; name an api")
            }
        } catch {
            report.isHealthy = false
            report.findings.append(error.description)
        }
        return report
    }

    /// How far this machine's clock is ahead of the provider's, in seconds; nil when it does not say.
    private static func clockSkew(_ head: HTTPResponse) -> TimeInterval? {
        let now = Date().timeIntervalSince1970
        guard let text = head.headerFields[.date],
            let theirs = HTTPDate(parsing: text, now: HTTPDate(secondsSince1970: Int64(now)))
        else { return nil }
        return now - TimeInterval(theirs.secondsSince1970)
    }
}
