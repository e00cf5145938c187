import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import StoreTesting
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Metrics and readiness, and the clients that may read them.
@Suite struct MonitoringTests {
    private static let here = PeerAddress(ipv4: (127, 0, 0, 1), port: 1)
    private static let elsewhere = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)

    @Test(
        arguments: [
            ("this machine itself", true, "localhost:8080", [:], true),
            ("this machine by its address", true, "127.0.0.1", [:], true),
            ("this machine by its IPv6 address", true, "[::1]:8080", [:], true),
            ("an address of our own page", true, "localhost:8080", [.secFetchSite: "none"], true),
            ("another machine", false, "localhost:8080", [:], false),
            ("a public name: a front, or a name that was pointed here", true, "companion.example", [:], false),
            ("a name that only begins like this machine's", true, "localhost.example:8080", [:], false),
            ("no name", true, "", [:], false),
            ("a front that says for whom", true, "localhost", [.forwardedFor: "192.0.2.1"], false),
            ("a front that says by which scheme", true, "localhost", [.forwardedProto: "https"], false),
            ("a front with a field of its own", true, "localhost", [.forwardedPrefix: "/x"], false),
            ("a front as RFC 7239 has it", true, "localhost", [.forwarded: "for=192.0.2.1"], false),
            ("a front as RFC 9110 has it", true, "localhost", [.via: "1.1 front"], false),
            ("a front that names the client", true, "localhost", [.realIP: "192.0.2.1"], false),
            ("a page of another site in a browser here", true, "localhost", [.secFetchSite: "cross-site"], false),
        ] as [(String, Bool, String, HTTPFields, Bool)])
    func `the main listener serves metrics to this machine alone`(
        row: String, isHere: Bool, host: String, fields: HTTPFields, isAllowed: Bool
    ) throws {
        let access = MonitoringAccess(configuration: CompanionConfiguration(port: 8080))
        var fields = fields
        if !host.isEmpty { fields[.init("Host") ?? .via] = host }
        let head = host.isEmpty ? try Self.headWithoutHost() : try RequestHead(target: "/metrics", headerFields: fields)
        #expect(access.allows(head, from: isHere ? Self.here : Self.elsewhere) == isAllowed, "\(row)")
    }

    private static func headWithoutHost() throws -> RequestHead {
        var parser = RequestParser()
        var offset = 0
        guard case .head(let head, _) = parser.next(Array("GET /metrics HTTP/1.0\r\n\r\n".utf8).span, at: &offset)
        else {
            throw TestFailure("no head")
        }
        return head
    }

    @Test func `the main listener serves no metrics behind a front, which can look like this machine`() throws {
        var configuration = CompanionConfiguration(port: 8080)
        configuration.publicURL = try PublicURL("https://companion.example")
        let head = try RequestHead(target: "/metrics")
        #expect(!MonitoringAccess(configuration: configuration).allows(head, from: Self.here))
        configuration.publicURL = .localhost(port: 8080)
        #expect(MonitoringAccess(configuration: configuration).allows(head, from: Self.here))
        configuration.metricsListener = ListenAddress(host: "127.0.0.1", port: 9464)
        #expect(!MonitoringAccess(configuration: configuration).allows(head, from: Self.here), "it has its own")
    }

    @Test func `metrics seem absent, by any method, to anyone who may not read them`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            for method in [HTTPRequest.Method.get, .head, .post] {
                let metrics = try await visitor.send(
                    method, "/metrics", headers: [.forwardedFor: "192.0.2.1", .accept: "application/json"])
                let nothing = try await visitor.send(
                    method, "/nothing", headers: [.forwardedFor: "192.0.2.1", .accept: "application/json"])
                #expect(metrics.status == 404)
                #expect(metrics.code == nothing.code)
            }
            let own = try await visitor.get("/metrics")
            #expect(own.fields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(own.fields[.cacheControl] == "no-store")
            #expect(try await visitor.api(.post, "/metrics").status == 405)
        }
    }

    @Test func `metrics with a listener of their own are served there alone`() async throws {
        let ports = try HeldPorts()
        let port = ports.first
        try await Site.run(configured: { $0.metricsListener = ListenAddress(host: "127.0.0.1", port: port) }) { site in
            let visitor = Visitor(site)
            #expect(try await visitor.get("/metrics").status == 404)
            _ = try await visitor.get("/ios")
            let monitoring = Visitor(origin: "http://localhost:\(port)", client: site.client)
            let metrics = try await monitoring.metrics()
            #expect(metrics[#"companion_http_requests_total{route="/{app}",method="GET",status="200"}"#] == 1)
            #expect(try await monitoring.get("/readyz").json["database"] as? String == "ok")
            #expect(try await monitoring.get("/healthz").status == 200)
            #expect(try await monitoring.get("/ios").status == 404)
            #expect(try await monitoring.api(.post, "/metrics").status == 405)
        }
    }

    @Test func `a server whose database was deleted is not ready, says so, and lets nobody in who would be gone`()
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            // The session is in memory: a read could need another connection, which a file without a name refuses.
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            #expect(try await visitor.metrics()["companion_database_sound"] == 1)
            try FileManager.default.removeItem(atPath: site.database)
            let answer = try await visitor.get("/readyz")
            #expect(answer.status == 503)
            let problem = "\(site.database) was deleted or replaced"
            #expect((answer.json["database"] as? String)?.hasPrefix(problem) == true)
            #expect(answer.json["beside_others"] as? String == "ok")
            let metrics = try await visitor.metrics()
            #expect(metrics["companion_database_sound"] == 0 && metrics["companion_database_writable"] == 0)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            let newcomer = Visitor(site)
            #expect(try await newcomer.walkToCallback().status == 503)
            #expect(newcomer.sessionCookie == nil)
            #expect(try await newcomer.api(.get, "/api/ios/account").json["account"] is NSNull)
            func lines() -> [String] {
                site.log.all.filter { $0.contains(problem) && $0.contains("nothing is stored") }
            }
            #expect(await eventually { !lines().isEmpty })
            #expect(lines().count == 1)
        }
    }

    @Test func `a server whose common database is damaged says so, and serves whom that does not concern`()
        async throws
    {
        let contents = MemoryContents(trust: .zero)
        try await Site.run(keeping: contents, configured: { _ in }) { site in
            let visitor = Visitor(site)
            #expect(try await visitor.metrics()["companion_database_sound"] == 1)
            contents.damage = "a table is damaged"
            let answer = try await visitor.get("/readyz")
            #expect(answer.status == 200)
            #expect(answer.json["database"] as? String == "a table is damaged")
            let metrics = try await visitor.metrics()
            #expect(metrics["companion_database_sound"] == 0 && metrics["companion_database_writable"] == 1)
            try await visitor.signIn()
            func lines() -> [String] { site.log.all.filter { $0.contains("a table is damaged") } }
            #expect(await eventually { !lines().isEmpty })
            #expect(lines().count == 1)
            #expect(lines().allSatisfy { $0.contains("critical") && !$0.contains("nothing is stored") })
            contents.damage = nil
            #expect(await eventually { lines().contains { $0.contains("Not met for an hour: a table is damaged") } })
        }
    }

    @Test func `readiness shows this machine the details, and others only whether it is ready`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let provider = "localhost:\(site.tenantPort)"
            func ask(_ headers: HTTPFields = [:], query: String = "") async throws -> Visitor.Answer {
                try await visitor.send(.get, "/readyz?" + query, headers: headers)
            }
            func providers(_ answer: Visitor.Answer) -> [[String: Any]] {
                answer.json["providers"] as? [[String: Any]] ?? []
            }
            var answer = try await ask()
            #expect(providers(answer).first?["provider"] as? String == provider)
            #expect(providers(answer).first?["status"] as? String == "ok")
            #expect(answer.json["key"] as? String == "ok")
            #expect(try await ask([.forwardedFor: "192.0.2.1"]).text == #"{"status":"ok"}"#)

            try await site.control(#"{"close_connection":"token"}"#)
            // The latest answer counts.
            site.clock.advance(1)
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            answer = try await ask()
            #expect(answer.status == 200, "who is signed in stays so")
            #expect(providers(answer).first?["status"] as? String == "failing")
            #expect((providers(answer).first?["reason"] as? String)?.contains(provider) == true)

            let key = site.folder.appendingPathComponent("companion.key")
            try FileManager.default.moveItem(at: key, to: site.folder.appendingPathComponent("elsewhere"))
            answer = try await ask()
            #expect((answer.json["key"] as? String)?.contains("is gone: put it back") == true)
            #expect(try await visitor.metrics()["companion_key_usable"] == 0)
            try Data("00000000000000000000000000000000".utf8).base64EncodedData().write(to: key)
            #expect((try await ask().json["key"] as? String) != "ok")

            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            // A recent commit counts for a second, by the kernel's clock.
            let end = ContinuousClock.now + .seconds(20)
            repeat { answer = try await ask() } while answer.status == 200 && ContinuousClock.now < end
            #expect(answer.status == 503)
            #expect((answer.json["database"] as? String)?.contains("cannot be written") == true)
            let others = try await ask([.forwardedFor: "192.0.2.1"])
            #expect(others.status == 503)
            #expect(others.text == #"{"status":"unavailable"}"#)

            let query = "exclude=database"
            answer = try await ask(query: query)
            #expect((answer.status, answer.json["database"] as? String) == (200, "excluded"))
            let theirs = try await ask([.forwardedFor: "192.0.2.1"], query: query)
            #expect((theirs.status, theirs.text) == (200, #"{"status":"ok"}"#))
            #expect(try await ask(query: "exclude=").status == 503, "it excludes nothing")
            try lock.release()
        }
    }

    @Test(
        arguments: [
            ("an address and a port", "127.0.0.1:9464", "127.0.0.1 9464", nil),
            ("an IPv6 address", "[::1]:9464", "::1 9464", nil),
            ("a port alone", ":9464", nil, "metrics.listen"),
            ("no port", "127.0.0.1", nil, "metrics.listen"),
            ("the main listener's port", "127.0.0.1:8080", nil, "metrics.listen"),
        ] as [(String, String, String?, String?)])
    func `the metrics listener needs an address and a port of its own`(
        row: String, value: String, read: String?, mistake: String?
    ) {
        do throws(ConfigurationMistakes) {
            let listener = try CompanionConfiguration.read(
                environment: ["COMPANION_METRICS_LISTEN": value], file: nil, needsApplications: false
            ).metricsListener
            #expect(listener.map { "\($0.host) \($0.port)" } == read, "\(row)")
        } catch {
            #expect(mistake.map { error.description.contains($0) } == true, "\(row): \(error)")
        }
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedFor = literal("x-forwarded-for")
    fileprivate static let forwardedProto = literal("x-forwarded-proto")
    fileprivate static let forwardedPrefix = literal("x-forwarded-prefix")
    fileprivate static let forwarded = literal("forwarded")
    fileprivate static let realIP = literal("x-real-ip")
}
