import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Testing
import WebFormats

@testable import DemoTenant

@Suite("Who may talk to the tenant")
struct BoundaryTests {
    private static let here = PeerAddress(ipv4: (127, 0, 0, 1), port: 1)

    @Test(
        arguments: [
            ("localhost", true), ("LOCALHOST:8081", true), ("127.0.0.1:8081", true), ("[::1]:8081", true),
            ("localhost.evil.example", false), ("evil.example", false), ("evil.example:8081", false),
            ("127.0.0.1.evil.example", false), ("0.0.0.0:8081", false), ("[::2]", false),
        ])
    func `the name in the URL has to be the loopback's own`(_ host: String, _ isLoopback: Bool) throws {
        let platform = try Platform(
            DemoTenantConfiguration(clients: [TestTenant.web], publicFolder: TestTenant.publicFolder),
            logger: Logger(label: "demo tenant"))
        let head = try RequestHead(target: "/", headerFields: [try #require(HTTPField.Name("Host")): host])
        var mark = RequestMark()
        let responder = DemoResponder(platform: platform, assets: [:])
        guard case .response(let response) = responder.reply(to: head, from: Self.here, mark: &mark) else {
            Issue.record("no answer at once")
            return
        }
        #expect(response.status == (isLoopback ? .found : .misdirectedRequest))
    }

    @Test(
        arguments: [
            (here, 302), (PeerAddress(ipv4: (127, 9, 9, 9), port: 1), 302),
            (PeerAddress(ipv4: (10, 0, 0, 7), port: 1), 421), (PeerAddress(ipv4: (192, 168, 1, 2), port: 1), 421),
            (PeerAddress(ipv4: (128, 0, 0, 1), port: 1), 421),
        ])
    func `another computer is turned away, whatever name it has for this one`(_ peer: PeerAddress, _ status: Int) throws
    {
        let platform = try Platform(
            DemoTenantConfiguration(clients: [TestTenant.web], publicFolder: TestTenant.publicFolder),
            logger: Logger(label: "demo tenant"))
        let responder = DemoResponder(platform: platform, assets: [:])
        let head = try RequestHead(target: "/")
        var mark = RequestMark()
        guard case .response(let response) = responder.reply(to: head, from: peer, mark: &mark) else {
            Issue.record("no answer at once")
            return
        }
        #expect(response.status.code == status)
    }

    @Test(
        arguments: [
            ("0.0.0.0", "localhost:8081", 302), ("0.0.0.0", "127.0.0.1:8081", 302), ("::", "[::1]:8081", 302),
            ("0.0.0.0", "evil.example", 421), ("0.0.0.0", "0.0.0.0:8081", 421), ("0.0.0.0", "10.0.0.5:8081", 421),
            ("127.0.0.1", "localhost:8081", 421), ("::1", "localhost:8081", 421), ("localhost", "localhost:8081", 421),
        ])
    func `a tenant that listens beyond loopback serves other computers, but under no foreign name`(
        listenHost: String, host: String, status: Int
    ) throws {
        var configuration = DemoTenantConfiguration(
            clients: [TestTenant.web], publicFolder: TestTenant.publicFolder)
        configuration.listenHost = listenHost
        let platform = try Platform(configuration, logger: Logger(label: "demo tenant"))
        let responder = DemoResponder(platform: platform, assets: [:])
        let head = try RequestHead(target: "/", headerFields: [try #require(HTTPField.Name("Host")): host])
        var mark = RequestMark()
        let peer = PeerAddress(ipv4: (10, 0, 0, 7), port: 1)
        guard case .response(let response) = responder.reply(to: head, from: peer, mark: &mark) else {
            Issue.record("no answer at once")
            return
        }
        #expect(response.status.code == status)
    }

    @Test func `a foreign name that leads here is turned away`() async throws {
        try await TestTenant.run { (tenant) async throws in
            // Our own client sends no other Host than the address's.
            let curl = Process()
            let output = Pipe()
            curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            curl.arguments = [
                "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--header", "Host: evil.example",
                "\(tenant.tenant.baseURL)/control",
            ]
            curl.standardOutput = output
            try curl.run()
            let status = try output.fileHandleForReading.readToEnd() ?? Data()
            #expect(String(decoding: status, as: UTF8.self) == "421")
        }
    }

    @Test(
        arguments: [
            [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "none")],
            [("Origin", "http://evil.example")], [("Origin", "http://localhost:1")], [("Origin", "null")],
        ])
    func `a form or a script of another site changes nothing`(_ headers: [(String, String)]) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let change = try await browser.send("POST", "/control", headers, Array(#"{"token_delay_ms":7}"#.utf8))
            #expect(change.status == 403)
            #expect(change.member("error") == "cross_site_request")
            #expect(try await browser.get("/control").json?["token_delay_ms"] == 0)
            let picker = try await browser.authorize()
            let stolen = try await browser.submit(picker, "username", "adele@contoso.example", headers: headers)
            #expect(stolen.status == 400)
            let own = try await browser.submit(
                picker, "username", "adele@contoso.example",
                headers: [("Origin", tenant.tenant.baseURL), ("Sec-Fetch-Site", "same-origin")])
            #expect(own.shownField == "password")
        }
    }

    @Test func `every page's policy lets forms end at the applications, and lets nothing else in`() async throws {
        try await TestTenant.run { (tenant) async throws in
            func check(_ answer: Answer, _ formAction: String) throws {
                let policy = try #require(answer["Content-Security-Policy"])
                #expect(policy.contains("form-action \(formAction);"))
                #expect(policy.contains("default-src 'none'"))
                #expect(!policy.contains("unsafe"))
            }
            let browser = tenant.browser()
            for path in ["/control", "/common/oauth2/v2.0/authorize", "/nowhere", "/assets/demo-tenant.css"] {
                try check(try await browser.get(path), "'self'")
            }
            let web = ["redirect_uri": "http://localhost:8123/auth/callback", "response_mode": "form_post"]
            let picker = try await browser.authorize(web)
            try check(picker, "'self' http://localhost:8123")
            let password = try await browser.submit(picker, "username", "adele@contoso.example")
            try check(password, "'self' http://localhost:8123")
            let native = try await browser.authorize(
                ["redirect_uri": "msauth.com.contoso.tasks://auth"], client: TestTenant.native)
            try check(native, "'self' msauth.com.contoso.tasks:")
        }
    }

    @Test func `text from people and applications is escaped on the pages`() async throws {
        let text: HTML = "<p title=\"\("\"'&<>")\">\("<script>")</p>"
        #expect(text.text == "<p title=\"&quot;&#39;&amp;&lt;&gt;\">&lt;script&gt;</p>")
        try await TestTenant.run { (tenant) async throws in
            let page = try await tenant.browser().authorize(client: TestTenant.native)
            #expect(page.text.contains("Native &lt;tutorial&gt;"))
            let error = try await tenant.browser().authorize(["client_id": "<script>alert(1)</script>"])
            #expect(!error.text.contains("<script>"))
        }
    }

    @Test func `unknown addresses are 404, and the front door leads to the control page`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            for path in [
                "/nowhere", "/common", "/common/logins", "/assets/../control", "/%zz", "/common/oauth2/v2.0/x",
            ] {
                #expect(try await browser.get(path).status == 404)
            }
            #expect(try await browser.get("/")["Location"] == "/control")
            #expect(try await browser.get("/assets/demo-tenant.svg")["Content-Type"] == "image/svg+xml")
        }
    }
}
