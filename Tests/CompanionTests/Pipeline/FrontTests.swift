import EventLoop
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Behind a front: a path of its own on a shared host, and what is believed of how the browser came.
@Suite struct FrontTests {
    private static let prefix = "/companion"

    /// A site below a path, and a browser at a front that passes the path on or takes it away.
    private func below(isStripped: Bool, _ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run(below: Self.prefix, configured: { _ in }) { site in
            try await test(
                site,
                Visitor(origin: site.origin, client: site.client, below: Self.prefix, isStripped: isStripped))
        }
    }

    @Test(arguments: [false, true])
    func `below a path, a sign-in comes back to the page and a sign-out to ours`(isStripped: Bool) async throws {
        try await below(isStripped: isStripped) { site, visitor in
            let answer = try await visitor.signIn()
            #expect(answer.location == "/companion/ios")
            #expect(answer.fields[.setCookie]?.contains("; Path=/;") == true)
            #expect(try await visitor.api(.get, "/companion/api/ios/me").status == 200)
            #expect(try await visitor.api(.post, "/companion/api/ios/token").status == 200)
            let signOut = try await visitor.api(.post, "/companion/auth/ios/sign-out", body: #"{"browser":true}"#)
            let redirect = try #require(signOut.json["redirect"] as? String)
            #expect(redirect.contains("%2Fcompanion%2Fauth%2Fsigned-out"))
            #expect(try await visitor.get("/companion/auth/signed-out").status == 200)
        }
    }

    @Test(arguments: [false, true])
    func `below a path, every link and address of a page is below it`(isStripped: Bool) async throws {
        try await below(isStripped: isStripped) { site, visitor in
            for path in ["/", "/ios", "/external", "/b2c", "/auth/signed-out", "/nothing"] {
                let page = try await visitor.get(Self.prefix + path)
                #expect(page.text.contains("data-base=\"/companion\""), "\(path)")
                let links = page.text.matches(of: /(?:href|src|action)="(\/[^"]*)"/).map { String($0.output.1) }
                #expect(links.count > 2, "\(path)")
                #expect(links.filter { !$0.hasPrefix("/companion/") } == [], "\(path)")
                for link in links { #expect(try await visitor.get(link).status == 200, "\(path): \(link)") }
            }
        }
    }

    @Test(arguments: [false, true])
    func `below a path, addresses to which the server sends people are below it`(isStripped: Bool) async throws {
        try await below(isStripped: isStripped) { site, visitor in
            let nobody = try await visitor.api(.get, "/companion/api/ios/me")
            let action = try #require(nobody.json["action"] as? [String: Any])
            #expect(action["url"] as? String == "/companion/auth/ios/sign-in?return_to=%2Fcompanion%2Fios")
            let foreign = try await visitor.api(.get, "/companion/auth/ios/sign-in?return_to=%2Fios")
            #expect(foreign.code == "bad_request", "another application's path on the same host")
            let cancelled = try await visitor.signIn(consent: "cancel")
            #expect(cancelled.location?.hasPrefix("/companion/ios?sign_in_error=cancelled") == true)
            let nevena = Visitor(
                origin: site.origin, client: site.client, below: Self.prefix, isStripped: isStripped)
            let failed = try await nevena.signIn(username: "nevena@contoso.example", consent: "cancel")
            #expect(failed.location?.hasPrefix("/companion/ios?sign_in_error=admin_consent_required") == true)
            let told = try await nevena.api(.get, "/companion/api/ios/sign-in-failure")
            let failure = try #require(told.json["failure"] as? [String: Any])
            let consent = try #require((failure["action"] as? [String: Any])?["url"] as? String)
            #expect(consent == site.origin + "/companion/auth/ios/admin-consent")
        }
    }

    @Test func `below a path, an answer that is posted goes on below it`() async throws {
        try await below(isStripped: true) { site, visitor in
            let begun = try #require(try await visitor.get("/companion/auth/ios/sign-in").location)
            let state = try #require(begun.firstMatch(of: /[?&](state=[^&]*)/)?.output.1)
            let answer = try await visitor.send(
                .post, "/companion/auth/callback", headers: [.contentType: "application/x-www-form-urlencoded"],
                body: "\(state)&code=y")
            #expect(answer.location?.hasPrefix("/companion/auth/callback?resume=") == true)
        }
    }

    @Test func `below a path, a person at 127.0.0.1 is taken to the same page`() async throws {
        try await below(isStripped: false) { site, visitor in
            for path in ["/companion/ios", "/ios"] {
                let page = try await visitor.send(
                    .get, "http://127.0.0.1:\(site.port)\(path)?tab=1", headers: [.secFetchMode: "navigate"])
                #expect(page.location == site.origin + "/companion/ios?tab=1")
            }
        }
    }

    /// The name, the path and the mode of a request from this machine, and where it is sent; nil for the page itself.
    @Test(arguments: [
        ("mymac.local", "/auth/ios/sign-in?prompt=login", "navigate", "/auth/ios/sign-in?prompt=login"),
        ("192.0.2.7", "/ios?tab=1", "navigate", "/ios?tab=1"), ("mymac.local", "/ios", "no-cors", nil),
        ("mymac.local", "/api/ios/account", "cors", nil), ("localhost", "/ios", "navigate", nil),
    ])
    func `a browser on this machine is taken from its other names to the public address`(
        host: String, path: String, mode: String, wanted: String?
    ) async throws {
        try await Site.run { site in
            let workers = try WorkerGroup(count: 1)
            let client = HTTPClient(
                workers: workers, configuration: .init(connectsTo: "localhost:\(site.port)"))
            let answer = try? await client.send(
                HTTPRequest(
                    method: .get, scheme: "http", authority: "\(host):\(site.port)", path: path,
                    headerFields: [.secFetchMode: mode]))
            #expect(answer?.head.headerFields[.location] == wanted.map { site.origin + $0 })
            #expect(answer?.head.status == (wanted == nil ? .ok : .temporaryRedirect))
            await client.shutdown()
            await workers.shutdown()
        }
    }

    @Test(arguments: [
        ("/ios/", "/ios"), ("/ios/?tab=1", "/ios?tab=1"), ("/native/map/", "/native/map"), ("/", nil),
        ("/ios//", nil), ("//evil.example/", nil), ("/nothing/", nil),
    ])
    func `a page is found with a slash at the end of its address`(path: String, wanted: String?) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let answer = try await visitor.get(site.origin + path)
            #expect(answer.location == wanted.map { site.origin + $0 })
            #expect(answer.status == (wanted != nil ? 308 : path == "/" ? 200 : 404))
            #expect(try await visitor.api(.get, "/api/ios/account/").status == 404, "a program is not a person")
        }
    }

    @Test func `a browser with too many cookies reads in its language that they are too many`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            visitor.setCookie("other", String(repeating: "x", count: 40_000))
            let answer = try await visitor.get("/ios")
            #expect(answer.status == 431)
            #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
            for text in [
                "<p lang=\"en\">", "Delete the cookies of localhost", "<p lang=\"zh-Hans\">", "localhost 的 Cookie",
            ] {
                #expect(answer.text.contains(text), "\(text)")
            }
        }
    }

    /// The lines of `X-Forwarded-Proto` and `X-Forwarded-For`, by which address they came, and whether the browser is sent to
    /// https, with the number of lines of the log. Fronts that send several values: rack/rack pull 80 and 311,
    /// localtunnel/localtunnel issue 435, inverse-inc/packetfence issue 7409, ChuckJonas/next-ssl-redirect-middleware issue 8.
    @Test(
        arguments: [
            ("a front says so", ["http"], [], "10.0.0.1", true, 0),
            ("in capitals", ["HTTP"], [], "10.0.0.1", true, 0),
            ("a front says https", ["https"], [], "10.0.0.1", false, 0),
            ("the front says nothing", [], ["203.0.113.5"], "10.0.0.1", false, 0),
            ("the front says something else", [""], ["203.0.113.5"], "10.0.0.1", false, 0),
            ("nobody who is trusted says so", ["http"], ["203.0.113.5"], "192.0.2.9", false, 0),
            ("nobody who is trusted mixes values", ["https,http"], [], "192.0.2.9", false, 0),
            ("one value of a chain", ["http"], ["203.0.113.5, 10.0.0.2"], "10.0.0.1", true, 0),
            ("the same value twice without addresses", ["http, http"], [], "10.0.0.1", true, 0),
            ("https up to the first of two", ["https,http"], ["203.0.113.5, 10.0.0.2"], "10.0.0.1", false, 0),
            ("http up to the first of two", ["http, https"], ["203.0.113.5, 10.0.0.2"], "10.0.0.1", true, 0),
            (
                "https up to the first of three", ["https, http, http"], ["203.0.113.5, 10.0.0.3, 10.0.0.2"],
                "10.0.0.1", false, 0
            ),
            ("on lines of their own", ["https", "http"], ["203.0.113.5", "10.0.0.2"], "10.0.0.1", false, 0),
            ("the first of two is not trusted", ["https,http"], ["203.0.113.5, 192.0.2.9"], "10.0.0.1", true, 0),
            ("https is the client's own word", ["https,http"], ["6.6.6.6, 203.0.113.5"], "10.0.0.1", true, 0),
            ("http is the client's own word", ["http,https"], ["6.6.6.6, 203.0.113.5"], "10.0.0.1", false, 0),
            (
                "the client's own word before two fronts", ["http,https,http"], ["6.6.6.6, 203.0.113.5, 10.0.0.2"],
                "10.0.0.1", false, 0
            ),
            ("an address that cannot be read", ["https,http"], ["unknown, 10.0.0.2"], "10.0.0.1", false, 0),
            ("trusted addresses alone", ["http,https"], ["10.0.0.3, 10.0.0.2"], "10.0.0.1", true, 0),
            ("two values without addresses", ["https,http"], [], "10.0.0.1", false, 1),
            ("two values and one address", ["https,http"], ["203.0.113.5"], "10.0.0.1", false, 1),
            (
                "two values and three addresses", ["https,http"], ["203.0.113.5, 10.0.0.3, 10.0.0.2"], "10.0.0.1",
                false, 1
            ),
            ("two values and one address, http before https", ["http,https"], ["203.0.113.5"], "10.0.0.1", false, 1),
            ("an empty value more", [",http"], ["203.0.113.5"], "10.0.0.1", false, 1),
        ] as [(String, [String], [String], String, Bool, Int)])
    func `a browser is sent to https when it came to the first trusted proxy by http`(
        row: String, schemes: [String], addresses: [String], peer: String, isSent: Bool, lines: Int
    ) throws {
        let log = LogLines()
        let scheme = ForwardedScheme(configuration: try Self.behindFronts(), logger: log.logger, now: { Date() })
        let found = scheme.isPlain(
            try Self.head(schemes, addresses), from: try #require(PeerAddress(forwarded: peer[...])))
        #expect(found == isSent, "\(row)")
        #expect(log.all.count == lines, "\(row): \(log.all)")
    }

    private static func behindFronts() throws -> CompanionConfiguration {
        var configuration = CompanionConfiguration(port: 0)
        configuration.publicURL = try PublicURL("https://companion.example")
        configuration.trustedProxies = ["10.0.0.0/8"].compactMap(AddressRange.init)
        return configuration
    }

    private static func head(_ schemes: [String], _ addresses: [String]) throws -> RequestHead {
        var fields = HTTPFields()
        for scheme in schemes { fields.append(HTTPField(name: .xForwardedProto, value: scheme)) }
        for address in addresses { fields.append(HTTPField(name: .xForwardedFor, value: address)) }
        return try RequestHead(target: "/ios", headerFields: fields)
    }

    @Test func `fields that do not line up are logged once an hour`() throws {
        let (log, clock) = (LogLines(), TestClock())
        let scheme = ForwardedScheme(configuration: try Self.behindFronts(), logger: log.logger, now: clock.now)
        let peer = PeerAddress(ipv4: (10, 0, 0, 1), port: 1)
        func lines() throws -> Int {
            for _ in 0..<3 { _ = scheme.isPlain(try Self.head(["https,http"], []), from: peer) }
            return log.all.count
        }
        #expect(try lines() == 1)
        clock.advance(3599)
        #expect(try lines() == 1)
        clock.advance(1)
        #expect(try lines() == 2)
        clock.advance(-1)
        #expect(try lines() == 3, "the clock was set back")
    }

    @Test func `without trusted proxies, and with a plain public URL, nobody is sent to https`() throws {
        for isSecure in [false, true] {
            var configuration = try Self.behindFronts()
            if isSecure { configuration.trustedProxies = [] } else { configuration.publicURL = .localhost(port: 1) }
            let scheme = ForwardedScheme(configuration: configuration, logger: LogLines().logger, now: { Date() })
            let peer = PeerAddress(ipv4: (10, 0, 0, 1), port: 1)
            let head = try Self.head(["http"], [])
            #expect(!scheme.isPlain(head, from: peer))
        }
    }

    /// The lines of the fields, as a proxy writes them, and whether the browser is sent to https.
    @Test(
        arguments: [
            ("X-Forwarded-Proto: http\r\n", true),
            ("X-Forwarded-Proto: http\r\nX-Forwarded-For: 203.0.113.5, 127.0.0.2\r\n", true),
            ("X-Forwarded-Proto: https,http\r\nX-Forwarded-For: 203.0.113.5, 127.0.0.2\r\n", false),
            ("X-Forwarded-Proto: http,https\r\nX-Forwarded-For: 203.0.113.5, 127.0.0.2\r\n", true),
            ("X-Forwarded-Proto: https,http\r\n", false),
            ("X-Forwarded-Proto: https\r\nX-Forwarded-Proto: http\r\n", false),
            ("Forwarded: for=203.0.113.5;proto=https\r\n", false),
            ("Forwarded: for=203.0.113.5;proto=http\r\n", false),
        ])
    func `a server behind a chain of proxies serves the page, or sends the browser to https`(
        fields: String, isSent: Bool
    ) async throws {
        try await Site.run(configured: {
            $0.publicURL = try PublicURL("https://localhost:8443/companion")
            $0.trustedProxies = ["127.0.0.0/8"].compactMap(AddressRange.init)
        }) { site in
            let answer = try await rawAnswer(
                port: site.port,
                to: "GET /ios?tab=1 HTTP/1.1\r\nHost: internal:8080\r\nConnection: close\r\n" + fields + "\r\n")
            let location = answer.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("location: ") }
            #expect(answer.hasPrefix(isSent ? "HTTP/1.1 308 " : "HTTP/1.1 200 "), "\(answer.prefix(300))")
            let address = location.map { String($0.dropFirst("location: ".count)) }
            #expect(address == (isSent ? "https://localhost:8443/companion/ios?tab=1" : nil))
        }
    }

    /// The words of a chain of proxies to the companion, which speaks plain http with the last of them.
    @Test(
        arguments: [
            [.xForwardedProto: "https", .xForwardedFor: "203.0.113.5"],
            [.xForwardedProto: "https,http", .xForwardedFor: "203.0.113.5, 127.0.0.2"],
            [.xForwardedProto: "https,http"],
            [.literal("forwarded"): "for=203.0.113.5;proto=https"],
        ] as [HTTPFields])
    func `behind a chain of proxies, a sign-in has one redirect URI, and cookies are secure`(fields: HTTPFields)
        async throws
    {
        try await StandInFront.run(saying: fields) { (site, origin, client) async throws in
            let visitor = Visitor(origin: origin, client: client)
            #expect(try await visitor.signIn().location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            let addresses = site.traffic.all.compactMap { exchange -> String? in
                let (head, body) = (exchange.request.head, exchange.request.body)
                if head.path.hasSuffix("/authorize") {
                    return (try? FormFields(query: head.query ?? ""))?["redirect_uri"]
                }
                return head.path.hasSuffix("/token") ? (try? FormFields(body: body))?["redirect_uri"] : nil
            }
            #expect(addresses.count > 1 && Set(addresses) == [origin + "/auth/callback"], "\(addresses)")
            let ours = visitor.everything.filter { $0.url.hasPrefix(origin + "/") }
            let cookies = ours.flatMap { $0.fields[values: .setCookie] }
            #expect(cookies.count > 1)
            #expect(cookies.filter { !$0.contains("; Secure") }.isEmpty)
        }
    }

    @Test(arguments: [
        ("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "http"), ("x-forwarded-port", "1"),
        ("x-forwarded-prefix", "/evil"), ("x-forwarded-for", "127.0.0.1"),
        ("forwarded", "for=127.0.0.1;host=evil.example;proto=http"), ("x-original-url", "/evil"),
        ("x-rewrite-url", "/evil"),
    ])
    func `forwarding fields of a client change nothing`(name: String, value: String) async throws {
        try await Site.run { site in
            let field = try #require(HTTPField.Name(name))
            func answer(_ path: String, _ more: HTTPFields) async throws -> (Int, String?, HTTPFields, Int) {
                // As it is: what is compressed soon after it is first asked for would be another answer the second time.
                var headers: HTTPFields = [.acceptEncoding: "identity"]
                headers.append(contentsOf: more)
                let answer = try await Visitor(site).send(.get, path, headers: headers)
                var fields = answer.fields
                fields[.date] = nil
                fields[values: .setCookie] = fields[values: .setCookie].map { String($0.drop { $0 != ";" }) }
                let location = answer.location?.replacing(/(state|nonce|code_challenge)=[^&]*/, with: "")
                fields[.location] = nil
                return (answer.status, location, fields, answer.body.count)
            }
            for path in ["/ios", "/auth/ios/sign-in", "/api/device", "/nothing"] {
                let plain = try await answer(path, [:])
                #expect(try await answer(path, [field: value]) == plain, "\(path)")
            }
        }
    }

    @Test func `a host that a client names appears in no address of ours`() async throws {
        // Listening on every address, it is asked by one that is neither its public name nor an alias of it.
        try await Site.run(configured: { $0.host = "0.0.0.0" }) { site in
            let other = "http://127.0.0.2:\(site.port)"
            let visitor = Visitor(site)
            let begun = try await visitor.get(other + "/auth/ios/sign-in")
            let query = try #require(begun.location.flatMap(URLComponents.init(string:))?.queryItems)
            #expect(query.first { $0.name == "redirect_uri" }?.value == site.origin + "/auth/callback")

            try await visitor.signIn()
            let origin: HTTPFields = [.origin: other, .xCompanion: "1", .accept: "application/json"]
            let foreign = try await visitor.send(.post, other + "/auth/ios/sign-out", headers: origin)
            #expect(foreign.code == "cross_site_request", "its origin is not ours either")
            let own: HTTPFields = [.origin: site.origin, .xCompanion: "1", .accept: "application/json"]
            let out = try await visitor.send(
                .post, other + "/auth/ios/sign-out", headers: own, body: #"{"browser": true}"#)
            let redirect = try #require(out.json["redirect"] as? String)
            #expect(redirect.contains(FormEncoding.encode([("x", site.origin + "/auth/signed-out")]).dropFirst(2)))

            for path in ["/", "/ios", "/nothing", "/auth/callback", "/api/ios/me", "/api/apps", "/api/device"] {
                let answer = try await visitor.get(other + path)
                #expect(!answer.text.contains("127.0.0.2"), "\(path)")
                #expect(!answer.fields.contains { $0.value.contains("127.0.0.2") }, "\(path)")
            }
        }
    }
}
