import Testing

@testable import TenantServer

@Suite("A page from which no application is reached leads to the companion, if the tenant was started by one")
struct WayOutTests {
    private static let home = "http://localhost:8080/c/"
    private static let evil = "http://evil.example/auth"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A part of the page's text.
        let text: String
        let page: @Sendable (TestTenant) async throws -> Answer

        init(_ description: String, _ text: String, _ page: @escaping @Sendable (TestTenant) async throws -> Answer) {
            (testDescription, self.text, self.page) = (description, text, page)
        }

        /// An authorization request with changes.
        static func request(
            _ description: String, _ number: Int, _ changes: [String: String] = [:], segment: String = "common"
        ) -> Row {
            Row(description, "AADSTS\(number): ") { tenant in
                try await tenant.browser().authorize(changes, segment: segment)
            }
        }

        /// A sign-in of this person with the password.
        static func signIn(_ description: String, _ text: String, _ username: String) -> Row {
            Row(description, text) { tenant in
                let browser = tenant.browser()
                let password = try await browser.authorize(["login_hint": username])
                return try await browser.submit(password, "password", "demo")
            }
        }
    }

    private static let rows: [Row] = [
        .request("a redirect URI that is not registered", 50011, ["redirect_uri": evil]),
        .request("no redirect URI", 900_971, ["redirect_uri": ""]),
        .request("an unknown application", 700016, ["client_id": "nobody", "redirect_uri": evil]),
        .request("no application", 900144, ["client_id": "", "redirect_uri": evil]),
        .request("an unknown tenant", 90002, ["redirect_uri": evil], segment: "woodgrove.example"),
        .request("an unknown prompt", 90023, ["prompt": "please"]),
        Row("an error on demand that the tenant shows itself", "AADSTS700016: ") { tenant in
            let browser = tenant.browser()
            _ = try await browser.control(["authorize_platform_error": 700016])
            return try await browser.authorize()
        },
        Row("a sign-in that has ended", "AADSTS165000: ") { try await $0.browser().get("/common/login?flow=x") },
        Row("a form of another site", "AADSTS165000: ") { tenant in
            try await tenant.browser().post("/common/login", [("flow", "x")], headers: [("Origin", evil)])
        },
        Row("a sign-in of another browser", "<h1>Start again</h1>") { tenant in
            let begun = try await tenant.browser().sendOnce(
                "GET", "/common/oauth2/v2.0/authorize".appending(query: Browser.authorization(TestTenant.web)))
            return try await tenant.browser().get(begun["Location"] ?? "")
        },
        Row("a person of another tenant", "AADSTS50020: ") { tenant in
            let browser = tenant.browser()
            let picker = try await browser.authorize(segment: "contoso.example")
            return try await browser.submit(picker, "username", "alex@outlook.example")
        },
        .signIn("a person whom a policy blocks", "AADSTS53003: ", "blocked@contoso.example"),
        .signIn("a person who is not assigned", "AADSTS50105: ", "adele@contoso.example"),
    ]

    @Test(arguments: rows, [home, nil])
    func `the link leads to what the tenant knows, with the error's number, and never to an address of the request`(
        _ row: Row, _ home: String?
    ) async throws {
        try await TestTenant.run(configured: { configuration in
            configuration.clients[0].homeURL = home
            configuration.clients[0].assignmentRequired = row.text.hasPrefix("AADSTS50105")
        }) { (tenant) async throws in
            let page = try await row.page(tenant)
            #expect(page.text.contains(row.text), "\(page.text)")
            let links = page.text.matches(of: /<a class="back" href="([^"]*)"/).map { String($0.output.1) }
            let id = page.text.firstMatch(of: /<dt>Correlation ID<\/dt><dd>([0-9a-f-]{36})</)?.output.1
            let number = row.text.firstMatch(of: /AADSTS(\d+)/)?.output.1
            let ended = number.map { "?ended=\($0)&amp;correlation_id=\(id ?? "none")" } ?? ""
            #expect(links == [home].compactMap { $0.map { $0 + ended } })
            #expect(!page.text.contains("href=\"\(Self.evil)"))
        }
    }

    @Test func `at a kiosk it leads to the kiosk's start page, and a page of a sign-in has none`() async throws {
        let kiosk = "http://localhost:8080/kiosk"
        try await TestTenant.run(configured: { configuration in
            configuration.kioskURL = kiosk
            configuration.clients[0].homeURL = Self.home
        }) { (tenant) async throws in
            let page = try await tenant.browser().authorize(["redirect_uri": Self.evil])
            #expect(page.text.contains("<a class=\"back\" href=\"\(kiosk)\">Back to Companion</a>"))
            #expect(!(try await tenant.browser().authorize().text.contains("class=\"back\"")))
        }
    }
}
