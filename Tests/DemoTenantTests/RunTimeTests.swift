import Foundation
import Synchronization
import Testing
import WebFormats

@testable import CompanionCommand
@testable import TenantDirectory
@testable import TenantServer

@Suite("Applications and people at run time")
struct RunTimeTests {
    static func run(
        stateFile: String? = nil, controlToken: String? = nil, _ body: @Sendable (TestTenant) async throws -> Void
    ) async throws {
        try await TestTenant.run(
            stateFile: stateFile,
            configured: {
                $0.reader = .ofFile(isForOthers: false)
                $0.controlToken = controlToken
            }, body)
    }

    static let application: JSONValue = [
        "name": "Own world", "client_id": "22222222-aaaa-4bbb-8ccc-000000000001",
        "web": ["http://localhost:8080/own"],
    ]
    static let person: JSONValue = [
        "username": "Ada@contoso.example", "password": "demo", "display_name": "Ada Lovelace",
    ]

    @Test func `a member that is null is as good as none`() async throws {
        try await Self.run { tenant async throws in
            let declaration = Self.application.merging(["id_tokens": .null, "secret": .null])
            _ = try await tenant.browser().made("applications", declaration)
        }
    }

    // MARK: Refusals

    struct Refused: Sendable, CustomTestStringConvertible {
        var method = "POST"
        var path: String
        var body: JSONValue = [:]
        var status = 400
        var code = "bad_request"
        /// The beginning of the sentence.
        var message: String

        var testDescription: String { "\(method) \(path) \(body.text)" }
    }

    @Test(arguments: [
        Refused(path: "applications", body: [], message: "The body is not a JSON object."),
        Refused(path: "applications", message: "application needs a name"),
        Refused(
            path: "applications", body: ["name": "A", "nme": 1],
            message: "application.nme is not known; did you mean name? the keys here are name, client_id, native"),
        Refused(
            path: "applications", body: ["name": "A", "secret_file": "/etc/passwd"],
            message: "application.secret_file is not known"),
        Refused(
            path: "applications", body: ["name": "A", "web": ["http://tasks.example/"]],
            message: "application has “http://tasks.example/”, which is no redirect URI"),
        Refused(
            path: "applications", body: ["name": "A", "client_id": "x"],
            message: "application has the client ID x, which is not a GUID"),
        Refused(
            path: "applications", body: ["name": "A", "client_id": .string(TestTenant.web.id)],
            message: "application has the client ID \(TestTenant.web.id), as another application"),
        Refused(
            path: "applications", body: ["name": "Web tutorial"],
            message: "application has the name Web tutorial, as another application"),
        Refused(
            path: "applications", body: ["name": "A", "id_tokens": "perhaps"],
            message: "application.id_tokens must be true or false"),
        Refused(
            path: "applications", body: ["name": "A", "tenants": ["nosuch.example"]],
            message: "The application 'A' cannot be registered: the tenant 'nosuch.example' is none of"),
        Refused(
            path: "applications", body: ["name": "A", "granted": ["api://nothing": ["X"]]],
            message: "The application 'A' cannot be registered: it has roles of 'api://nothing'"),
        Refused(
            path: "applications", body: ["name": "A", "permissions": ["api://nothing": []]],
            message: "The application 'A' cannot be registered: it has permissions of 'api://nothing'"),
        Refused(
            path: "applications",
            body: ["name": "A", "permissions": ["https://graph.microsoft.com": ["User.Raed"]]],
            message: "The application 'A' cannot be registered: 'User.Raed' is not a scope of"),
        Refused(
            method: "PATCH", path: "applications/\(TestTenant.web.id)", status: 409, code: "not_from_here",
            message: "\(TestTenant.web.id) was there from the start"),
        Refused(
            method: "DELETE", path: "applications/\(DemoClient.nativeSample.id)", status: 409, code: "not_from_here",
            message: DemoClient.nativeSample.id),
        Refused(
            method: "DELETE", path: "applications/nosuch", status: 404, code: "not_found",
            message: "There is no nosuch."),
        Refused(method: "GET", path: "applications", status: 405, message: "POST to the collection"),
        Refused(method: "POST", path: "users/ada@contoso.example", status: 405, message: "POST to the collection"),
        Refused(path: "users", body: ["username": "a@contoso.example"], message: "user needs a password"),
        Refused(
            path: "users", body: ["username": "a@nosuch.example", "password": "p"],
            message: "The user 'a@nosuch.example' cannot be used: its domain has to be one of"),
        Refused(
            path: "users", body: ["username": "a@contoso.example", "password": "p", "roles": ["Nothing": ["R"]]],
            message: "The user 'a@contoso.example' cannot be used: it has roles of 'Nothing'"),
        Refused(
            path: "users", body: ["username": "adele@contoso.example", "password": "p"], status: 409, code: "taken",
            message: "There is an account of the name adele@contoso.example already."),
        Refused(
            method: "DELETE", path: "users/adele@contoso.example", status: 409, code: "not_from_here",
            message: "adele@contoso.example was there from the start"),
        Refused(
            method: "PATCH", path: "users/nobody@contoso.example", status: 404, code: "not_found",
            message: "There is no nobody@contoso.example."),
    ])
    func `a mistake is refused as in the file, and nothing changes`(_ row: Refused) async throws {
        try await Self.run { tenant async throws in
            let browser = tenant.browser()
            let before = (tenant.tenant.clients, tenant.tenant.announcedPeople)
            let answer = try await browser.send(row.method, "/control/\(row.path)", [], row.body.bytes)
            #expect(answer.status == row.status)
            #expect(answer.member("error") == row.code)
            #expect(answer.member("message")?.hasPrefix(row.message) == true, "\(answer.text)")
            #expect(tenant.tenant.clients == before.0 && tenant.tenant.announcedPeople == before.1)
        }
    }

    @Test func `what cannot be changed is not, and what others need is not removed`() async throws {
        try await Self.run { tenant async throws in
            let browser = tenant.browser()
            _ = try await browser.made("applications", Self.application.merging(["app_roles": ["Own.Admin"]]))
            _ = try await browser.made("users", Self.person.merging(["roles": ["Own world": ["Own.Admin"]]]))
            for (method, path, change, message) in [
                (
                    "PATCH", Self.applicationPath, ["client_id": .string(TestTenant.web.id)] as JSONValue,
                    "application has"
                ),
                (
                    "PATCH", Self.applicationPath, ["client_id": "22222222-aaaa-4bbb-8ccc-000000000002"],
                    "application.client_id cannot be changed"
                ),
                ("PATCH", "users/ada@contoso.example", ["username": "b@contoso.example"], "user.username cannot"),
                ("PATCH", Self.applicationPath, ["app_roles": []], "The user 'Ada@contoso.example' cannot be used"),
                ("DELETE", Self.applicationPath, [:], "The user 'Ada@contoso.example' cannot be used"),
            ] {
                let answer = try await browser.send(method, "/control/\(path)", [], change.bytes)
                #expect(answer.status == 400 && answer.member("message")?.hasPrefix(message) == true, "\(answer.text)")
            }
            #expect(try await browser.send("DELETE", "/control/users/ada@contoso.example").status == 204)
            #expect(try await browser.send("DELETE", "/control/\(Self.applicationPath)").status == 204)
        }
    }

    private static let applicationPath = "applications/22222222-aaaa-4bbb-8ccc-000000000001"

    @Test func `other sites and who has no control token register nothing`() async throws {
        try await Self.run { tenant async throws in
            let headers = [("Origin", "https://evil.example")]
            let answer = try await tenant.browser().send("POST", "/control/users", headers, Self.person.bytes)
            #expect(answer.status == 403 && answer.member("error") == "cross_site_request")
        }
        try await Self.run(controlToken: "a control token") { tenant async throws in
            for path in ["users", "applications", "announcement"] {
                let method = path == "announcement" ? "GET" : "POST"
                let answer = try await tenant.browser().send(method, "/control/\(path)", [], Self.person.bytes)
                #expect(answer.status == 401)
            }
            let headers = [("Authorization", "Bearer a control token")]
            let answer = try await tenant.browser().send("POST", "/control/users", headers, Self.person.bytes)
            #expect(answer.status == 201)
        }
        try await TestTenant.run { tenant async throws in
            #expect(try await tenant.browser().send("POST", "/control/users", [], Self.person.bytes).status == 404)
        }
    }

    @Test func `the number of applications and of their secrets is limited`() async throws {
        try await Self.run { tenant async throws in
            let registry = try #require(tenant.tenant.platform.registry)
            var id = ""
            for number in 1...RunTimeRegistry.mostApplications {
                id = try registry.addApplication(
                    ["name": "A \(number)"], isNameUnique: true, makesSecret: false
                ).client.id
            }
            let answer = try await tenant.browser().send("POST", "/control/applications", [], Self.application.bytes)
            #expect(answer.status == 409 && answer.member("error") == "too_many")
            #expect(answer.member("message")?.contains("200 applications already") == true)
            for _ in 1...RunTimeRegistry.mostSecrets {
                _ = try registry.addSecret(to: id, name: nil, start: nil, end: nil)
            }
            #expect(throws: RunTimeRegistry.Refusal.self) {
                try registry.addSecret(to: id, name: nil, start: nil, end: nil)
            }
        }
    }

    // MARK: A world of its own

    @Test func `a new person signs in at a new application, and removal ends what they have`() async throws {
        try await Self.run { tenant async throws in
            let browser = tenant.browser()
            tenant.tenant.announce { ["users": .array(tenant.tenant.announcedPeople)] }
            let made = try await browser.made("applications", Self.application)
            #expect(made.member("client_id") == "22222222-aaaa-4bbb-8ccc-000000000001")
            #expect(made.json?["redirect_uris"] == ["http://localhost:8080/own"])
            let client = DemoClient(
                id: made.member("client_id") ?? "", name: "Own world", secret: made.member("secret"),
                web: ["http://localhost:8080/own"])
            let person = try await browser.made("users", Self.person)
            #expect(person["Location"]?.hasSuffix("/control/users/ada@contoso.example") == true)
            let announced = try await browser.get("/control/announcement").json?["users"]?.array ?? []
            #expect(announced.contains { $0["object_id"] == person.json?["object_id"] })

            let tokens = try await browser.tokens("ada@contoso.example", client: client)
            #expect(tokens.status == 200)
            let me = try await browser.me(tokens.member("access_token"))
            #expect(me.member("displayName") == "Ada Lovelace" && me.member("id") == person.member("object_id"))
            let wrong = try await browser.refresh(
                tokens.member("refresh_token"), ["client_secret": "wrong"], client: client)
            #expect(wrong.number == 7_000_215)

            // Changes
            let renamed = try await browser.send(
                "PATCH", "/control/users/ada@contoso.example", [], (["display_name": "Ada King"] as JSONValue).bytes)
            #expect(renamed.member("name") == "Ada King")
            let renewed = try await browser.refresh(tokens.member("refresh_token"), client: client)
            #expect(renewed.status == 200)
            let changed = try await browser.send(
                "PATCH", "/control/applications/\(client.id)", [], (["secret": "another"] as JSONValue).bytes)
            #expect(changed.status == 200)
            #expect(try await browser.refresh(tokens.member("refresh_token"), client: client).number == 7_000_215)
            var other = client
            other.secret = "another"
            #expect(try await browser.refresh(tokens.member("refresh_token"), client: other).status == 200)

            // The person
            #expect(try await browser.send("DELETE", "/control/users/ada@contoso.example").status == 204)
            let gone = try await browser.refresh(tokens.member("refresh_token"), client: other)
            #expect(gone.number == 50034 && gone.member("error") == "invalid_grant" && gone.status == 400)
            #expect(try await browser.me(tokens.member("access_token")).status == 401)
            let (_, pages) = try await tenant.browser().signIn("megan@contoso.example", client: other)
            #expect(pages.contains("consent"))
            // Another person of the same name has nothing of theirs.
            let again = try await browser.made("users", Self.person)
            #expect(again.member("object_id") != person.member("object_id"))
            #expect(try await browser.refresh(tokens.member("refresh_token"), client: other).number == 50173)
            #expect(try await browser.me(tokens.member("access_token")).status == 401)

            // The application
            let second = try await tenant.browser().tokens("ada@contoso.example", client: other)
            #expect(second.status == 200)
            #expect(try await browser.send("DELETE", "/control/applications/\(client.id)").status == 204)
            let removed = try await browser.refresh(second.member("refresh_token"), client: other)
            #expect(removed.number == 700016 && removed.member("error") == "unauthorized_client")
            #expect(try await tenant.browser().authorize(client: other).text.contains("AADSTS700016"))
            // Nor has another application of the same ID.
            _ = try await browser.made("applications", Self.application.merging(["secret": "another"]))
            #expect(try await browser.refresh(second.member("refresh_token"), client: other).number == 50173)
            let (_, asked) = try await tenant.browser().signIn("ada@contoso.example", client: other)
            #expect(asked.contains("consent"), "the consent went with the application")
        }
    }

    @Test func `the state has them without their secrets, until it begins anew`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        let secret = Mutex("")
        try await Self.run(stateFile: path) { tenant async throws in
            let browser = tenant.browser()
            let made = try await browser.made("applications", Self.application)
            secret.withLock { $0 = made.member("secret") ?? "" }
            let person = Self.person.merging(["password": "a long password of Ada's"])
            _ = try await browser.made("users", person)
            let file = try String(contentsOfFile: path, encoding: .utf8)
            #expect(file.contains("Ada Lovelace") && file.contains("localhost:8080"))
            #expect(!file.contains("a long password") && !file.contains(secret.withLock { $0 }))
        }
        try await Self.run(stateFile: path) { tenant async throws in
            let browser = tenant.browser()
            #expect(tenant.tenant.clients.contains { $0.name == "Own world" })
            let change: JSONValue = ["password": "demo"]
            #expect(
                try await browser.send("PATCH", "/control/users/ada@contoso.example", [], change.bytes).status == 200)
            let client = DemoClient(
                id: "22222222-aaaa-4bbb-8ccc-000000000001", name: "Own world", secret: secret.withLock { $0 },
                web: ["http://localhost:8080/own"])
            #expect(try await browser.tokens("ada@contoso.example", client: client).status == 200)
            _ = try await browser.control(["reset": true])
            #expect(tenant.tenant.clients.contains { $0.name == "Own world" })
            _ = try await browser.control(["reset": "seed"])
            #expect(!tenant.tenant.clients.contains { $0.name == "Own world" })
            #expect(try await browser.authorize(client: client).text.contains("AADSTS700016"))
        }
        try await Self.run(stateFile: path) { tenant async throws in
            #expect(!tenant.tenant.clients.contains { $0.name == "Own world" })
        }
    }

    @Test func `what the file has by now goes before what was registered`() async throws {
        let path = try TestTenant.temporaryPath()
        defer { TestTenant.remove(path) }
        try await Self.run(stateFile: path) { tenant async throws in
            _ = try await tenant.browser().made("applications", Self.application)
            _ = try await tenant.browser().made("users", Self.person)
        }
        try await TestTenant.run(
            stateFile: path,
            configured: {
                $0.reader = .ofFile(isForOthers: false)
                $0.clients.append(DemoClient(id: "22222222-aaaa-4bbb-8ccc-000000000001", name: "Of the file"))
            }
        ) { tenant async throws in
            let clients = tenant.tenant.clients
            #expect(clients.contains { $0.name == "Of the file" } && !clients.contains { $0.name == "Own world" })
            #expect(tenant.tenant.announcedPeople.contains { $0["username"] == "ada@contoso.example" })
        }
    }

    @Test func `several register at once while others read`() async throws {
        try await Self.run { tenant async throws in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...20 {
                    group.addTask {
                        let body: JSONValue = ["name": "A \(number)", "native": ["com.contoso.a\(number)"]]
                        return try await tenant.browser().send("POST", "/control/applications", [], body.bytes).status
                    }
                    group.addTask {
                        try await tenant.browser().authorize().status == 200 ? 201 : 500
                    }
                }
                for try await status in group { #expect(status == 201) }
            }
            #expect(tenant.tenant.clients.count == 23)
        }
    }
}

extension Browser {
    /// Registers something that is right.
    func made(_ collection: String, _ declaration: JSONValue) async throws -> Answer {
        let answer = try await send("POST", "/control/\(collection)", [], declaration.bytes)
        guard answer.status == 201 else { throw TestFailure("\(answer.status): \(answer.text)") }
        return answer
    }
}
