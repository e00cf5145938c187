import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Graph's batches")
struct GraphBatchTests {
    private static func item(_ id: String, _ url: String, _ members: [String: JSONValue] = [:]) -> JSONValue {
        .object(["id": .string(id), "method": "GET", "url": .string(url)].merging(members) { $1 })
    }

    private func post(_ requests: [JSONValue], control: JSONValue? = nil) async throws -> (Answer, count: Int?) {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.graphToken("adele@contoso.example", "User.ReadBasic.All")
            if let control { _ = try await browser.control(control) }
            let body: JSONValue = ["requests": .array(requests)]
            let headers = [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")]
            return (
                try await browser.send("POST", "/v1.0/$batch", headers, body.bytes), try await browser.count("graph_me")
            )
        }
    }

    @Test func `each request is answered as it would be alone`() async throws {
        let objects: JSONValue = ["securityEnabledOnly": true]
        let (answer, count) = try await post([
            Self.item("1", "/me"), Self.item("2", "users?$select=displayName&$top=1"),
            Self.item("3", "/me/photo/$value"),
            Self.item("4", "/groups"), Self.item("5", "/users/$count", ["headers": ["ConsistencyLevel": "eventual"]]),
            Self.item(
                "6", "/me/getMemberObjects",
                ["method": "post", "headers": ["Content-Type": "application/json"], "body": objects]),
            Self.item("7", "/$batch", ["method": "POST"]), Self.item("8", "/me?x= y"),
            Self.item("9", "/../oidc/userinfo"),
        ])
        #expect(answer.status == 200 && count == 1)
        let responses = answer.json?["responses"]?.array ?? []
        #expect(responses.compactMap { $0["id"]?.string } == (1...9).map(String.init))
        #expect(responses.compactMap { $0["status"]?.integer } == [200, 200, 200, 403, 200, 200, 400, 400, 400])
        #expect(responses[0]["body"]?["displayName"] == "Adele Vance")
        #expect(
            responses[1]["body"]?["@odata.nextLink"]?.string?.contains("/v1.0/users?$select=displayName&$top=1") == true
        )
        #expect(responses[2]["body"]?.string?.hasPrefix("/9j/") == true)
        #expect(responses[2]["headers"]?["Content-Type"] == "image/jpeg")
        #expect(responses[3]["body"]?["error"]?["code"] == "Authorization_RequestDenied")
        let refused = responses[3]["headers"]
        #expect(refused?["Content-Type"] == "application/json" && refused?["OData-Version"] == nil)
        #expect(responses[4]["body"] == 5)
    }

    @Test func `a request whose dependency failed is not sent`() async throws {
        let (answer, count) = try await post([
            Self.item("a", "/nothing"), Self.item("b", "/me", ["dependsOn": ["a"]]),
            Self.item("c", "/me", ["dependsOn": ["b"]]), Self.item("d", "/me"),
            Self.item("e", "/me", ["dependsOn": ["D"]]),
        ])
        let responses = answer.json?["responses"]?.array ?? []
        #expect(responses.compactMap { $0["status"]?.integer } == [400, 424, 424, 200, 200])
        #expect(count == 2)
    }

    @Test func `each request is throttled alone`() async throws {
        let (answer, _) = try await post(
            [Self.item("1", "/me"), Self.item("2", "/me")],
            control: ["graph_error": ["status": 429, "body": [:], "headers": ["Retry-After": "7"]]])
        let responses = answer.json?["responses"]?.array ?? []
        #expect(answer.status == 200)
        #expect(responses.compactMap { $0["status"]?.integer } == [429, 200])
        #expect(responses[0]["headers"]?["Retry-After"] == "7")
    }

    @Test func `a scope that the control page demands is missing in each request`() async throws {
        let (answer, _) = try await post(
            [Self.item("1", "/me"), Self.item("2", "/users")], control: ["missing_scope": "Mail.Read"])
        let responses = answer.json?["responses"]?.array ?? []
        #expect(responses.compactMap { $0["status"]?.integer } == [403, 403])
    }

    @Test(
        arguments: [
            ("none", []), ("21", (1...21).map { item("\($0)", "/me") }),
            ("one id twice", [item("1", "/me"), item("1", "/users")]),
            ("ids that differ only in case", [item("a", "/me"), item("A", "/users")]),
            ("no id", [["method": "GET", "url": "/me"]]),
            ("no method", [["id": "1", "url": "/me"]]), ("no url", [["id": "1", "method": "GET"]]),
            ("an absolute url", [item("1", "https://graph.microsoft.com/v1.0/me")]), ("no object", ["/me"]),
            ("a later dependency", [item("1", "/me", ["dependsOn": ["2"]]), item("2", "/me")]),
            ("itself as dependency", [item("1", "/me", ["dependsOn": ["1"]])]),
            ("a body without its type", [item("1", "/me", ["body": [:]])]),
        ] as [(String, [JSONValue])])
    func `a batch that is none is refused as a whole`(_ name: String, _ requests: [JSONValue]) async throws {
        let (answer, count) = try await post(requests)
        #expect(answer.status == 400 && answer.graphError == "BadRequest" && count == 0)
    }
}
