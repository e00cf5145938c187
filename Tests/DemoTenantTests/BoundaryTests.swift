import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TestSupport
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

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
        let configuration = DemoTenantConfiguration(
            clients: [TestTenant.web], publicFolder: TestTenant.publicFolder)
        let platform = try TestTenant.platform(configuration)
        let head = try RequestHead(target: "/", headerFields: [try #require(HTTPField.Name("Host")): host])
        var mark = RequestMark()
        let responder = try DemoResponder(configuration, platform: platform)
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
        let configuration = DemoTenantConfiguration(
            clients: [TestTenant.web], publicFolder: TestTenant.publicFolder)
        let platform = try TestTenant.platform(configuration)
        let responder = try DemoResponder(configuration, platform: platform)
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
    func `with people of its own a tenant serves other computers, but under no foreign name`(
        listenHost: String, host: String, status: Int
    ) throws {
        var configuration = DemoTenantConfiguration(
            clients: [TestTenant.web], publicFolder: TestTenant.publicFolder)
        configuration.listenHost = listenHost
        configuration.hasDemoAccounts = false
        let platform = try TestTenant.platform(configuration)
        let responder = try DemoResponder(configuration, platform: platform)
        let head = try RequestHead(target: "/", headerFields: [try #require(HTTPField.Name("Host")): host])
        var mark = RequestMark()
        let peer = PeerAddress(ipv4: (10, 0, 0, 7), port: 1)
        guard case .response(let response) = responder.reply(to: head, from: peer, mark: &mark) else {
            Issue.record("no answer at once")
            return
        }
        #expect(response.status.code == status)
    }

    private static let host = PeerAddress(ipv4: (172, 17, 0, 1), port: 1)
    private static let stranger = PeerAddress(ipv4: (172, 17, 0, 9), port: 1)

    /// Returns the answer of a tenant in a container whose passwords everyone knows.
    private func answerInContainer(
        _ path: String, to peer: PeerAddress, _ fields: HTTPFields = [:]
    ) throws -> Response? {
        var configuration = DemoTenantConfiguration(clients: [], publicFolder: TestTenant.publicFolder)
        configuration.listenHost = "0.0.0.0"
        configuration.containerGateways = { [Self.host.network] }
        let platform = try TestTenant.platform(configuration)
        var mark = RequestMark()
        var fields = fields
        fields[try #require(HTTPField.Name("Host"))] = "localhost:8443"
        let head = try RequestHead(target: path, headerFields: fields)
        let reply = try DemoResponder(configuration, platform: platform)
            .reply(to: head, from: peer, mark: &mark)
        if case .response(let response) = reply { return response }
        return nil
    }

    @Test func `a container whose passwords everyone knows serves itself and its host`() throws {
        for peer in [Self.here, Self.host] { #expect(try answerInContainer("/", to: peer)?.status == .found) }
        for path in ["/", "/common/oauth2/v2.0/authorize", "/common/discovery/v2.0/keys", "/control"] {
            #expect(try answerInContainer(path, to: Self.stranger)?.status == .forbidden)
        }
        let json = try #require(try answerInContainer("/common/oauth2/v2.0/token", to: Self.stranger))
        #expect(JSONValue(parsing: json.body)?["error"] == "other_machine")
    }

    @Test(arguments: [("en", "For this machine only"), ("sv", "Bara för den här datorn")])
    func `another machine's browser gets a page that says what to do`(language: String, title: String) throws {
        let fields: HTTPFields = [.accept: "text/html,*/*", .acceptLanguage: language]
        let page = try #require(try answerInContainer("/common/login", to: Self.stranger, fields))
        #expect(page.status == .forbidden)
        let text = String(decoding: page.body, as: UTF8.self)
        for part in ["<h1>\(title)</h1>", "-p 127.0.0.1:8443:8443", "--config"] { #expect(text.contains(part)) }
        #expect(try answerInContainer("/assets/demo-tenant.css", to: Self.stranger, fields) == nil, "a file")
        #expect(try answerInContainer("/assets/none", to: Self.stranger, fields)?.status == .forbidden)
    }

    @Test(arguments: [
        ("", []), ("Iface\tDestination\tGateway", []),
        ("eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0", ["172.17.0.1"]),
        ("eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0", []),
        ("eth0\t0000000A\t010011AC\t0003\t0\t0\t0\t000000FF\t0\t0\t0", []),
        ("eth0\t00000000\tGATEWAY!\t0003\t0\t0\t0\t00000000\t0\t0\t0", []),
        ("tun0\t00000000\t00000000\t0003\t0\t0\t0\t00000000\t0\t0\t0", []),
        ("tap0\t00000000\t0202000A\t0003\t0\t0\t0\t00000000\t0\t0\t0", ["10.0.2.2", "10.0.2.100"]),
    ])
    func `the host of a container is the gateway of its default route`(route: String, addresses: [String]) {
        let header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        let expected = addresses.compactMap { PeerAddress(forwarded: $0[...])?.network }
        #expect(ContainerGateways.read(header + route + "\n") == Set(expected))
    }

    @Test func `the routes are this machine's`() throws {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/net/route"))
        let routes = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        #expect(ContainerGateways.ofThisMachine() == ContainerGateways.read(routes))
    }

    @Test func `silent connections of one address do not keep out others of it`() async throws {
        try await TestTenant.run(configured: { $0.connectionsOfOneAddress = 4 }) { (tenant) async throws in
            let port = try #require(URL(string: tenant.tenant.baseURL)?.port.map(UInt16.init))
            let silent = try (0..<8).map { _ in try SilentConnection(port: port) }
            #expect(try await tenant.browser(at: "127.0.0.1").get("/").status == 302)
            // The oldest ones have made room. All were accepted before this request.
            #expect(silent.prefix(5).allSatisfy { !$0.isOpen })
        }
    }

    @Test func `a foreign name that leads here is turned away`() async throws {
        try await TestTenant.run { (tenant) async throws in
            // Our own client sends no other Host than the address's.
            let arguments = [
                "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--header", "Host: evil.example",
                "\(tenant.tenant.baseURL)/control",
            ]
            #expect(try runToEnd("/usr/bin/curl", arguments).output == "421")
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

/// A connection that sends nothing.
private final class SilentConnection {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw TestFailure("connect: \(errno)") }
    }

    /// Whether the server has not closed it.
    var isOpen: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) != 0
    }

    deinit { close(descriptor) }
}
