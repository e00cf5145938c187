import Cryptography
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// Programs use the server with a token, and only for what the token is for.
@Suite struct ProgramTests {
    private static let day: TimeInterval = 86_400

    private static func token(_ name: String, _ scopes: Set<APIToken.Scope>, expires: Date? = nil) -> APIToken {
        APIToken(
            name: name, sha256: Array(SHA256.hash(data: Data("companion_\(name)".utf8))), scopes: scopes,
            expires: expires)
    }

    private func run(
        _ configure: (inout CompanionConfiguration) -> Void = { _ in }, _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[1].page = .portal
            configuration.apiTokens = [
                Self.token("checks", [.check]), Self.token("sessions", [.sessions]),
                Self.token("reading", [.sessionsRead]), Self.token("metrics", [.metrics]),
                Self.token("ended", Set(APIToken.Scope.allCases), expires: Date().addingTimeInterval(-1)),
                Self.token("lasting", Set(APIToken.Scope.allCases), expires: Date().addingTimeInterval(Self.day)),
            ]
            configure(&configuration)
        }) { site in
            try await test(site, Visitor(site))
        }
    }

    private func ask(
        _ visitor: Visitor, _ method: HTTPRequest.Method, _ path: String, _ authorization: String?,
        _ fields: HTTPFields = [:]
    ) async throws -> Visitor.Answer {
        var fields = fields
        fields[.authorization] = authorization
        fields[.accept] = "application/json"
        return try await visitor.send(method, path, headers: fields)
    }

    private static let addresses: [(HTTPRequest.Method, String, APIToken.Scope, good: Int)] = [
        (.post, "/api/macos/check", .check, 200), (.get, "/api/macos/sessions", .sessionsRead, 200),
        (.delete, "/api/macos/sessions/424242", .sessions, 404), (.get, "/metrics", .metrics, 200),
    ]

    @Test(
        arguments: [
            ("checks", [.check]), ("sessions", [.sessions, .sessionsRead]), ("reading", [.sessionsRead]),
            ("metrics", [.metrics]), ("lasting", [.check, .sessions, .sessionsRead, .metrics]),
        ] as [(String, Set<APIToken.Scope>)])
    func `a token opens the addresses of its scopes and no others`(name: String, scopes: Set<APIToken.Scope>)
        async throws
    {
        try await run { site, visitor in
            for (method, path, scope, good) in Self.addresses {
                let answer = try await ask(visitor, method, path, "Bearer companion_\(name)")
                if scopes.contains(scope) {
                    #expect(answer.status == good, "\(name) \(path): \(answer.text)")
                } else {
                    #expect(answer.status == 403 && answer.code == "insufficient_scope", "\(name) \(path)")
                    #expect(answer.fields[.wwwAuthenticate] == "Bearer error=\"insufficient_scope\"")
                }
            }
            #expect(!site.log.all.contains { $0.contains("companion_\(name)") })
        }
    }

    @Test(arguments: [
        ("an expired one", "Bearer companion_ended"), ("a wrong one", "Bearer companion_none"),
        ("its hash", "Bearer \(Hex.encode(SHA256.hash(data: Data("companion_lasting".utf8))))"),
        ("another scheme", "Basic companion_lasting"), ("nothing behind the scheme", "Bearer"),
        ("another case", "Bearer COMPANION_LASTING"),
    ])
    func `a token that is not valid opens nothing`(row: String, authorization: String) async throws {
        try await run { _, visitor in
            try await visitor.signIn(app: "macos")
            for (method, path, _, _) in Self.addresses {
                let answer = try await ask(visitor, method, path, authorization)
                #expect(answer.status == 401 && answer.code == "invalid_token", "\(row) \(path): \(answer.text)")
            }
        }
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site"),
        ("Origin", "https://evil.example"),
    ])
    func `a browser gets nowhere with a token`(name: String, value: String) async throws {
        try await run { _, visitor in
            for (method, path, _, _) in Self.addresses {
                let field = try #require(HTTPField.Name(name))
                let answer = try await ask(visitor, method, path, "Bearer companion_lasting", [field: value])
                #expect(answer.status == 403 && answer.code == "cross_site_request", "\(path): \(answer.text)")
            }
        }
    }

    @Test func `the address of the check is for programs alone, also for an operator`() async throws {
        try await run { _, visitor in
            try await visitor.signIn(app: "macos")
            #expect(try await visitor.api(.get, "/api/macos/health").status == 200)
            #expect(try await ask(visitor, .post, "/api/macos/check", nil).code == "invalid_token")
            #expect(try await visitor.api(.post, "/api/macos/check").code == "cross_site_request")
        }
    }

    @Test func `a program's request is no one's session`() async throws {
        try await run { _, visitor in
            try await visitor.signIn(app: "macos")
            let answer = try await ask(visitor, .get, "/api/macos/sessions", "Bearer companion_sessions")
            let sessions = try #require(answer.json["sessions"] as? [[String: Any]])
            #expect(sessions.count == 1 && sessions[0]["current"] as? Bool == false)
            #expect(answer.json["may_end"] as? Bool == true)
            let reading = try await ask(visitor, .get, "/api/macos/sessions", "Bearer companion_reading")
            #expect(reading.json["may_end"] as? Bool == false)
            let key = try #require(sessions[0]["key"] as? String)
            #expect(
                try await ask(visitor, .delete, "/api/macos/sessions/\(key)", "Bearer companion_sessions").status == 204
            )
            #expect(try await visitor.api(.get, "/api/macos/account").json["account"] is NSNull)
        }
    }

    @Test func `guesses are counted for their address, and people at it are not`() async throws {
        try await run {
            $0.limits.programRequestsPerMinute = 3
        } _: { _, visitor in
            var codes: [String?] = []
            for _ in 0..<5 {
                codes.append(try await ask(visitor, .get, "/api/macos/sessions", "Bearer wrong").code)
            }
            #expect(codes.contains("throttled"))
            #expect(try await visitor.signIn(app: "macos").location == "/macos")
            #expect(try await visitor.api(.get, "/api/macos/sessions").status == 200)
        }
    }

    @Test func `a right token is counted by itself, and those who guess at its address are not its neighbours`()
        async throws
    {
        try await run {
            $0.limits.programRequestsPerMinute = 4
        } _: { site, visitor in
            for path in ["/api/macos/sessions", "/metrics"] {
                var codes: [String?] = []
                for authorization in ["Bearer wrong", "Bearer companion_ended", "Basic x", "Bearer", "Bearer wrong"] {
                    codes.append(try await ask(visitor, .get, path, authorization).code)
                }
                #expect(codes.last == "throttled", "\(codes)")
                #expect(try await ask(visitor, .get, path, "Bearer companion_lasting").status == 200, "\(path)")
                site.clock.advance(60)
            }
            for _ in 0..<2 {
                #expect(try await ask(visitor, .get, "/metrics", "Bearer companion_metrics").status == 200)
            }
            #expect(try await ask(visitor, .get, "/metrics", "Bearer companion_metrics").code == "throttled")
            #expect(try await ask(visitor, .get, "/metrics", "Bearer companion_lasting").status == 200, "another token")
            #expect(try await ask(visitor, .get, "/metrics", "Bearer wrong").code == "invalid_token", "nobody's share")
        }
    }

    @Test(
        arguments: [
            ("this machine", "127.0.0.1", nil, false, true), ("this machine, IPv6", "::1", nil, false, true),
            ("another machine in plain text", "192.0.2.7", nil, false, false),
            ("another machine that says https", "192.0.2.7", "https", false, false),
            ("a listed proxy that says https", "10.0.3.7", "https", false, true),
            ("a listed proxy that says http", "10.0.3.7", "http", false, false),
            ("a listed proxy that says nothing", "10.0.3.7", nil, false, false),
            ("a client's word before the proxy's", "10.0.3.7", "https, http", false, false),
            ("a proxy on this machine that says http", "127.0.0.1", "http", false, false),
            ("a proxy on this machine that says https", "127.0.0.1", "https", false, true),
            ("https of our own", "192.0.2.7", nil, true, true),
        ] as [(String, String, String?, Bool, Bool)])
    func `a token is taken over https and from this machine, whatever the public URL says`(
        row: String, peer: String, scheme: String?, ownHTTPS: Bool, isTaken: Bool
    ) throws {
        var configuration = CompanionConfiguration(port: 0)
        configuration.publicURL = try PublicURL("https://portal.example")
        configuration.trustedProxies = ["10.0.0.0/16"].compactMap(AddressRange.init)
        if ownHTTPS { configuration.tls = TLSFiles(certificate: "a.pem", privateKey: "a.key") }
        var fields = HTTPFields()
        fields[.xForwardedProto] = scheme
        let head = try RequestHead(target: "/metrics", headerFields: fields)
        let address = try #require(PeerAddress(forwarded: peer[...]))
        #expect(ProgramAccess.isPrivate(head, from: address, at: configuration) == isTaken, "\(row)")
    }

    @Test func `a proxy that says http takes no token`() async throws {
        try await run { _, visitor in
            let answer = try await ask(
                visitor, .get, "/metrics", "Bearer companion_metrics", [.xForwardedProto: "http"])
            #expect(answer.status == 403 && answer.code == "cross_site_request", "\(answer.text)")
        }
    }

    @Test func `other applications than portals have no such addresses`() async throws {
        try await run { _, visitor in
            let answer = try await ask(visitor, .post, "/api/ios/check", "Bearer companion_checks")
            #expect(answer.code == "not_found")
        }
    }

    @Test func `the check names what changed since the last one`() async throws {
        try await run { site, visitor in
            func check() async throws -> [String: Any] {
                try await ask(visitor, .post, "/api/macos/check", "Bearer companion_checks").json
            }
            let first = try await check()
            #expect(first["ok"] as? Bool == true && (first["changes"] as? [Any])?.isEmpty == true)
            try await site.control(#"{"provider_down": "all"}"#)
            let second = try await check()
            #expect(second["ok"] as? Bool == false)
            let changes = try #require(second["changes"] as? [[String: Any]])
            #expect(changes.contains { $0["change"] as? String == "appeared" })
            try await site.control(#"{"provider_down": null}"#)
            let third = try #require(try await check()["changes"] as? [[String: Any]])
            #expect(!third.isEmpty && third.allSatisfy { $0["change"] as? String == "gone" })
        }
    }
}
