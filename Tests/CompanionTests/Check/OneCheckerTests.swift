import Cryptography
import Foundation
import HTTPTypes
import OpenIDConnect
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import TenantDirectory

/// The portal, a program's request and `companion check` find the same about an application.
@Suite struct OneCheckerTests {
    private static let token = "companion_of-the-nightly-check"

    /// Runs a test with a portal to which somebody is signed in.
    private func run(
        register: (inout DemoClient) -> Void = { _ in }, _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(
            registered: register,
            configured: { configuration in
                configuration.applications[1].page = .portal
                configuration.apiTokens = [
                    APIToken(
                        name: "nightly", sha256: Array(SHA256.hash(data: Data(Self.token.utf8))),
                        scopes: [.check, .metrics],
                        expires: nil)
                ]
            }
        ) { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "macos")
            try await test(site, visitor)
        }
    }

    /// The findings about an application, as `severity subject`, of the portal, of a program and of the command.
    private func found(_ site: Site, _ visitor: Visitor, of app: String) async throws -> [[String]] {
        func sorted(_ all: [[String: Any]], _ subject: String) -> [String] {
            all.compactMap { each in
                guard let severity = each["severity"] as? String, let name = each[subject] as? String else {
                    return nil
                }
                // Only the command reads the database.
                return ["auth_time", "login_hint", "sid"].contains(name) ? nil : "\(severity) \(name)"
            }.sorted()
        }
        let shown = try await visitor.api(.get, "/api/macos/health?applications=\(app)").json
        let apps = try #require(shown["apps"] as? [[String: Any]])
        let asked = try await visitor.send(
            .post, "/api/macos/check",
            headers: [.authorization: "Bearer \(Self.token)", .contentType: "application/json"],
            body: #"{"applications": ["\#(app)"]}"#
        ).json
        let report = await InstallationCheck(client: site.client, now: site.clock.now).run(site.configuration)
        let json = try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any]
        let command = (json?["findings"] as? [[String: Any]] ?? []).filter { $0["application"] as? String == app }
        return [
            sorted(apps.flatMap { $0["checks"] as? [[String: Any]] ?? [] }, "check"),
            sorted(asked["findings"] as? [[String: Any]] ?? [], "subject"), sorted(command, "subject"),
        ]
    }

    @Test(arguments: ["ios", "contoso", "external", "b2c", "provider"])
    func `all three find the same`(app: String) async throws {
        try await run { site, visitor in
            let found = try await found(site, visitor, of: app)
            #expect(found[0] == found[1] && found[1] == found[2], "\(found)")
            #expect(
                found[0].contains { $0.hasSuffix(" credential") } && found[0].contains { $0.hasSuffix(" redirect_uri") }
            )
        }
    }

    @Test func `an expired secret is the same mistake for all three`() async throws {
        try await run(register: { $0.secretExpires = Date().addingTimeInterval(120) }) { site, visitor in
            site.clock.advance(180)
            for found in try await found(site, visitor, of: "contoso") {
                #expect(found.filter { $0.hasPrefix("mistake") } == ["mistake credential"], "\(found)")
            }
            let answer = try await visitor.api(.get, "/api/macos/health?applications=contoso").json
            let app = try #require((answer["apps"] as? [[String: Any]])?.first)
            #expect(app["state"] as? String == "mistake" && app["ok"] as? Bool == false)
            let text = (app["checks"] as? [[String: Any]])?.first { $0["check"] as? String == "credential" }?["detail"]
            #expect((text as? String)?.contains("AADSTS7000222") == true, "\(text ?? "")")
        }
    }

    @Test func `an application that requires assignment has a good credential`() async throws {
        try await Site.run(registered: { $0.assignmentRequired = true }, configured: { _ in }) { site in
            let report = await InstallationCheck(client: site.client, now: site.clock.now).run(site.configuration)
            let found = report.findings.filter { $0.application == "contoso" }
            #expect(found.filter { $0.subject == "credential" }.map(\.severity) == [.good], "\(report.text())")
            #expect(!found.contains { $0.severity == .mistake }, "\(report.text())")
            let finding = try #require(found.first { $0.subject == "assignment_required" })
            #expect(finding.severity == .advice && finding.remedy?.contains("assign the service principal") == true)
            #expect(!report.text().contains("create a new secret"), "\(report.text())")
        }
    }

    @Test func `what was found last is known after a restart, in each language, and nobody is asked`() async throws {
        try await run(register: { $0.secretExpires = Date().addingTimeInterval(120) }) { site, visitor in
            site.clock.advance(180)
            func known(in language: String) async throws -> NSArray {
                let answer = try await visitor.send(
                    .get, "/api/macos/health?applications=contoso,ios&known=true",
                    headers: [.acceptLanguage: language])
                return try #require(answer.json["apps"] as? NSArray)
            }
            #expect(try await known(in: "en") == [])
            _ = try await visitor.api(.get, "/api/macos/health?applications=contoso,ios")
            let (english, swedish) = (try await known(in: "en"), try await known(in: "sv"))
            #expect(english.count == 2 && english != swedish)
            try await site.restart()
            let before = try await site.count("token_requests")
            #expect(try await known(in: "en") == english)
            #expect(try await known(in: "sv") == swedish)
            #expect(try await site.count("token_requests") == before)
        }
    }

    @Test func `a finding is stored and restored as it is`() async throws {
        try await run(register: { $0.secretExpires = Date().addingTimeInterval(120) }) { site, _ in
            let report = await InstallationCheck(client: site.client, now: site.clock.now).run(site.configuration)
            let applications = Dictionary(uniqueKeysWithValues: site.configuration.applications.map { ($0.id, $0) })
            let found = report.findings.filter { $0.application != nil }
            #expect(found.count > 20)
            for finding in found {
                let application = try #require(finding.application.flatMap { applications[$0] })
                let stored = try #require(JSONValue(parsing: finding.stored.bytes))
                #expect(CheckFinding(stored: stored, of: application) == finding)
            }
        }
    }

    @Test func `what is not known is counted by itself, in every form`() async throws {
        try await run { site, visitor in
            let answer = try await visitor.api(.get, "/api/macos/health?applications=ios").json
            let app = try #require((answer["apps"] as? [[String: Any]])?.first)
            #expect(app["state"] as? String == "unknown" && app["ok"] is NSNull)
            let checks = try #require(app["checks"] as? [[String: Any]])
            #expect(checks.allSatisfy { ($0["severity"] as? String == "unknown") == ($0["ok"] is NSNull) })
            let open = checks.count { $0["severity"] as? String == "unknown" }
            let metrics = try await visitor.send(
                .get, "/metrics", headers: [.authorization: "Bearer \(Self.token)"]
            ).text
            #expect(metrics.contains(#"companion_check_findings{app="ios",severity="unknown"} \#(open)"#), "\(metrics)")
            #expect(!metrics.contains(#"companion_check_findings{app="b2c""#), "nobody has checked it")
            let report = await InstallationCheck(client: site.client, now: site.clock.now).run(site.configuration)
            let unknown = report.findings.count { $0.severity == .unknown }
            #expect(
                report.counts["unknown"] == unknown && report.text(isVerbose: true).hasSuffix(" Not known: \(unknown).")
            )
            #expect(report.junit(failing: []).matches(of: /<skipped\b/).count == unknown)
        }
    }

    @Test func `an external tenant at a numeric address of this machine is no mistake`() async throws {
        try await Site.run { site in
            var application = try #require(site.configuration.applications.first { $0.id == "external" })
            application.authority = try Authority(
                application.authority.description.replacing("localhost", with: "127.0.0.1"), kind: .external)
            var configuration = site.configuration
            configuration.applications = [application]
            let reports = await AuthorityCheck(
                client: site.client, configuration: configuration, english: nil, now: site.clock.now
            ).run([application])
            let found = reports.flatMap(\.findings)
            #expect(!found.contains { $0.severity == .mistake }, "\(found.map(\.what.english))")
            #expect(found.filter { $0.subject == "kind" }.map(\.severity) == [.unknown])
        }
    }

    @Test(arguments: [
        (["user.read", "api://fabrikam.example/tasks.read"], [CheckFinding.Severity.unknown]),
        (["api://fabrikam.example/tasks.read", "user.read"], [.unknown, .advice]),
    ])
    func `scopes of two APIs are no mistake`(scopes: [String], severities: [CheckFinding.Severity]) async throws {
        try await Site.run { site in
            var application = try #require(site.configuration.applications.first { $0.id == "contoso" })
            application.registration = ClientRegistration(
                clientID: application.registration.clientID, redirectURI: application.registration.redirectURI,
                scopes: scopes)
            let reports = await AuthorityCheck(
                client: site.client, configuration: site.configuration, english: nil,
                now: site.clock.now
            ).run([application])
            let found = reports.flatMap(\.findings)
            #expect(found.filter { $0.subject == "scopes" }.map(\.severity) == severities)
            #expect(!found.contains { $0.severity == .mistake })
        }
    }
}
