import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Graph's applications")
struct GraphApplicationsTests {
    private static let scopes = "Application.Read.All Directory.Read.All"
    private static let graph = AccessToken.graphAudience

    private static let certificate: DemoClient.Certificate = {
        var certificate = DemoClient.Certificate(thumbprint: "thumbprint", publicKeyPEM: "")
        (certificate.der, certificate.subject) = ([1, 2, 3], "CN=Tasks")
        certificate.start = Date(timeIntervalSince1970: 1_790_000_000)
        certificate.end = Date(timeIntervalSince1970: 1_810_000_000)
        return certificate
    }()

    private func run(
        _ configure: @Sendable (inout DemoClient) -> Void = { _ in },
        _ body: @Sendable (Browser, String) async throws -> Void
    ) async throws {
        try await TestTenant.run(configured: { configure(&$0.clients[0]) }) { (tenant) async throws in
            let browser = tenant.browser()
            try await body(browser, try await browser.graphToken("adele@contoso.example", Self.scopes))
        }
    }

    @Test func `a registration has its redirect URIs by class, its secret's end and no secret`() async throws {
        try await run { client in
            client.spaRedirectURIs = ["http://localhost:8080/spa"]
            client.exposes = ["api://tasks": ["Tasks.Read"]]
            client.appRoles = ["Tasks.Admin"]
            client.applicationRoles = ["https://graph.microsoft.com": ["User.Read.All"]]
            client.optionalClaims = DemoClient.OptionalClaims(idToken: ["email"])
            client.groupMembershipClaims = .securityGroup
            client.secretExpires = Date(timeIntervalSince1970: 1_801_440_000)
        } _: { (browser, token) async throws in
            let list = try await browser.me(token, path: "/v1.0/applications?$filter=appId+eq+'\(TestTenant.web.id)'")
            let id = try #require(list.values("id").first ?? nil)
            let found = try await browser.me(token, path: "/v1.0/applications/\(id)")
            for path in [
                "applications(appId='\(TestTenant.web.id)')", "applications(appId=%27\(TestTenant.web.id)%27)",
            ] {
                #expect(try await browser.me(token, path: "/v1.0/\(path)").body == found.body)
            }
            #expect(list.json?["value"]?.array?.first?["web"] == found.json?["web"])
            #expect(found.member("appId") == TestTenant.web.id && found.member("displayName") == "Web tutorial")
            #expect(found.json?["web"]?["redirectUris"] == .texts(TestTenant.web.webRedirectURIs))
            #expect(found.json?["spa"]?["redirectUris"] == ["http://localhost:8080/spa"])
            #expect(found.json?["publicClient"]?["redirectUris"] == [])
            #expect(found.member("signInAudience") == "AzureADandPersonalMicrosoftAccount")
            #expect(found.json?["identifierUris"] == ["api://tasks"])
            #expect(found.json?["appRoles"]?.array?.first?["value"] == "Tasks.Admin")
            #expect(found.json?["api"]?["oauth2PermissionScopes"]?.array?.first?["value"] == "Tasks.Read")
            #expect(found.json?["optionalClaims"]?["idToken"]?.array?.first?["name"] == "email")
            #expect(found.member("groupMembershipClaims") == "SecurityGroup")
            let access = found.json?["requiredResourceAccess"]?.array?.first
            #expect(access?["resourceAppId"]?.string == Self.graph)
            #expect(
                access?["resourceAccess"] == [
                    ["id": "e1fe6dd8-ba31-4d61-89e7-88639da4683d", "type": "Scope"],
                    ["id": "df021288-bdef-4463-88db-98f22de89214", "type": "Role"],
                ])
            let secret = try #require(found.json?["passwordCredentials"]?.array?.first)
            #expect(secret["hint"] == "the" && secret["secretText"] == .null)
            #expect(secret["endDateTime"] == "2027-02-01T00:00:00Z")
            #expect(!found.text.contains(try #require(TestTenant.web.secret)))
        }
    }

    @Test func `a registration shows the permissions that it lists`() async throws {
        try await run { client in
            client.exposes = ["api://tasks": ["Tasks.Read"]]
            client.permissions = [
                "https://graph.microsoft.com": ["user.read", "Mail.Read"], "api://tasks": ["Tasks.Read"],
                DemoClient.nativeSample.id: [],
            ]
        } _: { (browser, token) async throws in
            let found = try await browser.me(token, path: "/v1.0/applications(appId='\(TestTenant.web.id)')")
            let required = found.json?["requiredResourceAccess"]?.array ?? []
            let scope = found.json?["api"]?["oauth2PermissionScopes"]?.array?.first?["id"]?.string
            let ids = required.map { ($0["resourceAccess"]?.array ?? []).map { $0["id"]?.string } }
            let expected: [String: [String?]] = [
                Self.graph: ["e1fe6dd8-ba31-4d61-89e7-88639da4683d", "570282fd-fa5c-430d-a7fd-fc8dc98a9dca"],
                TestTenant.web.id: [scope], DemoClient.nativeSample.id: [],
            ]
            #expect(
                Dictionary(zip(required.map { $0["resourceAppId"]?.string ?? "" }, ids)) { first, _ in first }
                    == expected)
        }
    }

    @Test func `a secret ends two years after the start, and one that has ended is refused`() async throws {
        let clock = TestTenant.Clock()
        try await TestTenant.run(clock: clock) { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.graphToken("adele@contoso.example", Self.scopes)
            let found = try await browser.me(token, path: "/v1.0/applications(appId='\(TestTenant.web.id)')")
            let secret = try #require(found.json?["passwordCredentials"]?.array?.first)
            #expect(
                secret["startDateTime"] == "2027-01-15T08:00:00Z" && secret["endDateTime"] == "2029-01-14T08:00:00Z")
        }
        try await TestTenant.run(
            clock: clock, configured: { $0.clients[0].secretExpires = clock.now.addingTimeInterval(60) }
        ) { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens("adele@contoso.example")
            #expect(tokens.status == 200)
            clock.advance(60)
            let expired = try await browser.refresh(tokens.member("refresh_token"))
            #expect(expired.status == 401 && expired.number == 7_000_222)
            #expect(expired.member("error") == "invalid_client")
            let wrong = try await browser.refresh(tokens.member("refresh_token"), ["client_secret": "wrong"])
            #expect(wrong.number == 7_000_215)
        }
    }

    @Test func `the bytes of a certificate are shown only where they are selected`() async throws {
        try await run { client in
            client.certificate = Self.certificate
        } _: { (browser, token) async throws in
            let path = "/v1.0/applications(appId='\(TestTenant.web.id)')"
            for (query, key) in [("", nil), ("?$select=keyCredentials,appId", "AQID"), ("?$select=appId", nil)] {
                let found = try await browser.me(token, path: path + query)
                #expect(found.json?["keyCredentials"]?.array?.first?["key"]?.string == key, "\(query)")
            }
            let found = try #require(try await browser.me(token, path: path).json?["keyCredentials"]?.array?.first)
            #expect(found["key"] == .null && found["displayName"] == "CN=Tasks")
            #expect(found["endDateTime"] == "2027-05-11T01:46:40Z" && found["type"] == "AsymmetricX509Cert")
            #expect(found["customKeyIdentifier"] == "7037807198C22A7D2B0807371D763779A84FDFCF")
            let list = try await browser.me(
                token, path: "/v1.0/applications?$select=keyCredentials&$filter=appId+eq+'\(TestTenant.web.id)'")
            #expect(list.json?["value"]?.array?.first?["keyCredentials"]?.array?.first?["key"] == .null)
        }
    }

    @Test(
        arguments: [
            ("applications/11111111-aaaa-4bbb-8ccc-000000000001", 404, "Request_ResourceNotFound"),
            ("applications(appId='11111111-aaaa-4bbb-8ccc-00000000000f')", 404, "Request_ResourceNotFound"),
            ("applications(appId=11111111-aaaa-4bbb-8ccc-000000000001')", 404, "Request_ResourceNotFound"),
            ("applications('x')", 404, "Request_ResourceNotFound"), ("applications/x/owners", 400, "BadRequest"),
            ("applications?$filter=web/redirectUris+eq+'x'", 400, "Request_UnsupportedQuery"),
            ("applications?$select=secret", 400, "BadRequest"), ("applications/$count", 400, "Request_BadRequest"),
            ("servicePrincipals(appId='x')", 404, "Request_ResourceNotFound"),
            ("servicePrincipals/x/appRoleAssignments", 404, "Request_ResourceNotFound"),
            ("servicePrincipals/x/oauth2PermissionGrants", 404, "Request_ResourceNotFound"),
            ("oauth2PermissionGrants?$filter=client+eq+'x'", 400, "BadRequest"),
        ])
    func `an unknown application or query is refused`(_ path: String, _ status: Int, _ code: String) async throws {
        try await run { (browser, token) async throws in
            let answer = try await browser.me(token, path: "/v1.0/\(path)")
            #expect(answer.status == status && answer.graphError == code, "\(answer.text)")
        }
    }

    @Test func `an application is registered in one tenant and known in others`() async throws {
        try await TestTenant.run(configured: { $0.clients[1].tenants = ["tailspin.example", "contoso.example"] }) {
            (tenant) async throws in
            let browser = tenant.browser()
            let home = try await browser.graphToken("adele@contoso.example", Self.scopes)
            let away = try await browser.graphToken("adele@contoso.example", Self.scopes, segment: "tailspin.example")
            for (token, applications, principals) in [(home, 6, 7), (away, 0, 7)] {
                let registered = try await browser.me(token, path: "/v1.0/applications")
                #expect(registered.json?["value"]?.array?.count == applications)
                let known = try await browser.me(token, path: "/v1.0/servicePrincipals")
                #expect(known.json?["value"]?.array?.count == principals)
            }
            let multiple = try await browser.me(
                home, path: "/v1.0/servicePrincipals(appId='\(TestTenant.native.id)')?$select=signInAudience,replyUrls")
            #expect(multiple.member("signInAudience") == "AzureADMultipleOrgs")
            #expect(multiple.json?["replyUrls"] == .texts(TestTenant.native.redirectURIs))
        }
    }

    @Test func `Graph's principal has every permission that the tenant knows, each with its own id`() async throws {
        let reference = try TestTenant.reference.get()
        try await run { (browser, token) async throws in
            let found = try await browser.me(token, path: "/v1.0/servicePrincipals(appId='\(Self.graph)')")
            #expect(found.member("displayName") == "Microsoft Graph")
            let scopes = found.json?["oauth2PermissionScopes"]?.array ?? []
            #expect(
                scopes.compactMap { $0["value"]?.string }.sorted()
                    == reference.delegated.map(\.name).sorted())
            #expect(Set(scopes.compactMap { $0["id"]?.string }).count == scopes.count)
            let admin = scopes.filter { $0["type"] == "Admin" }.compactMap { $0["value"]?.string }
            #expect(admin.contains("Application.Read.All") && !admin.contains("User.Read"))
            #expect(found.json?["appRoles"]?.array?.count == reference.application.count)
        }
    }

    @Test func `consents of a person and of an administrator are listed as grants`() async throws {
        try await run { client in
            client.exposes = ["api://tasks": ["Tasks.Read"]]
        } _: { (browser, token) async throws in
            _ = try await browser.tokens("adele@contoso.example", ["scope": "Mail.Read openid api://tasks/Tasks.Read"])
            let principal = try await browser.me(
                token, path: "/v1.0/servicePrincipals(appId='\(TestTenant.web.id)')?$select=id")
            let id = try #require(principal.member("id"))
            let graph = try await browser.me(token, path: "/v1.0/servicePrincipals(appId='\(Self.graph)')?$select=id")
            let grants = try await browser.me(
                token, path: "/v1.0/oauth2PermissionGrants?$filter=clientId%20eq%20%27\(id)%27")
            let own = try await browser.me(token, path: "/v1.0/servicePrincipals/\(id)/oauth2PermissionGrants")
            #expect(grants.json?["value"] == own.json?["value"])
            #expect(grants.values("consentType") == ["AllPrincipals", "Principal", "Principal"])
            #expect(
                grants.values("principalId") == [nil]
                    + Array(repeating: "87d349ed-44d7-43e1-9a83-5f2406dee5bd", count: 2))
            #expect(
                grants.values("scope") == ["Application.Read.All Directory.Read.All", "Mail.Read openid", "Tasks.Read"])
            #expect(grants.values("resourceId") == [graph.member("id"), graph.member("id"), id])
            #expect(Set(grants.values("id")).count == 3)
            let none = try await browser.me(token, path: "/v1.0/oauth2PermissionGrants?$filter=clientId+eq+'x'")
            #expect(none.json?["value"] == [])
        }
    }

    @Test func `app roles of people, groups and applications are listed as assignments`() async throws {
        var ada = DemoUser(username: "ada@contoso.example", password: "demo")
        ada.roles = ["Web tutorial": ["Tasks.Admin"]]
        let user = ada
        try await TestTenant.run(
            configured: { configuration in
                configuration.clients[0].appRoles = ["Tasks.Admin", "Tasks.Run"]
                configuration.clients[0].applicationRoles = ["https://graph.microsoft.com": ["Mail.Read"]]
                configuration.clients[1].applicationRoles = [TestTenant.web.id: ["Tasks.Run"]]
                configuration.users = [user]
                configuration.groups = [DemoGroup(name: "Staff", roles: ["Web tutorial": []])]
            }
        ) { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.graphToken("adele@contoso.example", Self.scopes)
            func list(_ app: String, _ name: String) async throws -> Answer {
                try await browser.me(token, path: "/v1.0/servicePrincipals(appId='\(app)')/\(name)")
            }
            let assigned = try await list(TestTenant.web.id, "appRoleAssignedTo")
            #expect(assigned.values("principalType") == ["User", "Group", "ServicePrincipal"])
            #expect(assigned.values("principalDisplayName") == ["Ada", "Staff", TestTenant.native.name])
            #expect(assigned.values("appRoleId")[1] == "00000000-0000-0000-0000-000000000000")
            #expect(Set(assigned.values("id")).count == 3)
            let own = try await list(TestTenant.web.id, "appRoleAssignments")
            #expect(own.values("appRoleId") == ["810c84a8-4a9e-49e6-bf7d-12d183f40d01"])
            #expect(own.values("resourceDisplayName") == ["Microsoft Graph"])
            let graph = try await list(Self.graph, "appRoleAssignedTo")
            #expect(graph.json?["value"] == own.json?["value"])
        }
    }
}
