import Foundation
import Testing
import WebFormats

@testable import CompanionCommand
@testable import TenantDirectory
@testable import TenantServer

@Suite("Graph's changes")
struct GraphChangesTests {
    /// An application that may change everything, made at run time.
    private static let tool: JSONValue = [
        "name": "Tool", "client_id": "22222222-aaaa-4bbb-8ccc-00000000000a", "secret": "the tool's secret",
        "granted": ["https://graph.microsoft.com": ["Application.ReadWrite.All", "User.ReadWrite.All"]],
    ]
    private static let reader: JSONValue = [
        "name": "Reader", "client_id": "22222222-aaaa-4bbb-8ccc-00000000000b", "secret": "the reader's secret",
        "granted": ["https://graph.microsoft.com": ["Application.Read.All", "User.Read.All"]],
    ]
    private static let newPerson: JSONValue = [
        "accountEnabled": true, "displayName": "Grace Hopper", "mailNickname": "grace",
        "userPrincipalName": "grace@contoso.example", "passwordProfile": ["password": "demo"],
    ]

    /// A caller of Graph.
    private struct Caller: Sendable {
        let browser: Browser
        let token: String?

        func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> Answer {
            let headers = [("Authorization", "Bearer \(token ?? "")"), ("Content-Type", "application/json")]
            return try await browser.send(method, "/v1.0/\(path)", headers, body?.bytes ?? [])
        }
    }

    private static func run(
        as declaration: JSONValue = tool, _ body: @Sendable (TestTenant, Caller) async throws -> Void
    ) async throws {
        try await RunTimeTests.run { tenant async throws in
            let browser = tenant.browser()
            let made = try await browser.made("applications", declaration)
            let client = DemoClient(
                id: try #require(made.member("client_id")), name: "", secret: declaration["secret"]?.string)
            let answer = try await browser.ownToken(["scope": "https://graph.microsoft.com/.default"], client: client)
            try await body(tenant, Caller(browser: browser, token: answer.member("access_token")))
        }
    }

    /// t2-graph-02, and MicrosoftDocs user-revokesigninsessions.md.
    @Test func `a person's sessions can be revoked, and a guest's only at home`() async throws {
        try await Self.run { (tenant, caller) async throws in
            let (browser, megan, adele) = (tenant.browser(), "megan@contoso.example", "adele@contoso.example")
            let tokens = try await browser.tokens(megan, ["scope": "openid offline_access User.Read"])
            let path = "users/\(megan)/revokeSignInSessions"
            let reader = Caller(browser: browser, token: tokens.member("access_token"))
            #expect(try await reader.call("POST", path).status == 403)
            let answer = try await caller.call("POST", path)
            #expect(answer.status == 200 && answer.json?["value"] == true, "\(answer.text)")
            #expect(answer.member("@odata.context") == "\(tenant.tenant.baseURL)/v1.0/$metadata#Edm.Boolean")
            #expect(answer["Location"] == tenant.tenant.baseURL)
            #expect(try await browser.refresh(tokens.member("refresh_token")).number == 50173)

            let scope = ["scope": "openid offline_access User.RevokeSessions.All"]
            for (segment, number) in [(Tenant.tailspinDomain, nil), (Tenant.contosoDomain, 50173)] as [(String, Int?)] {
                let own = try await tenant.browser().tokens(adele, scope, segment: segment)
                let person = Caller(browser: browser, token: own.member("access_token"))
                #expect(try await person.call("POST", "me/revokeSignInSessions").status == 200)
                let renewed = try await browser.refresh(own.member("refresh_token"), segment: segment)
                #expect(renewed.number == number, "\(segment): \(renewed.text)")
            }
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        var method: String
        var path: String
        var body: JSONValue?
        var status = 400
        var code = "Request_BadRequest"
        /// A part of the message.
        var message: String

        var testDescription: String { "\(method) \(path) \(body?.text ?? "")" }
    }

    private static let own = "applications(appId='22222222-aaaa-4bbb-8ccc-00000000000a')"
    private static let fixed = "applications(appId='\(TestTenant.web.id)')"

    @Test(arguments: [
        Refused(method: "POST", path: "applications", code: "BadRequest", message: "Unable to read JSON"),
        Refused(
            method: "POST", path: "applications", body: [:],
            message: "A value is required for property 'displayName' of resource 'Application'."),
        Refused(
            method: "POST", path: "applications", body: ["displayName": "A", "nosuch": 1],
            message: "Invalid property 'nosuch'."),
        Refused(
            method: "POST", path: "applications",
            body: ["displayName": "A", "web": ["redirectUris": ["http://tasks.example/"]]],
            message: "which is no redirect URI"),
        Refused(
            method: "POST", path: "applications", body: ["displayName": "A", "signInAudience": "Everyone"],
            message: "signInAudience has the value 'Everyone'"),
        Refused(
            method: "PATCH", path: "applications/nosuch", body: [:], status: 404, code: "Request_ResourceNotFound",
            message: "Resource 'nosuch' does not exist"),
        Refused(
            method: "DELETE", path: fixed, status: 403, code: "Authorization_RequestDenied",
            message: "Insufficient privileges to complete the operation."),
        Refused(
            method: "POST", path: fixed + "/addPassword", body: [:], status: 403, code: "Authorization_RequestDenied",
            message: "was there from the start"),
        Refused(
            method: "POST", path: own + "/addPassword", body: ["passwordCredential": ["endDateTime": "soon"]],
            code: "BadRequest", message: "Cannot convert the literal 'soon'"),
        Refused(
            method: "POST", path: own + "/removePassword", body: ["keyId": "nosuch"],
            message: "No password credential found with keyId 'nosuch'."),
        Refused(
            method: "POST", path: "users", body: ["displayName": "Grace"],
            message: "A value is required for property 'accountEnabled' of resource 'User'."),
        Refused(
            method: "POST", path: "users",
            body: newPerson.merging(["userPrincipalName": "grace@fabrikam.example"]),
            message: "The domain portion of the userPrincipalName property is invalid."),
        Refused(
            method: "POST", path: "users", body: newPerson.merging(["userPrincipalName": "adele@contoso.example"]),
            message: "Another object with the same value for property userPrincipalName already exists."),
        Refused(
            method: "POST", path: "users", body: newPerson.merging(["accountEnabled": false]),
            message: "accountEnabled can only be true"),
        Refused(
            method: "PATCH", path: "users/nobody@contoso.example", body: [:], status: 404,
            code: "Request_ResourceNotFound", message: "Resource 'nobody@contoso.example' does not exist"),
        Refused(
            method: "DELETE", path: "users/adele@contoso.example", status: 403, code: "Authorization_RequestDenied",
            message: "was there from the start"),
    ])
    func `a refusal has Graph's form and code`(_ row: Refused) async throws {
        try await Self.run { _, caller async throws in
            let answer = try await caller.call(row.method, row.path, row.body)
            #expect(answer.status == row.status)
            let error = answer.json?["error"]
            #expect(error?["code"]?.string == row.code)
            #expect(error?["message"]?.string?.contains(row.message) == true, "\(answer.text)")
            #expect(error?["innerError"]?["request-id"]?.string != nil)
        }
    }

    @Test(arguments: [
        ("POST", "applications"), ("PATCH", "applications/x"), ("DELETE", "applications/x"),
        ("POST", "applications/x/addPassword"), ("POST", "applications/x/removePassword"), ("POST", "users"),
        ("PATCH", "users/x"), ("DELETE", "users/x"),
    ])
    func `permissions to read are not enough`(_ method: String, _ path: String) async throws {
        try await Self.run(as: Self.reader) { _, caller async throws in
            let answer = try await caller.call(method, path, [:])
            #expect(answer.status == 403)
            #expect(answer.json?["error"]?["code"]?.string == "Authorization_RequestDenied")
        }
    }

    @Test func `an application made at Graph signs a person in who was made there`() async throws {
        try await Self.run { tenant, caller async throws in
            let made = try await caller.call(
                "POST", "applications",
                [
                    "displayName": "Shop", "signInAudience": "AzureADandPersonalMicrosoftAccount",
                    "web": ["redirectUris": ["http://localhost:8080/shop"]],
                    "identifierUris": ["api://shop"], "requiredResourceAccess": [],
                    "api": [
                        "requestedAccessTokenVersion": 2,
                        "oauth2PermissionScopes": [
                            ["value": "Shop.Buy", "id": "33333333-aaaa-4bbb-8ccc-00000000000c", "isEnabled": true]
                        ],
                    ],
                    "appRoles": [
                        [
                            "value": "Shop.Manage", "id": "33333333-aaaa-4bbb-8ccc-00000000000d",
                            "allowedMemberTypes": ["User"], "displayName": "Manager",
                        ]
                    ],
                    "optionalClaims": ["idToken": [["name": "email"]]], "groupMembershipClaims": "SecurityGroup",
                ])
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.member("id"))
            #expect(made.json?["api"]?["requestedAccessTokenVersion"] == 2)
            #expect(made.json?["passwordCredentials"] == [])
            #expect(made.member("createdDateTime")?.hasPrefix("2027-") == true)
            #expect(try await caller.call("GET", "applications/\(id)").json?["identifierUris"] == ["api://shop"])

            let password = try await caller.call(
                "POST", "applications/\(id)/addPassword",
                ["passwordCredential": ["displayName": "CI", "endDateTime": "2028-01-31T00:00:00Z"]])
            let secret = try #require(password.member("secretText"))
            #expect(password.status == 200 && password.member("displayName") == "CI")
            #expect(password.member("hint") == String(secret.prefix(3)))
            #expect(password.member("endDateTime") == "2028-01-31T00:00:00Z")
            let shown = try await caller.call("GET", "applications/\(id)").json?["passwordCredentials"]?.array
            #expect(shown?.count == 1 && shown?.first?["keyId"]?.string == password.member("keyId"))
            #expect(shown?.first?["secretText"] == .null)

            let person = try await caller.call("POST", "users", Self.newPerson)
            #expect(person.status == 201 && person.member("userPrincipalName") == "grace@contoso.example")
            let shop = DemoClient(
                id: made.member("appId") ?? "", name: "Shop", secret: secret, web: ["http://localhost:8080/shop"])
            let scope = ["scope": "openid offline_access api://shop/Shop.Buy"]
            let tokens = try await tenant.browser().tokens("grace@contoso.example", scope, client: shop)
            #expect(tokens.status == 200, "\(tokens.text)")

            // Changes keep what they do not name.
            let change: JSONValue = ["displayName": "Store", "web": ["redirectUris": ["https://store.example/"]]]
            #expect(try await caller.call("PATCH", "applications/\(id)", change).status == 204)
            let changed = try await caller.call("GET", "applications/\(id)")
            #expect(changed.member("displayName") == "Store")
            #expect(changed.json?["web"]?["redirectUris"] == ["https://store.example/"])
            for name in ["identifierUris", "appRoles", "optionalClaims", "signInAudience", "groupMembershipClaims"] {
                #expect(changed.json?[name] == made.json?[name], "\(name)")
            }
            #expect(changed.json?["api"]?["oauth2PermissionScopes"] == made.json?["api"]?["oauth2PermissionScopes"])
            #expect(
                try await caller.call("PATCH", "users/grace@contoso.example", ["displayName": "Amazing Grace"]).status
                    == 204)
            #expect(
                try await caller.call("GET", "users/grace@contoso.example").member("displayName") == "Amazing Grace")

            // Ends
            let removal: JSONValue = ["keyId": .string(password.member("keyId") ?? "")]
            #expect(try await caller.call("POST", "applications/\(id)/removePassword", removal).status == 204)
            let token = tokens.member("refresh_token")
            #expect(try await caller.browser.refresh(token, client: shop).number == 7_000_215)
            let next = try await caller.call("POST", "applications/\(id)/addPassword", [:]).member("secretText")
            let secrets = ["client_secret": next ?? ""]
            #expect(try await caller.browser.refresh(token, secrets, client: shop).status == 200)
            #expect(try await caller.call("DELETE", "users/grace@contoso.example").status == 204)
            #expect(try await caller.browser.refresh(token, secrets, client: shop).number == 50034)
            #expect(try await caller.call("GET", "users/grace@contoso.example").status == 404)
            #expect(try await caller.call("DELETE", "applications/\(id)").status == 204)
            #expect(try await caller.browser.refresh(token, secrets, client: shop).number == 700016)
            #expect(try await caller.call("GET", "applications/\(id)").status == 404)
        }
    }

    @Test func `requiredResourceAccess lists the APIs that an application may ask for`() async throws {
        try await Self.run { tenant, caller async throws in
            let uri = "http://localhost:8080/shop"
            let made = try await caller.call(
                "POST", "applications",
                [
                    "displayName": "Shop", "signInAudience": "AzureADandPersonalMicrosoftAccount",
                    "publicClient": ["redirectUris": [.string(uri)]], "requiredResourceAccess": [],
                ])
            #expect(made.status == 201 && made.json?["requiredResourceAccess"] == [], "\(made.text)")
            let shop = DemoClient(id: made.member("appId") ?? "", name: "Shop", native: [uri])
            let path = "applications/\(made.member("id") ?? "")"
            // Another change leaves it as it is.
            #expect(try await caller.call("PATCH", path, ["displayName": "Store"]).status == 204)
            let refused = try await tenant.browser().signIn("megan@contoso.example", client: shop).answer
            #expect(refused["error_description"]?.hasPrefix("AADSTS650057: ") == true, "\(refused)")

            let scope: JSONValue = ["id": "e1fe6dd8-ba31-4d61-89e7-88639da4683d", "type": "Scope"]
            let role: JSONValue = ["id": "df021288-bdef-4463-88db-98f22de89214", "type": "Role"]
            let graph: JSONValue = .string(AccessToken.graphAudience)
            let change: JSONValue = [
                "requiredResourceAccess": [
                    ["resourceAppId": graph, "resourceAccess": [scope, role]],
                    ["resourceAppId": "99999999-aaaa-4bbb-8ccc-000000000000", "resourceAccess": []],
                ]
            ]
            #expect(try await caller.call("PATCH", path, change).status == 204)
            let shown = try await caller.call("GET", path).json?["requiredResourceAccess"]
            #expect(shown == [["resourceAppId": graph, "resourceAccess": [scope]]])
            let allowed = try await tenant.browser().signIn("megan@contoso.example", client: shop).answer
            #expect(allowed["code"] != nil, "\(allowed)")
        }
    }

    @Test func `a change keeps an application that says nothing of permissions as it is`() async throws {
        try await Self.run { tenant, caller async throws in
            let made = try await caller.call("POST", "applications", ["displayName": "Shop"])
            let path = "applications/\(made.member("id") ?? "")"
            #expect(try await caller.call("PATCH", path, ["displayName": "Store"]).status == 204)
            let clients = tenant.tenant.clients.filter { $0.name == "Store" }
            #expect(clients.count == 1 && clients.allSatisfy { $0.permissions == nil })
        }
    }

    @Test func `a secret is refused after its end`() async throws {
        try await Self.run { tenant, caller async throws in
            let made = try await caller.call("POST", "applications", ["displayName": "Job"])
            let end = tenant.clock.now.addingTimeInterval(60).formatted(.iso8601)
            let password = try await caller.call(
                "POST", "applications/\(made.member("id") ?? "")/addPassword",
                ["passwordCredential": ["endDateTime": .string(end)]])
            let client = DemoClient(id: made.member("appId") ?? "", name: "Job", secret: password.member("secretText"))
            let scope = ["scope": "https://graph.microsoft.com/.default"]
            #expect(try await caller.browser.ownToken(scope, client: client).status == 200)
            tenant.clock.advance(61)
            #expect(try await caller.browser.ownToken(scope, client: client).number == 7_000_222)
        }
    }
}
