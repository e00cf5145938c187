import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import CompanionSignIn
@testable import TenantDirectory

/// The checks read this from the tenant, with the tokens that applications have of their own.
@Suite struct DirectoryTests {
    private static let secret = "the-client-secret-of-the-test"
    private static let day: TimeInterval = 86_400

    /// A broken registration or configuration.
    struct Broken: Sendable, CustomTestStringConvertible {
        let name: String
        var register: @Sendable (inout DemoClient) -> Void = { _ in }
        var configure: @Sendable (inout Application) -> Void = { _ in }
        let subject: String
        let severity: CheckFinding.Severity
        let says: String
        var testDescription: String { name }
    }

    private static func changed(
        _ registration: ClientRegistration, scopes: [String]? = nil, listed: [String] = []
    ) -> ClientRegistration {
        ClientRegistration(
            clientID: registration.clientID, redirectURI: registration.redirectURI,
            scopes: scopes ?? registration.scopes, allowedTenants: listed, clientCapabilities: ["cp1"])
    }

    private static let broken: [Broken] = [
        Broken(
            name: "the redirect URI is missing",
            register: { $0.webRedirectURIs = [$0.webRedirectURIs[1], "https://elsewhere.example/auth/callback"] },
            subject: "redirect_uri", severity: .mistake, says: "is missing in the app registration"),
        Broken(
            name: "the redirect URI is one of a single-page application",
            register: { $0.spaRedirectURIs = [$0.webRedirectURIs.removeFirst()] },
            subject: "redirect_uri", severity: .mistake, says: "is registered for the platform Single-page application"),
        Broken(
            name: "the redirect URI has a slash at its end",
            register: { $0.webRedirectURIs[0] += "/" }, subject: "redirect_uri", severity: .mistake,
            says: "which differs"),
        Broken(
            name: "two addresses of localhost differ only in their port",
            register: { $0.spaRedirectURIs = ["http://localhost:3000/auth/callback"] },
            subject: "localhost", severity: .advice, says: "differ only in their port"),
        Broken(
            name: "the secret ends soon",
            register: { $0.secretExpires = Date().addingTimeInterval(12 * day) },
            subject: "credential", severity: .advice, says: "in 12 days"),
        Broken(
            name: "the typed date is not the real one",
            configure: { $0.clientSecretExpires = Date().addingTimeInterval(90 * day) },
            subject: "client_secret_expires", severity: .advice, says: "but the registration says"),
        Broken(
            name: "the registration admits one organization, and the authority all",
            register: { $0.tenants = ["contoso.example"] },
            configure: {
                $0.authority = (try? Authority($0.authority.origin + "/organizations")) ?? $0.authority
                $0.registration = changed($0.registration, listed: [Tenant.contoso])
            }, subject: "audience", severity: .mistake, says: "admits AzureADMyOrg"),
        Broken(
            name: "rules name groups, and the ID token has none",
            register: { $0.groupMembershipClaims = .none },
            configure: { $0.allowed = AccountList(groups: ["0d4c1e5a-8f0e-4bb1-93a5-0b6f6a2f7c11"]) },
            subject: "groups", severity: .mistake, says: "puts none into the ID token"),
        Broken(
            name: "a rule names an app role that does not exist",
            configure: { $0.allowed = AccountList(roles: ["Tester"]) },
            subject: "app_roles", severity: .mistake, says: "Tester"),
        Broken(
            name: "a scope is not among the permissions",
            configure: {
                $0.registration = changed($0.registration, scopes: ["User.Read", "Mail.Read"])
            }, subject: "permissions", severity: .advice, says: "Mail.Read"),
        Broken(
            name: "the address after signing out is not registered",
            register: { $0.webRedirectURIs.removeLast() }, subject: "sign_out", severity: .advice,
            says: "/auth/signed-out is not registered"),
        Broken(
            name: "the application may not read registrations",
            register: { $0.applicationRoles = [:] }, subject: "registration", severity: .unknown,
            says: "Application.Read.All"),
    ]

    /// Runs a test with an application at one tenant that may have tokens of its own.
    private func run(
        register: (inout DemoClient) -> Void = { _ in }, configure: (inout Application) -> Void = { _ in },
        _ test: (Site, Application) async throws -> Void
    ) async throws {
        try await Site.run(
            registered: { client in
                client.applicationRoles = ["https://graph.microsoft.com": ["Application.Read.All"]]
                client.groupMembershipClaims = .securityGroup
                register(&client)
            },
            configured: { configuration in
                let index = try #require(configuration.applications.firstIndex { $0.id == "contoso" })
                configuration.applications[index].isAppOnlyAllowed = true
                configure(&configuration.applications[index])
                configuration.applications[1].page = .portal
            }
        ) { site in
            try await test(site, try #require(site.configuration.applications.first { $0.id == "contoso" }))
        }
    }

    private func findings(_ site: Site, _ application: Application) async -> [CheckFinding] {
        await AuthorityCheck(client: site.client, configuration: site.configuration, english: nil, now: site.clock.now)
            .run([application]).flatMap(\.findings)
    }

    @Test(arguments: broken)
    func `a broken registration is found, with its remedy`(broken: Broken) async throws {
        try await run(register: broken.register, configure: broken.configure) { site, application in
            let found = await findings(site, application)
            let finding = try #require(
                found.first { $0.subject == broken.subject && $0.severity == broken.severity },
                "\(found.map(\.what.english))")
            #expect(finding.what.english.contains(broken.says), "\(finding.what.english)")
            #expect(broken.severity == .unknown || finding.remedy?.isEmpty == false && finding.why?.isEmpty == false)
            // Without the registration, only a sign-in can show whether the scopes are granted, and nothing when the secret ends.
            let open: Set<String> = broken.subject == "registration" ? ["scopes", "client_secret_expires"] : []
            let wrong = Set(found.filter { $0.severity != .good }.map(\.subject))
            #expect(wrong == open.union([broken.subject]), "nothing else is wrong")
        }
    }

    @Test func `a good registration is silent, and says when its secret ends`() async throws {
        try await run(register: { $0.secretExpires = Date().addingTimeInterval(200 * Self.day) }) { site, application in
            let found = await findings(site, application)
            #expect(found.allSatisfy { $0.severity == .good }, "\(found.map(\.what.english))")
            let credential = try #require(found.first { $0.subject == "credential" })
            #expect(credential.item == "Secret" && credential.expires != nil)
            #expect(found.count { $0.subject == "credential" } == 1)
        }
    }

    @Test func `the administrator's consent is read where the permission allows it`() async throws {
        try await run(register: {
            $0.applicationRoles = ["https://graph.microsoft.com": ["Application.Read.All", "Directory.Read.All"]]
        }) { site, application in
            let visitor = Visitor(site)
            let consent = try #require(await findings(site, application).first { $0.subject == "consent" })
            #expect(consent.what.english.contains("No administrator has consented"), "\(consent.what.english)")
            try await visitor.signIn(app: "contoso")
            #expect((await findings(site, application)).allSatisfy { $0.severity == .good })
        }
    }

    @Test func `without app_only the registration is not read`() async throws {
        try await run(configure: { $0.isAppOnlyAllowed = false }) { site, application in
            #expect(!(await findings(site, application)).contains { $0.subject == "registration" })
            #expect(!site.traffic.paths.contains { $0.contains("/applications") })
        }
    }

    // MARK: The portal

    @Test func `an operator sees what an application's own token says, and never the token`() async throws {
        try await run { site, _ in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "macos")
            let answer = try await visitor.api(
                .post, "/api/macos/app-only", body: #"{"application": "contoso", "call": "application"}"#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["roles"] as? [String] == ["Application.Read.All"])
            let called = try #require(answer.json["answer"] as? [String: Any])
            #expect(called["status"] as? Int == 200)
            #expect((called["body"] as? [String: Any])?["displayName"] as? String == "Test")
            // One token serves the next question.
            let asked = site.traffic.paths.count { $0.hasSuffix("/token") }
            _ = try await visitor.api(.post, "/api/macos/app-only", body: #"{"application": "contoso"}"#)
            #expect(site.traffic.paths.count { $0.hasSuffix("/token") } == asked)
            let tokens = site.traffic.all.compactMap { exchange -> String? in
                guard exchange.request.head.path.hasSuffix("/token"),
                    String(decoding: exchange.request.body, as: UTF8.self).contains("client_credentials")
                else { return nil }
                let json = try? JSONSerialization.jsonObject(with: Data(exchange.response.body)) as? [String: Any]
                return json?["access_token"] as? String
            }
            let token = try #require(tokens.first)
            #expect(tokens.count == 1 && !visitor.everything.contains { $0.text.contains(token) })
            #expect(!site.log.all.contains { $0.contains(token) })
            let stored = try Data(contentsOf: URL(fileURLWithPath: site.database))
            #expect(stored.range(of: Data(token.utf8.prefix(40))) == nil)
        }
    }

    @Test(arguments: [
        ("an application without app_only", #"{"application": "ios"}"#, "access_denied"),
        ("an unknown application", #"{"application": "nobody"}"#, "not_found"),
        ("an unknown call", #"{"application": "contoso", "call": "users"}"#, "bad_request"),
        ("no application", "{}", "bad_request"),
    ])
    func `a request that is not allowed is refused`(row: String, body: String, code: String) async throws {
        try await run { site, _ in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "macos")
            #expect(try await visitor.api(.post, "/api/macos/app-only", body: body).code == code, "\(row)")
        }
    }

    @Test func `nobody but an operator gets an application's own token`() async throws {
        try await run { site, _ in
            let visitor = Visitor(site)
            let body = #"{"application": "contoso"}"#
            #expect(try await visitor.api(.post, "/api/macos/app-only", body: body).code == "interaction_required")
            try await visitor.signIn()
            #expect(try await visitor.api(.post, "/api/ios/app-only", body: body).code == "not_found")
            try await site.restart {
                $0.applications[1].operators = AccountList(roles: ["Operator"])
                $0.applications[1].readers = AccountList(groups: [DemoGroup(name: "Retail").id])
            }
            try await visitor.signIn(app: "macos")
            #expect(try await visitor.api(.get, "/api/macos/health").status == 200, "a reader")
            #expect(try await visitor.api(.post, "/api/macos/app-only", body: body).code == "access_denied")
        }
    }

    @Test func `a wrong secret is explained, and the provider is not asked again at once`() async throws {
        try await run(configure: { $0.credential = .fixed(.secret("wrong")) }) { site, _ in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "macos")
            for _ in 0..<3 {
                let answer = try await visitor.api(.post, "/api/macos/app-only", body: #"{"application": "contoso"}"#)
                #expect(answer.code == "provider_rejected_client", "\(answer.text)")
            }
            let asked = site.traffic.all.filter {
                String(decoding: $0.request.body, as: UTF8.self).contains("client_credentials")
            }
            #expect(asked.count == 1)
        }
    }
}
