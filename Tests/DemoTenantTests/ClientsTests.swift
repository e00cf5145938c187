import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("The requests of the clients at /clients")
struct ClientsTests {
    private static let correlationID = "5e1d9f0a-6f0b-4c83-9a0e-1a2b3c4d5e6f"
    private static let here = PeerAddress(ipv4: (127, 0, 0, 1), port: 1)
    /// The fields that MSAL sends with each request of its own.
    private static let library = [
        ("x-client-SKU", "MSAL.iOS"), ("x-client-Ver", "2.13.0"), ("client-request-id", correlationID.uppercased()),
    ]

    /// Returns the clients as JSON, the one that was heard last first.
    private static func clients(_ browser: Browser) async throws -> [JSONValue] {
        try await browser.get("/clients").json?["clients"]?.array ?? []
    }

    private static func values(_ name: String, of requests: JSONValue?) -> [JSONValue?] {
        (requests?.array ?? []).reversed().map { $0[name] }
    }

    @Test(arguments: [("companion/1.0 (check)", true), ("companion/1.0", false)])
    func `a check of the companion is named, and its refusal is none of an app`(agent: String, isCheck: Bool)
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.redeem("made-up", client: TestTenant.native, headers: [("User-Agent", agent)])
            let page = try await browser.get("/control?ui_locales=en", headers: [("Accept", "text/html")]).text
            #expect(page.contains("Check by the companion") == isCheck)
            #expect(page.contains("class=\"failed\"") == !isCheck)
        }
    }

    @Test
    func `a sign-in of MSAL is listed step by step under its client, and nothing else of it is kept`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.get(
                "/common/v2.0/.well-known/openid-configuration", [], headers: Self.library)
            let (answer, _) = try await browser.signIn(
                "adele@contoso.example", ["client-request-id": Self.correlationID, "login_hint": "adele"],
                client: TestTenant.native)
            let code = answer["code"]
            _ = try await browser.redeem(
                code, ["code_verifier": TestTenant.challenge], client: TestTenant.native, headers: Self.library)
            let tokens = try await browser.redeem(code, client: TestTenant.native, headers: Self.library)
            let refreshed = try await browser.refresh(
                tokens.member("refresh_token"), ["scope": "User.Read openid"], client: TestTenant.native)
            _ = try await browser.me(refreshed.member("access_token"), headers: Self.library)

            let list = try await browser.get("/clients")
            let client = list.json?["clients"]?.array?.first
            #expect(list.json?["clients"]?.array?.count == 1, "the metadata's request belongs to the client, too")
            #expect(client?["client_id"] == .string(TestTenant.native.id))
            #expect(client?["name"] == "Native <tutorial>")
            #expect(client?["library"] == "MSAL.iOS 2.13.0")
            let requests = client?["requests"]
            #expect(
                Self.values("step", of: requests)
                    == ["metadata", "authorize", "page", "page", "page", "code", "code", "refresh", "api"])
            #expect(Self.values("status", of: requests) == [200, 303, 303, 303, 302, 400, 200, 200, 200])
            #expect(
                Self.values("error", of: requests)
                    == [.null, .null, .null, .null, .null, "AADSTS501481", .null, .null, .null])
            #expect(Self.values("position", of: requests) == (1...9).map { .integer($0) })
            for index in [0, 1, 5, 6, 8] {
                #expect(Self.values("correlation_id", of: requests)[index] == .string(Self.correlationID))
            }
            #expect(
                Self.values("parameters", of: requests)[5]
                    == [
                        "grant_type", "client_id", "redirect_uri", "code", "code_verifier", "client_info",
                    ])
            #expect(Self.values("parameters", of: requests)[2] == [], "the tenant's own forms are not the client's")
            #expect(Self.values("scopes", of: requests)[7] == ["User.Read", "openid"])

            let page = try await browser.get("/control", headers: [("Accept", "text/html")])
            let secrets = [
                code, TestTenant.verifier, tokens.member("refresh_token"), tokens.member("access_token"),
                tokens.member("id_token"), "adele", "Adele", "the state", "the nonce", "the+state",
            ]
            let shown = try #require(page.requests)
            for secret in secrets.compactMap(\.self) {
                #expect(!list.text.contains(secret) && !shown.contains(secret), "\(secret.prefix(12))")
            }
        }
    }

    @Test func `the client of Basic credentials and of a sign-out is known, and errors that are a page have numbers`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let pair = "\(TestTenant.web.id):wrong"
            _ = try await browser.redeem(
                "code", ["client_id": "", "client_secret": ""],
                headers: [("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())")])
            _ = try await browser.authorize(["redirect_uri": "http://localhost:8080/other"])
            _ = try await browser.authorize(["prompt": "none"])
            _ = try await browser.get(
                "/common/oauth2/v2.0/logout",
                [("post_logout_redirect_uri", TestTenant.web.redirectURIs[0])])
            let requests = try await Self.clients(browser).first?["requests"]
            #expect(Self.values("step", of: requests).last == "sign_out")
            #expect(Self.values("error", of: requests) == ["AADSTS7000215", "AADSTS50011", "AADSTS50058", .null])
            #expect(Self.values("status", of: requests) == [401, 400, 302, 302])
        }
    }

    @Test func `a request that gets no answer on purpose is listed without a status`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.control(["provider_down": "all"])
            await #expect(throws: (any Error).self) {
                try await browser.get("/common/v2.0/.well-known/openid-configuration", headers: Self.library)
            }
            let client = try await Self.clients(browser).first
            #expect(Self.values("step", of: client?["requests"]).last == "metadata")
            #expect(Self.values("status", of: client?["requests"]).last == .null)
            #expect(client?["library"] == "MSAL.iOS 2.13.0")
            let page = try await browser.get("/control", headers: [("Accept", "text/html")])
            #expect(page.text.contains("<span class=\"status\">No response</span>"))
        }
    }

    @Test(
        arguments: [
            ("client_id", "someone@contoso.example", "client_id", .null),
            ("client_id", "22222222-aaaa-4bbb-8ccc-000000000009", "client_id", "22222222-aaaa-4bbb-8ccc-000000000009"),
            ("client-request-id", "not a GUID", "correlation_id", nil),
            ("x-client-SKU", "MSAL for nobody", "library", .null),
            ("x-client-sku", "MSAL.Python", "library", "MSAL.Python"),
            ("scope", "User.Read " + String(repeating: "a", count: 101) + " ü", "scopes", ["User.Read"]),
            ("eyJhbGciOi", "", "parameters", []),
        ] as [(String, String, String, JSONValue?)])
    func `only values of the expected form are kept`(
        name: String, value: String, member: String, kept: JSONValue?
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.get("/common/oauth2/v2.0/authorize", [(name, value)])
            let client = try await Self.clients(browser).first
            let found = client?["requests"]?.array?.first?[member] ?? client?[member]
            if let kept { #expect(found == kept) } else { #expect(found?.string?.contains(value) == false) }
        }
    }

    @Test func `at most 500 requests and one megabyte are kept, and the oldest go first`() throws {
        let request = Request(head: try RequestHead(target: "/common/oauth2/v2.0/authorize"), peer: Self.here)
        func entry(scope: String) -> ClientRequest {
            ClientRequest(
                request, try? FormFields(query: "scope=\(scope)"), step: .authorize, note: .init(), status: 200,
                time: Date(timeIntervalSince1970: 0), milliseconds: 1, isRegistered: { _ in true })
        }
        let small = ClientJournal()
        for _ in 0..<600 { small.add(entry(scope: "a")) }
        #expect(small.now.count == 600)
        #expect(small.now.requests.map(\.position) == Array(101...600))
        let large = ClientJournal()
        let scopes = Array(repeating: String(repeating: "a", count: 100), count: 16).joined(separator: "+")
        for _ in 0..<600 { large.add(entry(scope: scopes)) }
        let kept = large.now.requests
        #expect(kept.count < 550 && kept.last?.position == 600)
        #expect(kept.reduce(0) { $0 + $1.cost } <= ClientJournal.maxBytes)
        #expect(kept.first.map { kept.reduce($0.cost) { $0 + $1.cost } > ClientJournal.maxBytes } ?? false)
    }

    @Test func `who has seen all requests gets no content, and the page's script may ask only this server`()
        async throws
    {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            #expect(try await browser.get("/clients?after=0").status == 204)
            _ = try await browser.get("/common/discovery/v2.0/keys")
            #expect(try await browser.get("/clients?after=0").status == 200)
            #expect(try await browser.get("/clients?after=1").status == 204)
            let page = try await browser.get("/control", headers: [("Accept", "text/html")])
            #expect(page["Cache-Control"] == "no-store")
            #expect(page["Content-Security-Policy"]?.contains("script-src 'self'; connect-src 'self'; form") == true)
            #expect(page.text.contains("Requests without a client ID"))
            #expect(!page.text.contains("<code>-1202</code>"), "over plain HTTP there is no certificate")
            for name in ["clients", "control"] {
                let script = try await browser.get("/assets/\(name).js")
                let writes = ["innerHTML = ", "outerHTML = "].filter(script.text.contains)
                #expect(script.status == 200 && writes == [])
            }
            let people = [("Accept", "text/html")]
            #expect(try await browser.get("/control?after=1", headers: people).status == 204)
            #expect(try await browser.get("/control?after=0", headers: people).status == 200)
            #expect(try await browser.get("/control?after=1").status == 200, "the settings as JSON have no such rule")
            let moved = try await browser.get("/clients?ui_locales=ja&after=1", headers: people)
            #expect(moved.status == 302 && moved["Location"] == "/control?ui_locales=ja#requests")
        }
    }

    @Test func `only a request that MSAL itself sent shows that the certificate is trusted`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            _ = try await browser.authorize(["x-client-SKU": "MSAL.iOS", "x-client-Ver": "2.13.0"])
            _ = try await browser.get(
                "/common/discovery/v2.0/keys", headers: [("x-client-SKU", "MSAL.Python")])
            #expect(try await browser.get("/clients").json?["first_from_app"] == .null)
            _ = try await browser.get("/common/v2.0/.well-known/openid-configuration", headers: Self.library)
            #expect(try await browser.get("/clients").json?["first_from_app"] == "2027-01-15T08:00:00Z")
        }
    }

    private static func page(_ journal: ClientJournal, isSecure: Bool = true, explainURL: String? = nil) -> String {
        ClientsSection(journal: journal.now, mark: "", names: [:], isSecure: isSecure, explainURL: explainURL).content
            .text
    }

    @Test(arguments: [(1, 1, 0), (20, 1, 0), (21, 2, 1), (45, 3, 1)])
    func `an application's requests are in parts of twenty, of which the page can show the older ones`(
        _ count: Int, _ parts: Int, _ buttons: Int
    ) throws {
        let journal = ClientJournal()
        for position in 1...count {
            journal.add(
                ClientRequest(
                    Request(head: try RequestHead(target: "/common/oauth2/v2.0/authorize"), peer: Self.here), nil,
                    step: .authorize, note: .init(), status: 302, time: Date(timeIntervalSince1970: 0),
                    milliseconds: position, isRegistered: { _ in true }))
        }
        let page = Self.page(journal)
        #expect(page.ranges(of: "<tbody>").count == parts && page.ranges(of: "</tbody>").count == parts)
        #expect(page.ranges(of: "<tr data-correlation").count == count)
        #expect(page.ranges(of: "<button class=\"older scripted\"").count == buttons)
    }

    @Test func `the page explains the system's errors until an app has connected, and each number`() throws {
        var fields: HTTPFields = [:]
        fields[try #require(HTTPField.Name("x-client-SKU"))] = "MSAL.OSX"
        fields[try #require(HTTPField.Name("x-client-Ver"))] = "2.13.0"
        let head = try RequestHead(target: "/common/oauth2/v2.0/authorize", headerFields: fields)
        let journal = ClientJournal()
        #expect(Self.page(journal).contains("<code>-1202</code>"))
        journal.add(
            ClientRequest(
                Request(head: head, peer: Self.here), nil, step: .authorize, note: .init(error: "AADB2C90118"),
                status: 302, time: Date(timeIntervalSince1970: 0), milliseconds: 1, isRegistered: { _ in true }))
        let connected = Self.page(journal)
        #expect(!connected.contains("<code>-1202</code>") && connected.contains("MSAL.OSX 2.13.0 first connected at"))
        #expect(connected.contains(">The user has forgotten their password.<"), "the text itself")
        journal.add(
            ClientRequest(
                Request(head: head, peer: Self.here), nil, step: .code, note: .init(error: "AADSTS900144"), status: 400,
                time: Date(timeIntervalSince1970: 0), milliseconds: 1, isRegistered: { _ in true }))
        #expect(Self.page(journal).contains("href=\"https://login.microsoftonline.com/error?code=900144\""))
        let linked = Self.page(journal, explainURL: "http://localhost:8080/native/explain")
        #expect(linked.contains("href=\"http://localhost:8080/native/explain#AADB2C90118\">AADB2C90118</a>"))
        for step in ClientStep.allCases { #expect(connected.contains("id=\"step-\(step.rawValue)\"")) }
        #expect(connected.contains("href=\"#step-authorize\""))
    }
}
