import Foundation
import HTTPServer
import HTTPWire
import TestSupport
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

@Suite("Names of the tenant")
struct OriginTests {
    @Test(
        arguments: [
            ("localhost:8443", "https://localhost:8443"), ("LOCALHOST:8443", "https://localhost:8443"),
            ("127.0.0.1:8443", "https://127.0.0.1:8443"), ("[::1]:8443", "https://[::1]:8443"),
            ("fabrikam.ciamlogin.localhost:8443", "https://fabrikam.ciamlogin.localhost:8443"),
            ("other.ciamlogin.localhost:8443", "https://localhost:8443"),
            ("fabrikam.ciamlogin.localhost.evil.example:8443", nil),
            // A published port of a container.
            ("localhost:9000", "https://localhost:8443"), ("127.0.0.2:8443", "https://localhost:8443"),
            ("tenant.example:8443", nil), ("10.0.0.1:8443", nil), ("localhost.evil.example:8443", nil), ("", nil),
        ])
    func `the origin follows the name of the request`(_ host: String, _ origin: String?) {
        let origins = Origins(scheme: "https", host: "localhost", port: 8443, publicURL: nil)
        #expect(origins.origin(ofHost: host) == origin)
    }

    @Test(
        arguments: [
            ("tenant.example", "https://tenant.example"), ("Tenant.Example", "https://tenant.example"),
            ("localhost:8443", "https://localhost:8443"), ("localhost:9000", "https://tenant.example"),
            ("tenant.example:8443", nil), ("other.example", nil),
        ])
    func `the public URL counts too, and is the main one`(_ host: String, _ origin: String?) {
        let origins = Origins(scheme: "https", host: "localhost", port: 8443, publicURL: "https://tenant.example")
        #expect(origins.main == "https://tenant.example")
        #expect(origins.origin(ofHost: host) == origin)
    }

    @Test func `the standard port is not written`() {
        #expect(Origins(scheme: "https", host: "localhost", port: 443, publicURL: nil).main == "https://localhost")
        #expect(Origins(scheme: "http", host: "localhost", port: 443, publicURL: nil).main == "http://localhost:443")
    }

    @Test(arguments: ["localhost", "127.0.0.1", Tenant.fabrikamHost])
    func `every address in the answers has the name of the request`(_ host: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser(at: host)
            let base = tenant.tenant.baseURL.replacing("localhost", with: host)
            let document = try await browser.get("/fabrikam.example/v2.0/.well-known/openid-configuration")
            let other = host == "localhost" ? "127.0.0.1" : "localhost"
            #expect(!document.text.contains("/\(other)"))
            #expect(document.member("token_endpoint") == "\(base)/\(Tenant.fabrikam)/oauth2/v2.0/token")
            // An address has no names below it, and the tenant's own name is exchanged for its ID.
            let named = base.replacing("fabrikam.ciamlogin.", with: "ciamlogin.")
            let issuer = host == "127.0.0.1" ? base : named.replacing("://", with: "://\(Tenant.fabrikam).")
            #expect(document.member("issuer") == "\(issuer)/\(Tenant.fabrikam)/v2.0")
            let token = try await browser.tokens(
                "customer@fabrikam.example", ["scope": "openid"], segment: "fabrikam.example")
            #expect(token.claims("id_token")?["iss"]?.string == "\(issuer)/\(Tenant.fabrikam)/v2.0")
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `instance discovery names the host with the port and without it`(_ host: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let base = tenant.tenant.baseURL.replacing("localhost", with: host)
            let authority = String(base.dropFirst("http://".count))
            for segment in ["common", "organizations", "contoso.example"] {
                let answer = try await tenant.browser(at: host).get(
                    "/common/discovery/instance",
                    [
                        ("api-version", "1.1"),
                        ("authorization_endpoint", "\(base)/\(segment)/oauth2/v2.0/authorize"),
                    ])
                let path = segment == "contoso.example" ? Tenant.contoso : segment
                #expect(
                    answer.json == [
                        "tenant_discovery_endpoint": .string("\(base)/\(path)/v2.0/.well-known/openid-configuration"),
                        "api-version": "1.1",
                        "metadata": [
                            [
                                "preferred_network": .string(authority), "preferred_cache": .string(authority),
                                "aliases": [.string(authority), .string(host)],
                            ]
                        ],
                    ])
            }
        }
    }

    @Test(
        arguments: [
            "https://login.microsoftonline.com/common/oauth2/v2.0/authorize", "http://localhost", "nonsense",
        ])
    func `an instance that is not ours is refused`(_ endpoint: String) async throws {
        try await TestTenant.run { (tenant) async throws in
            let answer = try await tenant.browser().get(
                "/common/discovery/instance", [("authorization_endpoint", endpoint)])
            #expect(answer.status == 400)
            #expect(answer.member("error") == "invalid_instance")
            #expect(answer.number == 50049)
        }
    }

    @Test func `control asks for its token where there is one`() async throws {
        try await TestTenant.run(configured: { $0.controlToken = "the token" }) { (tenant) async throws in
            let browser = tenant.browser()
            let basic = Data("anyone:the token".utf8).base64EncodedString()
            for (field, status) in [
                ("Bearer the token", 200), ("bearer the token", 200), ("Basic \(basic)", 200),
                ("Bearer the toke", 401), ("Bearer", 401), ("Basic x", 401), ("Digest the token", 401),
            ] {
                #expect(try await browser.get("/control", headers: [("Authorization", field)]).status == status)
            }
            let refused = try await browser.control(["reset": true])
            #expect(refused.status == 401)
            #expect(refused["WWW-Authenticate"] == "Basic realm=\"control\"")
            #expect(try await browser.get("/control/logout-token").status == 401)
            #expect(try await browser.get("/clients").status == 401)
            #expect(try await browser.authorize().shownField == "username")
        }
    }

    /// An address of this machine that is not of loopback.
    private static let otherAddress: String? = {
        let text = (try? runToEnd("/usr/bin/hostname", ["-I"]))?.output ?? ""
        return text.split(separator: " ").map(String.init).first { $0.contains(".") }
    }()

    @Test(
        .enabled("needs an address beside loopback") { otherAddress != nil },
        arguments: [(nil, "/control", 403, 200), (nil, "/clients", 403, 200), ("the token", "/control", 401, 401)])
    func `beyond loopback, control is for those with a token alone`(
        _ token: String?, _ path: String, _ refusal: Int, _ here: Int
    ) async throws {
        try await TestTenant.run(configured: {
            $0.listenHost = "0.0.0.0"
            $0.hasDemoAccounts = false
            $0.controlToken = token
        }) { (tenant) async throws in
            let other = try #require(Self.otherAddress)
            let port = try #require(URL(string: tenant.tenant.baseURL)?.port)
            func status(_ path: String, _ more: String...) throws -> String {
                // Our own client sends no other Host than the address's.
                let arguments =
                    ["--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{http_code}"]
                    + ["--header", "Host: localhost:\(port)"] + more + ["http://\(other):\(port)\(path)"]
                return try runToEnd("/usr/bin/curl", arguments).output
            }
            #expect(try status(path) == "\(refusal)")
            #expect(try status(path, "--data", "reset=true") == "\(refusal)")
            #expect(try status(path, "--header", "Authorization: Bearer the token") == (token == nil ? "403" : "200"))
            #expect(try status("/common/discovery/v2.0/keys") == "200")
            #expect(try await tenant.browser().get(path).status == here)
        }
    }

    @Test(
        arguments: [
            (nil, PeerAddress(ipv4: (127, 0, 0, 1), port: 1), 403),
            ("the token", PeerAddress(ipv4: (127, 0, 0, 1), port: 1), 401),
            (nil, PeerAddress(ipv4: (10, 0, 0, 7), port: 1), 403),
        ])
    func `behind a proxy, this machine's address opens nothing`(
        _ token: String?, _ peer: PeerAddress, _ status: Int
    ) throws {
        var configuration = DemoTenantConfiguration(clients: [], publicFolder: TestTenant.publicFolder)
        configuration.publicURL = "https://tenant.example"
        configuration.controlToken = token
        let platform = try TestTenant.platform(configuration)
        let responder = try DemoResponder(configuration, platform: platform)
        for path in ["/control", "/clients", "/control/logout-token", "/control/else"] {
            let refusal = responder.refusalOfControl(try RequestHead(target: path), from: peer)
            #expect(refusal?.status.code == status)
        }
    }

    @Test func `userinfo answers a form, too`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens("adele@contoso.example").member("access_token") ?? ""
            let posted = try await browser.post("/oidc/userinfo", [("access_token", token)])
            #expect(posted.status == 200)
            #expect(posted.member("email") == "adele@contoso.example")
            let bearer = try await browser.post("/oidc/userinfo", [], headers: [("Authorization", "Bearer \(token)")])
            #expect(bearer.json == posted.json)
            #expect(try await browser.post("/oidc/userinfo", []).status == 401)
            #expect(try await browser.post("/v1.0/me", [("access_token", token)]).status == 401)
        }
    }
}
