import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The limits of one address, and of one session, on costly requests.
@Suite struct LimitTests {
    /// A site where three sign-ins may begin at once, and then one a minute.
    private static func run(
        configured configure: (inout CompanionConfiguration) -> Void = { _ in }, _ test: (Site) async throws -> Void
    ) async throws {
        try await Site.run(
            configured: { configuration in
                configuration.limits.signInsPerMinute = 1
                configuration.limits.signInBurst = 3
                configuration.applications[1].page = .portal
                configure(&configuration)
            }
        ) { site in
            try await test(site)
        }
    }

    private static let begin = "/auth/ios/sign-in"

    @Test func `a session has at most 32 API calls under way, without affecting other sessions`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let other = Visitor(site)
            try await other.signIn()
            try await site.hold("graph")
            let answered = Shared(0)
            let answers = try await withThrowingTaskGroup(of: Visitor.Answer.self) { tasks in
                for one in Array(repeating: visitor, count: 40) + [other] {
                    tasks.addTask {
                        defer { answered.change { $0 += 1 } }
                        return try await one.api(.get, "/api/ios/me")
                    }
                }
                try await site.untilHeld(33, at: "graph")
                #expect(await eventually { answered.value == 8 })
                try await site.letGo()
                return try await tasks.reduce(into: [Visitor.Answer]()) { $0.append($1) }
            }
            #expect(answers.filter { $0.status == 200 }.count == 33)
            let refused = answers.filter { $0.status == 429 }
            #expect(refused.count == 8)
            #expect(refused.allSatisfy { $0.code == "throttled" && $0.fields[.retryAfter] == "1" })
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a sign-in beyond the limit gets a page that counts down, before anything is written or fetched`()
        async throws
    {
        try await Self.run { site in
            let operatorVisitor = Visitor(site)
            for _ in 0..<3 { #expect(try await Visitor(site).get(Self.begin).status == 302) }
            let before = try await operatorVisitor.metrics()
            let refused = try await Visitor(site).get("/auth/contoso/sign-in")
            #expect(refused.status == 429)
            let seconds = try #require(refused.fields[.retryAfter].flatMap(Int.init))
            #expect((30...60).contains(seconds))
            #expect(refused.text.contains("Too many requests came from your network. Try again in \(seconds) s."))
            #expect(refused.text.contains("data-seconds=\"\(seconds)\""))
            #expect(refused.fields[.setCookie] == nil)
            #expect(refused.fields[.cacheControl] == "no-store")
            #expect(refused.fields[.connection] == "close", "to go on costs a connection each time")
            let after = try await operatorVisitor.metrics()
            #expect(before["companion_sessions"] == 0, "those who have left are nobody's row")
            #expect(after["companion_sessions"] == 0)
            #expect(
                after[#"companion_database_duration_seconds_count{operation="write"}"#]
                    == before[#"companion_database_duration_seconds_count{operation="write"}"#])
            // The metadata of this tenant was not yet known, and is not asked for.
            let provider = "localhost:\(site.tenantPort)"
            let series = #"companion_provider_requests_total{provider="\#(provider)",outcome="answered"}"#
            #expect(after[series] == before[series] && after[series] > 0)

            let json = try await Visitor(site).api(.get, "/auth/ios/admin-consent")
            #expect(json.status == 429, "an administrator's consent is a sign-in too")
            #expect(json.code == "throttled")
            #expect(json.fields[.retryAfter] != nil)
            site.clock.advance(TimeInterval(seconds))
            #expect(try await Visitor(site).get(Self.begin).status == 302)
            #expect(try await Visitor(site).get(Self.begin).status == 429, "one a minute, and no new burst")
        }
    }

    @Test func `an error page without a wait counts nothing down`() async throws {
        try await Site.run { site in
            let page = try await Visitor(site).get("/nowhere").text
            #expect(page.contains("data-seconds=\"\""))
        }
    }

    @Test func `requests of a signed-in person count for the session, not for the address`() async throws {
        try await Self.run { site in
            let adele = Visitor(site)
            try await adele.signIn()
            let stranger = Visitor(site)
            for _ in 0..<2 { #expect(try await stranger.get(Self.begin).status == 302) }
            #expect(try await stranger.get(Self.begin).status == 429, "a session in which nobody is signed in")
            #expect(try await Visitor(site).get(Self.begin).status == 429)
            let forger = Visitor(site)
            forger.sessionCookie = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
            #expect(try await forger.get(Self.begin).status == 429, "a cookie of nobody's")
            for _ in 0..<3 { #expect(try await adele.get("/auth/ios/admin-consent").status == 302) }
            let refused = try await adele.get(Self.begin)
            #expect(refused.status == 429)
            #expect(refused.text.contains("There were too many requests. Try again in"))
        }
    }

    private static func status(_ visitor: Visitor, from address: String) async throws -> Int {
        try await visitor.send(
            .get, begin, headers: [.xForwardedFor: address, .accept: "text/html"]
        ).status
    }

    @Test func `a browser with a genuine mark of an earlier sign-in counts by itself`()
        async throws
    {
        try await Self.run { site in
            let adele = Visitor(site)
            try await adele.signIn()
            let stranger = Visitor(site)
            while try await stranger.get(Self.begin).status == 302 {}
            adele.sessionCookie = nil
            for _ in 0..<3 { #expect(try await adele.get(Self.begin).status == 302) }
            let refused = try await adele.get(Self.begin)
            #expect(refused.status == 429 && refused.text.contains("There were too many requests."))
            #expect(refused.fields[.connection] == nil, "it is not the address's")
            let mark = try #require(adele.mark)
            let forged = [
                "a mark that is not signed": try #require(stranger.mark), "the bytes alone": String(mark.prefix(22)),
                "another signature": mark.prefix(22) + String(mark.dropFirst(22).reversed()),
            ]
            for (row, value) in forged {
                let forger = Visitor(site)
                forger.take("\(forger.cookieName)-mark=\(value)")
                #expect(try await forger.get(Self.begin).status == 429, "\(row)")
            }
            #expect(try await stranger.get("/auth/callback?state=x&code=y").status == 400, "another limit")
        }
    }

    @Test func `neighbouring IPv6 networks share a limit ten times as high, and others are not affected`() async throws
    {
        try await Self.run(configured: { $0.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init) }) { site in
            var passed = 0
            for number in 0..<40 where try await Self.status(Visitor(site), from: "2001:db8:1:\(number)::1") == 302 {
                passed += 1
            }
            #expect(passed == 30)
            #expect(try await Self.status(Visitor(site), from: "2001:db8:1:ffff::1") == 429)
            #expect(try await Self.status(Visitor(site), from: "2001:db8:2::1") == 302, "another /48")
            for number in 0..<40 {
                let status = try await Self.status(Visitor(site), from: "203.0.\(number).1")
                #expect(status == 302, "IPv4 has no such networks")
            }
            site.clock.advance(6)
            #expect(try await Self.status(Visitor(site), from: "2001:db8:1:fffe::1") == 302)
            #expect(try await Self.status(Visitor(site), from: "2001:db8:1:fffd::1") == 429, "one in six seconds")
        }
    }

    @Test(arguments: ["a stranger", "a person", "a person who was here before"], [true, false])
    func `a browser that brings made-up answers uses up only its own share`(who: String, toOneSignIn: Bool)
        async throws
    {
        // More than a browser's share, which is 120, and than one sign-in's.
        let requests = toOneSignIn ? 60 : 140
        try await Site.run { site in
            let person = Visitor(site)
            _ = try await person.walkToCallback()
            let stranger = Visitor(site)
            if who != "a stranger" { try await stranger.signIn() }
            if who == "a person who was here before" { stranger.sessionCookie = nil }
            // A browser keeps five sign-ins; this one keeps the cookie of each elsewhere.
            func forget() {
                for name in stranger.cookies(named: stranger.attempts).keys { stranger.setCookie(name, nil) }
            }
            var begun: [(callback: String, cookie: (name: String, value: String))] = []
            for _ in 0..<(toOneSignIn ? 1 : requests) {
                forget()
                let callback = "/auth/callback?state=\(try await stranger.leave())&code=y"
                let (name, value) = try #require(stranger.cookies(named: stranger.attempts).first)
                begun.append((callback, (name, value)))
            }
            var callback = ""
            // Its share does not come back while it asks.
            var statuses: [Int: Int] = [:]
            for number in 0..<requests {
                forget()
                let own = begun[number % begun.count]
                callback = own.callback
                stranger.setCookie(own.cookie.name, own.cookie.value)
                statuses[try await stranger.get(callback).status, default: 0] += 1
            }
            // The person has brought one real answer before.
            let most = toOneSignIn ? 10...40 : 119...120
            #expect(most.contains(statuses[303] ?? 0), "\(statuses)")
            #expect((statuses[303] ?? 0) + (statuses[429] ?? 0) == requests)
            let refused = try await stranger.get(callback)
            #expect(refused.text.contains("There were too many requests.") && refused.fields[.connection] == nil)
            for _ in 0..<20 {
                let neighbour = person.knownToProvider()
                let answer = try await neighbour.signIn(query: "login_hint=adele@contoso.example")
                #expect(answer.location == "/ios")
            }
        }
    }

    @Test func `an answer without its sign-in is refused and not counted`() async throws {
        try await Site.run(configured: { $0.limits.callbacksPerMinute = 1 }) { site in
            let stranger = Visitor(site)
            for _ in 0..<3 { #expect(try await stranger.get("/auth/callback?state=x&code=y").status == 400) }
            _ = try await stranger.leave()
            for _ in 0..<3 { #expect(try await stranger.get("/auth/callback?state=x&code=y").status == 400) }
            #expect(try await Visitor(site).signIn().location == "/ios")
        }
    }

    @Test(arguments: ["callbacks", "posted callbacks", "operator requests", "one session to end", "health"])
    func `each costly route has a limit of its own, and 0 turns it off`(what: String) async throws {
        func ask(_ visitor: Visitor) async throws -> Int {
            switch what {
            case "callbacks": try await visitor.get("/auth/callback?state=\(try await visitor.leave())&code=y").status
            case "posted callbacks":
                try await visitor.send(
                    .post, "/auth/callback", headers: [.contentType: "application/x-www-form-urlencoded"],
                    body: "state=\(try await visitor.leave())&code=y"
                ).status
            case "operator requests": try await visitor.api(.get, "/api/macos/sessions").status
            case "health": try await visitor.api(.get, "/api/macos/health").status
            default: try await visitor.api(.delete, "/api/macos/sessions/1").status
            }
        }
        try await Self.run(configured: {
            $0.limits.callbacksPerMinute = 2
            $0.limits.operatorRequestsPerMinute = 2
            $0.limits.signInsPerMinute = 60
        }) { site in
            let first = try await ask(Visitor(site))
            #expect(first != 429)
            #expect(try await ask(Visitor(site)) == 429)
            #expect(try await Visitor(site).get(Self.begin).status == 302, "another limit")
            #expect(try await Visitor(site).get("/ios").status == 200)
            site.clock.advance(30)
            #expect(try await ask(Visitor(site)) == first)
        }
        try await Self.run(configured: {
            $0.limits.callbacksPerMinute = 0
            $0.limits.operatorRequestsPerMinute = 0
            $0.limits.signInsPerMinute = 0
        }) { site in
            for _ in 0..<5 {
                let status = try await ask(Visitor(site))
                #expect(status != 429)
                let begun = try await Visitor(site).get(Self.begin).status
                #expect(begun == 302)
            }
        }
    }

    @Test func `forced refreshes are counted for the session, over all of its accounts`() async throws {
        let force = #"{"force_refresh": true}"#
        try await Site.run(configured: { $0.limits.forcedRefreshesPerMinute = 4 }) { site in
            let adele = Visitor(site)
            try await adele.signIn()
            try await adele.signIn(app: "macos")
            #expect(try await adele.api(.post, "/api/ios/token", body: force).status == 200)
            #expect(try await adele.api(.post, "/api/macos/token", body: force).status == 200)
            let refused = try await adele.api(.post, "/api/ios/token", body: force)
            #expect(refused.status == 429 && refused.code == "throttled" && refused.fields[.retryAfter] != nil)
            #expect(try await adele.api(.post, "/api/ios/token").status == 200, "an ordinary one is not limited")
            let megan = Visitor(site)
            try await megan.signIn(username: "megan@contoso.example")
            #expect(try await megan.api(.post, "/api/ios/token", body: force).status == 200, "another session")
        }
    }

    // MARK: Whose address

    @Test func `behind a trusted front each client is counted, whatever it says of itself`() async throws {
        func begin(_ site: Site, _ forwarded: String) async throws -> Visitor.Answer {
            try await Visitor(site).send(
                .get, Self.begin, headers: [.xForwardedFor: forwarded, .accept: "text/html"])
        }
        try await Self.run(configured: { $0.trustedProxies = ["127.0.0.0/8"].compactMap(AddressRange.init) }) { site in
            for lie in 0..<3 { #expect(try await begin(site, "198.51.100.\(lie), 203.0.113.1").status == 302) }
            let fourth = try await begin(site, "198.51.100.9, 203.0.113.1")
            #expect(fourth.status == 429)
            #expect(fourth.fields[.connection] == nil, "it is the front's connection")
            #expect(try await begin(site, "203.0.113.1, 203.0.113.2").status == 302)
            #expect(try await begin(site, "203.0.113.2, 203.0.113.1, 127.0.0.9").status == 429, "two fronts")
        }
        try await Self.run { site in
            for number in 0..<3 { #expect(try await begin(site, "203.0.113.\(number)").status == 302) }
            let fourth = try await begin(site, "203.0.113.9")
            #expect(fourth.status == 429, "no front is trusted")
        }
    }

    @Test func `an exempt address is not counted at all`() async throws {
        try await Self.run(configured: {
            $0.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init)
            $0.limits.exempt = ["203.0.113.0/24"].compactMap(AddressRange.init)
        }) { site in
            for _ in 0..<6 {
                let answer = try await Visitor(site).send(
                    .get, Self.begin, headers: [.xForwardedFor: "203.0.113.77", .accept: "text/html"])
                #expect(answer.status == 302)
            }
            for _ in 0..<3 { #expect(try await Visitor(site).get(Self.begin).status == 302) }
            #expect(try await Visitor(site).get(Self.begin).status == 429)
        }
    }

    @Test(
        arguments: [
            ("not a front", "192.0.2.1", ["203.0.113.5"], "192.0.2.1"),
            ("a front that says nothing", "10.0.0.1", [], "10.0.0.1"),
            ("a front", "10.0.0.1", ["203.0.113.5"], "203.0.113.5"),
            ("a client that lies", "10.0.0.1", ["6.6.6.6, 203.0.113.5"], "203.0.113.5"),
            ("on a line of its own", "10.0.0.1", ["6.6.6.6", "203.0.113.5"], "203.0.113.5"),
            ("two fronts", "10.0.0.1", ["6.6.6.6, 203.0.113.5 , 10.9.9.9"], "203.0.113.5"),
            ("fronts only", "10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("a last entry that is none", "10.0.0.1", ["203.0.113.5, unknown"], "10.0.0.1"),
            ("an entry that is none behind a front", "10.0.0.1", ["203.0.113.5, ,10.0.0.2"], "10.0.0.2"),
            ("nothing at all", "10.0.0.1", [""], "10.0.0.1"),
            ("with a port", "10.0.0.1", ["203.0.113.5:4711"], "203.0.113.5"),
            ("IPv6 in brackets", "10.0.0.1", ["[2001:db8::5]:4711"], "2001:db8::5"),
            ("a front of IPv6", "fd00::1", ["203.0.113.5, fd00::2"], "203.0.113.5"),
            ("a front of IPv4 that is written as one of IPv6", "::ffff:10.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        ] as [(String, String, [String], String)])
    func `the client is the address to which the last trusted front has spoken`(
        row: String, peer: String, fields: [String], client: String
    ) throws {
        var headers = HTTPFields()
        for field in fields { headers.append(HTTPField(name: .xForwardedFor, value: field)) }
        let found = ClientAddress.of(
            try RequestHead(target: "/", headerFields: headers),
            from: try #require(PeerAddress(forwarded: peer[...])),
            trusting: ["10.0.0.0/8", "fd00::/8"].compactMap(AddressRange.init))
        #expect(found.ip == client, "\(row)")
    }

    @Test(arguments: [
        ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("::ffff:10.0.0.0/104", "11.1.2.3", false),
        ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("2001:db8::/32", "2001:db8:1::1", true),
        ("2001:db8::/32", "2001:db9::1", false), ("0.0.0.0/0", "2001:db8::1", false),
    ])
    func `a network contains a peer, however either is written`(network: String, peer: String, holds: Bool) throws {
        let peer = try #require(PeerAddress(forwarded: peer[...]))
        #expect(try #require(AddressRange(network)).contains(peer) == holds)
    }

    // MARK: Connections

    @Test func `a connection beyond an address's limit is closed, except for fronts and exempt addresses`() async throws
    {
        // Each needs a connection of its own, because the API holds its answer until so many have got through.
        func six(_ site: Site, through: Int) async throws -> [Int] {
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.hold("graph")
            let ended = Shared(0)
            return try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        defer { ended.change { $0 += 1 } }
                        return try? await visitor.api(.get, "/api/ios/me").status
                    }
                }
                try await site.untilHeld(through, at: "graph")
                #expect(await eventually { ended.value == 6 - through })
                try await site.letGo()
                return try await group.reduce(into: []) { if let status = $1 { $0.append(status) } }
            }
        }
        try await Self.run(configured: { $0.limits.connections = 2 }) { site in
            #expect(try await six(site, through: 2) == [200, 200])
            // This may take a connection of its own, which is one too many while both are open.
            var answer = try? await Visitor(site).metrics()
            for _ in 0..<100 where answer == nil { answer = try? await Visitor(site).metrics() }
            let metrics = try #require(answer)
            #expect(metrics[#"companion_limited_total{limit="connections"}"#] >= 4)
            #expect(site.log.all.count { $0.contains("limit_reached") && $0.contains("connections") } == 1)
        }
        let range = try #require(AddressRange("127.0.0.1"))
        let exceptions: [(inout CompanionConfiguration) -> Void] = [
            { $0.limits.exempt = [range] }, { $0.trustedProxies = [range] }, { $0.limits.connections = 0 },
        ]
        for configure in exceptions {
            try await Self.run(configured: {
                $0.limits.connections = 2
                configure(&$0)
            }) { site in
                let statuses = try await six(site, through: 6)
                #expect(statuses == Array(repeating: 200, count: 6))
            }
        }
    }

    // MARK: What operators learn

    @Test func `a limit that is reached is counted each time and logged once a minute, without an address`()
        async throws
    {
        try await Self.run(configured: { $0.trustedProxies = ["127.0.0.1"].compactMap(AddressRange.init) }) { site in
            func begin(_ address: String) async throws -> Int {
                try await Visitor(site).send(
                    .get, Self.begin, headers: [.xForwardedFor: address, .accept: "text/html"]
                ).status
            }
            func lines() -> [String] { site.log.all.filter { $0.contains("limit_reached") } }
            for _ in 0..<3 { #expect(try await begin("203.0.113.1") == 302) }
            #expect(lines() == [])
            for _ in 0..<2 { #expect(try await begin("203.0.113.1") == 429) }
            let line = try #require(lines().first)
            #expect(lines().count == 1)
            #expect(line.hasPrefix("info "))
            for part in [#""event": limit_reached"#, #""outcome": sign_ins"#, #""application": ios"#] {
                #expect(line.contains(part), "\(line)")
            }
            #expect(!site.log.all.contains { $0.contains("203.0.113") })
            let metrics = try await Visitor(site).metrics()
            #expect(metrics[#"companion_limited_total{limit="sign_ins"}"#] == 2)
            #expect(metrics.contains(#"companion_limited_total{limit="connections"}"#))
            #expect(metrics[#"companion_limited_total{limit="callbacks"}"#] == 0)

            site.clock.advance(61)
            #expect(try await begin("203.0.113.1") == 302)
            #expect(try await begin("203.0.113.1") == 429)
            #expect(lines().count == 2)
        }
    }

    // MARK: Buckets

    @Test func `a bucket gives its burst at once and then its rate, and is forgotten when it is full`() throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        let buckets = try #require(TokenBuckets<String>(perMinute: 120, burst: 60))
        for _ in 0..<60 { #expect(buckets.take("a", now: start) == nil) }
        #expect(buckets.take("a", now: start) == 1)
        #expect(buckets.take("b", now: start) == nil, "another key")
        for second in 1...20 {
            let now = start.addingTimeInterval(TimeInterval(second))
            for _ in 0..<2 { #expect(buckets.take("a", now: now) == nil) }
            #expect(buckets.take("a", now: now) == 1)
        }
        let full = start.addingTimeInterval(60)
        for _ in 0..<60 { #expect(buckets.take("a", now: full) == nil) }
        #expect(buckets.take("a", now: full) == 1)
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (120, 60)])
    func `the burst is half a minute's worth unless configured`(rate: Int, burst: Int) throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let buckets = try #require(TokenBuckets<Int>(perMinute: rate))
        let taken = (0..<200).count { _ in buckets.take(1, now: now) == nil }
        #expect(taken == burst)
        #expect(TokenBuckets<Int>(perMinute: 0, burst: 5) == nil)
    }

    @Test func `too many keys push out those that were used longest ago`() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let buckets = try #require(TokenBuckets<Int>(perMinute: 1, burst: 1, maxKeys: 2))
        for key in [1, 2, 3] { #expect(buckets.take(key, now: now) == nil) }
        #expect(buckets.take(3, now: now) == 60)
        #expect(buckets.take(2, now: now) == 60)
        #expect(buckets.take(1, now: now) == nil)
    }
}
