import Foundation
import HTTPClient
import Testing

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import OpenIDConnect

/// The check finds mistakes at a provider of which nothing is known but its answers.
@Suite struct GenericProviderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var manners = GenericProvider.Manners()
        var configure: @Sendable (inout Application) -> Void = { _ in }
        /// The mistakes, and what is not known besides the scopes.
        var expected: [String]
        /// A part of one of these findings.
        var says = ""
    }

    private static func manners(_ change: (inout GenericProvider.Manners) -> Void) -> GenericProvider.Manners {
        var manners = GenericProvider.Manners()
        change(&manners)
        return manners
    }

    @Sendable private static func register(_ application: inout Application, id: String? = nil, uri: String? = nil) {
        let own = application.registration
        application.registration = ClientRegistration(
            clientID: id ?? own.clientID, redirectURI: uri ?? own.redirectURI, scopes: own.scopes)
    }

    @Sendable private static func unknownClient(_ application: inout Application) {
        register(&application, id: "nobody-at-all")
    }
    @Sendable private static func unknownAddress(_ application: inout Application) {
        register(&application, uri: GenericProvider.redirectURI + "/")
    }
    @Sendable private static func wrongSecret(_ application: inout Application) {
        application.credential = .fixed(.secret("a-secret-of-another-client"))
    }

    private static let rows: [Row] = [
        Row(testDescription: "all is right", expected: []),
        Row(
            testDescription: "all is right, and silence is ignored", manners: manners { $0.ignoresSilence = true },
            expected: []),
        Row(
            testDescription: "a request without a page is refused, and a sign-in is not",
            manners: manners { $0.silentStatus = 400 }, expected: []),
        Row(
            testDescription: "a request without a page is out of order, and a sign-in is not",
            manners: manners { $0.silentStatus = 500 }, expected: []),
        Row(
            testDescription: "an unknown client ID", configure: unknownClient,
            expected: ["mistake client_id", "unknown credential"], says: "The provider says: “Unknown client”."),
        Row(
            testDescription: "an unknown client ID, and a page that does not say so",
            manners: manners { $0.saysWhat = false },
            configure: unknownClient, expected: ["mistake credential", "mistake redirect_uri"],
            says: "and its page does not show which. The provider says: “No”."),
        Row(
            testDescription: "an unregistered redirect URI", configure: unknownAddress,
            expected: ["mistake redirect_uri"], says: "The provider says: “Redirect URI mismatch”."),
        Row(
            testDescription: "an unregistered redirect URI, with an error page of status 200",
            manners: manners { $0.errorStatus = 200 }, configure: unknownAddress, expected: ["mistake redirect_uri"],
            says: "does not know the redirect URI"),
        Row(
            testDescription: "an unregistered redirect URI at which the token endpoint looks first",
            manners: manners {
                $0.comparesAddress = true
                $0.saysWhat = false
            }, configure: unknownAddress, expected: ["mistake redirect_uri"],
            says: "does not know the redirect URI"),
        Row(
            testDescription: "an unregistered redirect URI that only the token endpoint shows",
            manners: manners {
                $0.comparesAddress = true
                $0.asksFirst = true
            }, configure: unknownAddress, expected: ["mistake redirect_uri", "unknown redirect_uri"],
            says: "no code with the redirect URI"),
        Row(
            testDescription: "an unregistered redirect URI that only a request without a page shows",
            manners: manners {
                $0.asksFirst = true
                $0.asksAlways = false
            }, configure: unknownAddress, expected: ["mistake redirect_uri"], says: "“Redirect URI mismatch”"),
        Row(
            testDescription: "a wrong secret", configure: wrongSecret, expected: ["mistake credential"],
            says: "The provider says: “Client authentication failed”."),
        Row(
            testDescription: "a wrong secret at a provider that shows nothing before a sign-in",
            manners: manners { $0.asksFirst = true }, configure: wrongSecret,
            expected: ["mistake credential", "unknown redirect_uri"], says: "its answers do not show why"),
        Row(
            testDescription: "a secret that is sent in the form, where only the field is taken",
            manners: manners { $0.method = "client_secret_basic" },
            configure: { $0.credential = .fixed(.secret(GenericProvider.secret, method: .post)) },
            expected: ["mistake client_authentication"], says: "only in the Authorization field"),
        Row(
            testDescription: "a secret that is sent in the field, where only the form is taken",
            manners: manners { $0.method = "client_secret_post" },
            configure: { $0.credential = .fixed(.secret(GenericProvider.secret, method: .basic)) },
            expected: ["mistake client_authentication"], says: "only in the form"),
        Row(
            testDescription: "only the form is taken, and no way is configured, as a sign-in finds out",
            manners: manners { $0.method = "client_secret_post" }, expected: []),
        Row(
            testDescription: "a way of sending that the metadata does not list is not tried",
            manners: manners {
                $0.method = "client_secret_post"
                $0.methods = ["client_secret_basic"]
            }, configure: { $0.credential = .fixed(.secret(GenericProvider.secret, method: .basic)) },
            expected: ["mistake credential"]),
        Row(
            testDescription: "a scope that it does not know", manners: manners { $0.scopes = ["openid"] },
            expected: ["mistake scopes"], says: "The provider says: “invalid_scope: No such scope”."),
        Row(
            testDescription: "every sign-in without consent is refused",
            manners: manners { $0.error = ("invalid_request", "consent in prompt") },
            expected: ["mistake authorization"],
            says: "refuses to begin a sign-in (invalid_request). The provider says: “consent in prompt”."),
        Row(
            testDescription: "consent is wanted, as a sign-in finds out", manners: manners { $0.wantsConsent = true },
            expected: []),
        Row(
            testDescription: "the client may not use the flow",
            manners: manners { $0.error = ("unauthorized_client", "") }, expected: ["mistake client_id"]),
        Row(
            testDescription: "requests in advance are taken", manners: manners { $0.pushed = .init() }, expected: []),
        Row(
            testDescription: "only requests in advance are taken",
            manners: manners { $0.pushed = .init(isRequired: true) }, expected: []),
        Row(
            testDescription: "requests in advance are refused",
            manners: manners { $0.pushed = .init(error: "invalid_request") }, expected: ["mistake par"],
            says: "and refuses them. The provider says: “Nothing in advance”."),
        Row(
            testDescription: "the address of a request in advance is refused",
            manners: manners { $0.pushed = .init(status: 400) }, expected: ["mistake par"],
            says: "refuses the address that it returned. The provider says: “The pushed one”."),
        Row(
            testDescription: "requests in advance with a wrong secret", manners: manners { $0.pushed = .init() },
            configure: wrongSecret, expected: ["mistake credential", "unknown par"]),
    ]

    @Test func `providers at one redirect URI that do not name themselves are a mistake of each`() async throws {
        try await GenericProvider.run(Self.manners { _ in }) { _, first, client in
            try await GenericProvider.run(Self.manners { _ in }) { _, second, _ in
                var second = second
                second.id = "second"
                for (uri, expected) in [
                    (GenericProvider.redirectURI, ["app", "second"]),
                    ("http://localhost:8080/auth/second/callback", []),
                ] as [(String, [String])] {
                    Self.register(&second, uri: uri)
                    var configuration = CompanionConfiguration(port: 8080, applications: [first, second])
                    configuration.publicURL = try PublicURL("http://localhost:8080")
                    let found = await AuthorityCheck(client: client, configuration: configuration, english: nil)
                        .run([first, second]).flatMap(\.findings)
                    let mixUps = found.filter {
                        $0.severity == .mistake && $0.what.english.contains("shared with another provider's")
                    }
                    #expect(mixUps.compactMap(\.application).sorted() == expected, "\(found.map(\.what.english))")
                }
            }
        }
    }

    private func check(_ application: Application, _ client: HTTPClient) async throws -> CheckReport {
        var configuration = CompanionConfiguration(port: 8080, applications: [application])
        configuration.publicURL = try PublicURL("http://localhost:8080")
        let reports = await AuthorityCheck(client: client, configuration: configuration, english: nil).run([application]
        )
        return CheckReport(
            reports.flatMap(\.findings),
            registrations: [CheckReport.Registration(application, at: configuration.publicURL)])
    }

    @Test(arguments: rows)
    func `each mistake is told from the others, or said not to be`(row: Row) async throws {
        try await GenericProvider.run(row.manners) { _, application, client in
            var application = application
            row.configure(&application)
            let report = try await check(application, client)
            let found = report.findings.filter {
                $0.severity == .mistake || $0.severity == .unknown && $0.subject != "scopes"
            }
            #expect(found.map { "\($0.severity) \($0.subject)" }.sorted() == row.expected, "\(report.text())")
            #expect(row.says.isEmpty || found.contains { $0.what.english.contains(row.says) }, "\(report.text())")
            #expect(report.ok == !row.expected.contains { $0.hasPrefix("mistake") })
            for name in ["App registration", "Certificates & secrets", "Under Authentication", "platform Web", "Entra"]
            {
                #expect(!report.text().contains(name), "\(report.text())")
            }
        }
    }

    @Test func `a provider that repeats all that it was sent gets none of it into a finding`() async throws {
        let manners = Self.manners {
            $0.repeatsAll = true
            $0.error = ("invalid_request", "It came:")
            $0.pushed = .init(error: "invalid_request")
        }
        for configure in [Self.wrongSecret, { _ in }] as [@Sendable (inout Application) -> Void] {
            try await GenericProvider.run(manners) { provider, application, client in
                var application = application
                configure(&application)
                let report = try await check(application, client)
                let all = report.text() + report.json + report.junit(failing: [])
                #expect(all.contains("The provider says: “It came:"))
                #expect(provider.secrets.count > 8)
                for secret in provider.secrets { #expect(!all.contains(secret.prefix(12))) }
                let lines = report.findings.filter { $0.what.english.contains("The provider says") }
                #expect(lines.allSatisfy { $0.what.english.count < 500 && !$0.what.english.contains("\n") })
            }
        }
    }
}
