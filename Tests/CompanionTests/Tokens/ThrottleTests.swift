import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn
@testable import OpenIDConnect
@testable import SessionStore

/// The scope of a pause that a provider or an API asks for, and the limit on replacing good tokens.
@Suite struct ThrottleTests {
    private static let people = ["adele@contoso.example", "megan@contoso.example", "mfa@contoso.example"]

    /// `count` people who are signed in, each with an access token that has just expired.
    private static func expired(
        _ count: Int, _ test: @escaping (Site, [Visitor]) async throws -> Void
    ) async throws {
        try await Site.run(configured: { $0.sessionIdle = .seconds(6 * 3600) }) { site in
            try await site.control(#"{"access_token_seconds": 1200}"#)
            var visitors: [Visitor] = []
            for person in people.prefix(count) {
                let visitor = Visitor(site)
                #expect(try await visitor.signIn(username: person).location == "/ios")
                visitors.append(visitor)
            }
            site.clock.advance(1300)
            try await test(site, visitors)
        }
    }

    private static func refuse(_ site: Site, retryAfter: String?, times: Int = 1) async throws {
        let headers = retryAfter.map { #", "headers": {"Retry-After": "\#($0)"}"# } ?? ""
        try await site.control(#"{"token_error": {"status": 429, "body": "{}", "times": \#(times)\#(headers)}}"#)
    }

    @Test func `one person's 429 pauses this person, and neither others nor sign-ins`() async throws {
        try await Self.expired(2) { site, people in
            try await Self.refuse(site, retryAfter: "900")
            #expect(try await people[0].api(.get, "/api/ios/me").code == "throttled")
            let asked = try await site.count("token_requests")
            let paused = try await people[0].api(.get, "/api/ios/me")
            #expect(paused.code == "throttled")
            #expect((890...900).contains(try #require(paused.fields[.retryAfter].flatMap(Int.init))))
            #expect(try await site.count("token_requests") == asked)
            #expect(try await people[1].api(.get, "/api/ios/me").status == 200)
            let elsewhere = Visitor(site)
            try await elsewhere.signIn()
            #expect(try await elsewhere.api(.get, "/api/ios/me").status == 200)
            // The pause is the account's, whichever of its sessions asks.
            let forced = try await elsewhere.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            #expect(forced.code == "throttled")
            site.clock.advance(901)
            #expect(try await people[0].api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test(arguments: [
        ("no word", nil, 120), ("nonsense", "soon", 120), ("a day", "86400", 3600), ("five minutes", "300", 300),
    ])
    func `a pause lasts as long as the provider asks, an hour at most, and two minutes by default`(
        row: String, retryAfter: String?, seconds: Int
    ) async throws {
        try await Self.expired(1) { site, people in
            try await Self.refuse(site, retryAfter: retryAfter)
            let first = try await people[0].api(.get, "/api/ios/me")
            #expect(first.status == 429 && first.fields[.retryAfter] == String(seconds), "\(row)")
            let asked = try await site.count("token_requests")
            site.clock.advance(TimeInterval(seconds) - 20)
            #expect(try await people[0].api(.get, "/api/ios/me").code == "throttled", "\(row)")
            #expect(try await site.count("token_requests") == asked, "\(row)")
            site.clock.advance(20)
            #expect(try await people[0].api(.get, "/api/ios/me").status == 200, "\(row)")
        }
    }

    @Test func `three accounts' 429 within a minute pause everybody's refreshes, but no sign-in`() async throws {
        try await Self.expired(3) { site, people in
            try await Self.refuse(site, retryAfter: "1", times: 2)
            for person in people.prefix(2) { #expect(try await person.api(.get, "/api/ios/me").code == "throttled") }
            try await Self.refuse(site, retryAfter: "600")
            #expect(try await people[2].api(.get, "/api/ios/me").code == "throttled")
            site.clock.advance(2)
            let asked = try await site.count("token_requests")
            let paused = try await people[0].api(.get, "/api/ios/me")
            #expect(paused.code == "throttled")
            #expect((40...60).contains(try #require(paused.fields[.retryAfter].flatMap(Int.init))))
            #expect(try await site.count("token_requests") == asked)
            let newcomer = Visitor(site)
            #expect(try await newcomer.signIn(username: "alex@outlook.example").location == "/ios")
            // They have caused the pause. Nobody else wants to be the probe.
            site.clock.advance(60 + TokenThrottle.longestWait)
            for person in people.prefix(2) { #expect(try await person.api(.get, "/api/ios/me").status == 200) }
            // The third account's longer pause is its own.
            let third = try await people[2].api(.get, "/api/ios/me")
            #expect((500...540).contains(try #require(third.fields[.retryAfter].flatMap(Int.init))))
        }
    }

    @Test func `three accounts' 429 in one session pause no other session`() async throws {
        try await Self.expired(1) { site, people in
            let crowd = Visitor(site)
            var ids: [String] = []
            for person in Self.people.dropFirst() + ["alex@outlook.example"] {
                try await crowd.signIn(username: person)
                let account = try await crowd.api(.get, "/api/ios/account").json["account"] as? [String: Any]
                ids.append(try #require(account?["id"] as? String))
            }
            try await Self.refuse(site, retryAfter: "3600", times: 3)
            for id in ids {
                let body = #"{"account": "\#(id)", "force_refresh": true}"#
                #expect(try await crowd.api(.post, "/api/ios/token", body: body).code == "throttled")
            }
            #expect(try await people[0].api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `a 429 to a code pauses the codes of this person's session, and nothing else`() async throws {
        try await Self.expired(1) { site, people in
            for _ in 0..<3 {
                try await Self.refuse(site, retryAfter: "60")
                let first = try await people[0].signIn(username: "megan@contoso.example")
                #expect(try #require(first.location).contains("sign_in_error=throttled"))
                let asked = try await site.count("token_requests")
                let second = try await people[0].signIn(username: "alex@outlook.example")
                #expect(try #require(second.location).contains("sign_in_error=throttled"))
                #expect(try await site.count("token_requests") == asked)
                #expect(try await Visitor(site).signIn(username: "alex@outlook.example").location == "/ios")
                #expect(try await people[0].api(.get, "/api/ios/me").status == 200)
                site.clock.advance(61)
                #expect(try await people[0].signIn(username: "megan@contoso.example").location == "/ios")
            }
        }
    }

    @Test func `three people's codes that get a 429 pause no other person's codes`() async throws {
        try await Site.run { site in
            try await Self.refuse(site, retryAfter: "3600", times: 3)
            for person in Self.people {
                let refused = try await Visitor(site).signIn(username: person)
                #expect(try #require(refused.location).contains("sign_in_error=throttled"))
            }
            #expect(try await Visitor(site).signIn(username: "alex@outlook.example").location == "/ios")
        }
    }

    @Test func `a code that fails for another reason pauses nothing`() async throws {
        try await Site.run { site in
            try await site.control(
                #"{"token_error": {"status": 503, "body": "", "headers": {"Retry-After": "60"}, "times": 1}}"#)
            #expect(try #require(try await Visitor(site).signIn().location).contains("provider_unavailable"))
            #expect(try await Visitor(site).signIn().location == "/ios")
        }
    }

    @Test(arguments: [("60", 61), (nil, 0)])
    func `an API that is out of order is not called for as long as it asks`(retryAfter: String?, pause: Int)
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let headers = retryAfter.map { #", "headers": {"Retry-After": "\#($0)"}"# } ?? ""
            try await site.control(#"{"graph_error": {"status": 503, "body": {}, "times": 1\#(headers)}}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 503)
            if pause > 0 {
                let asked = try await site.count("graph_me")
                #expect(try await visitor.api(.get, "/api/ios/me").code == "throttled")
                #expect(try await site.count("graph_me") == asked)
                site.clock.advance(TimeInterval(pause))
            }
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test(arguments: [429, 503])
    func `the API's pause is this account's alone, and says the status that began it`(status: Int) async throws {
        try await Site.run { site in
            let (adele, megan) = (Visitor(site), Visitor(site))
            try await adele.signIn()
            try await megan.signIn(username: "megan@contoso.example")
            try await site.control(
                #"{"graph_error": {"status": \#(status), "body": {}, "headers": {"Retry-After": "60"}, "times": 1}}"#)
            #expect(try await adele.api(.get, "/api/ios/me").status == status)
            let asked = try await site.count("graph_me")
            let paused = try await adele.api(.get, "/api/ios/me")
            #expect(paused.code == "throttled")
            #expect(paused.json["api_status"] as? Int == status)
            #expect(try await site.count("graph_me") == asked)
            #expect(try await megan.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test(arguments: [
        (429, "throttled", "There were too many requests."),
        (503, "provider_unavailable", "The identity provider returned 503, and is not asked for a while."),
    ])
    func `the pause of a refresh says the status that began it`(status: Int, code: String, sentence: String)
        async throws
    {
        try await Self.expired(1) { site, people in
            try await site.control(
                #"{"token_error": {"status": \#(status), "body": "", "headers": {"Retry-After": "900"}, "times": 1}}"#)
            #expect(try await people[0].api(.get, "/api/ios/me").status == status)
            let asked = try await site.count("token_requests")
            let paused = try await people[0].api(.get, "/api/ios/me")
            #expect(paused.status == status && paused.code == code, "\(paused.text)")
            #expect((paused.json["detail"] as? String)?.hasPrefix(sentence) == true, "\(paused.text)")
            #expect((890...900).contains(try #require(paused.fields[.retryAfter].flatMap(Int.init))))
            #expect(try await site.count("token_requests") == asked)
        }
    }

    // MARK: The client's pause and its probe

    final class Table {
        let clock = TestClock()
        let throttle: TokenThrottle
        let client: TokenThrottle.Client

        init(_ id: String = "a") throws {
            throttle = TokenThrottle(now: clock.now)
            client = TokenThrottle.Client(
                tokenEndpoint: try #require(Endpoint("https://id.example/token")), id: id)
        }

        /// Each account is in a session of its own, unless it is said in which.
        static func grant(_ account: String, in session: Int64? = nil) -> TokenThrottle.Grant {
            .refresh(accountID: account, session: SessionKey(session ?? Int64(account) ?? 0))
        }

        func begin(_ account: String, in session: Int64? = nil) throws -> TokenThrottle.Leave {
            try throttle.begin(Table.grant(account, in: session), of: client)
        }

        /// A refresh that the provider answers at once; false when it was not asked.
        func refresh(_ account: String, in session: Int64? = nil, _ error: (any Error)? = nil) -> Bool {
            guard let leave = try? begin(account, in: session) else { return false }
            throttle.end(leave, Table.grant(account, in: session), of: client, error: error)
            return true
        }

        static func error(_ status: Int, retryAfter: Int? = nil) -> OpenIDError {
            var error = OpenIDError(status == 429 ? .throttled : .providerUnavailable, "")
            error.status = status
            error.retryAfter = retryAfter.map { .seconds($0) }
            return error
        }

        /// Three accounts with a 429 each, whose own pauses are over in a second.
        func pause(_ seconds: Int) {
            for account in ["1", "2"] { #expect(refresh(account, Table.error(429, retryAfter: 1))) }
            #expect(refresh("3", Table.error(429, retryAfter: seconds)))
        }
    }

    @Test func `an account whose refreshes fail in a row has a pause of a second in its session, and no other has`()
        throws
    {
        let table = try Table()
        func isRefused() throws -> Bool {
            guard !table.refresh("1", Table.error(503)) else { return false }
            let paused = try #require(throws: Problem.self) { try table.begin("1") }
            #expect(paused.code == .providerUnavailable && paused.retryAfter == 1)
            return true
        }
        for _ in 0..<2 { #expect(try !isRefused()) }
        for _ in 0..<3 {
            #expect(try isRefused())
            #expect(table.refresh("2"))
            #expect(table.refresh("1", in: 9), "the same account in another session")
            table.clock.advance(1)
            #expect(try !isRefused())
        }
        table.clock.advance(1)
        #expect(table.refresh("1"), "it goes well")
        #expect(try !isRefused(), "the first failure since")
        table.clock.advance(10)
        #expect(try !isRefused(), "and no other soon after")
        #expect(table.refresh("1", Throttle.problem(retryAfter: 9)), "it ends before the provider is asked")
        #expect(try !isRefused(), "the second in a row")
        #expect(try isRefused())
    }

    @Test func `after the client's pause one refresh goes first, and the others follow when it succeeds`() throws {
        let table = try Table()
        table.pause(60)
        table.clock.advance(50)
        #expect(!table.refresh("4"))
        table.clock.advance(11)
        let probe = try table.begin("4")
        let waiting = try #require(throws: Problem.self) { try table.begin("5") }
        #expect(waiting.code == .throttled && waiting.retryAfter == Int(TokenThrottle.probeWait))
        table.throttle.end(probe, Table.grant("4"), of: table.client, error: nil)
        for account in ["1", "2", "3", "5"] { _ = try table.begin(account) }
    }

    @Test func `a probe that gets a 429 pauses the client again by itself`() throws {
        let table = try Table()
        table.pause(60)
        table.clock.advance(61)
        #expect(table.refresh("4", Table.error(429)))
        table.clock.advance(50)
        #expect(!table.refresh("5"))
        table.clock.advance(11)
        #expect(!table.refresh("4"), "its own pause is two minutes")
        #expect(table.refresh("5"))
        #expect(table.refresh("6"))
    }

    @Test func `a probe without an answer leaves its turn to the next, and a refusal of the account is an answer`()
        throws
    {
        let table = try Table()
        table.pause(60)
        table.clock.advance(61)
        #expect(table.refresh("4", Table.error(503)))
        let probe = try table.begin("5")
        #expect(throws: Problem.self) { try table.begin("6") }
        table.throttle.end(probe, Table.grant("5"), of: table.client, error: CancellationError())
        let second = try table.begin("6")
        #expect(throws: Problem.self) { try table.begin("7") }
        table.throttle.end(
            second, Table.grant("6"), of: table.client,
            error: OpenIDError(.interactionRequired, ""))
        #expect(table.refresh("7"))
        #expect(table.refresh("8"))
    }

    @Test func `a refresh from before the pause that goes well later does not end it`() throws {
        let table = try Table()
        let early = try table.begin("4")
        table.pause(60)
        table.throttle.end(early, Table.grant("4"), of: table.client, error: nil)
        #expect(!table.refresh("5"))
    }

    @Test func `429s of one account, over more than a minute or of several clients pause no client`() throws {
        let table = try Table()
        for _ in 0..<4 {
            #expect(table.refresh("1", Table.error(429, retryAfter: 1)))
            table.clock.advance(1.5)
        }
        #expect(table.refresh("2", Table.error(429, retryAfter: 1)))
        table.clock.advance(61)
        #expect(table.refresh("3", Table.error(429, retryAfter: 1)))
        #expect(table.refresh("4", Table.error(503, retryAfter: 60)))
        #expect(table.refresh("5"))
        #expect(!table.refresh("4"), "it asked for a pause")
        let other = TokenThrottle.Client(tokenEndpoint: table.client.tokenEndpoint, id: "b")
        let leave = try table.throttle.begin(Table.grant("6"), of: other)
        table.throttle.end(leave, Table.grant("6"), of: other, error: Table.error(429, retryAfter: 60))
        #expect(table.refresh("6", Table.error(429, retryAfter: 1)), "an account of the same name")
        #expect(table.refresh("7"))
    }

    @Test func `429s of two sessions pause no client, and those of three pause it for a minute at most`() throws {
        let table = try Table()
        for (account, session) in [("1", 1), ("2", 2), ("3", 2)] {
            #expect(table.refresh(account, in: Int64(session), Table.error(429, retryAfter: 3600)))
        }
        #expect(table.refresh("5"))
        #expect(table.refresh("4", Table.error(429, retryAfter: 3600)))
        let paused = try #require(throws: Problem.self) { try table.begin("5") }
        #expect(paused.retryAfter == 60)
        table.clock.advance(61)
        #expect(table.refresh("5"))
        let own = try #require(throws: Problem.self) { try table.begin("1") }
        #expect((3500...3600).contains(try #require(own.retryAfter)))
    }

    // MARK: Forced refreshes

    @Test func `an account's token is replaced at most six times a minute in all of its sessions together`()
        async throws
    {
        let force = #"{"force_refresh": true}"#
        try await Site.run { site in
            let (one, other, megan) = (Visitor(site), Visitor(site), Visitor(site))
            for visitor in [one, other] { try await visitor.signIn() }
            try await megan.signIn(username: "megan@contoso.example")
            for number in 0..<6 {
                let answer = try await (number < 4 ? one : other).api(.post, "/api/ios/token", body: force)
                #expect(answer.json["source"] as? String == "refreshed")
            }
            #expect(try await site.count("token_refresh") == 6)
            for visitor in [one, other] {
                let refused = try await visitor.api(.post, "/api/ios/token", body: force)
                #expect(refused.status == 429 && refused.code == "throttled")
                #expect((1...60).contains(try #require(refused.fields[.retryAfter].flatMap(Int.init))))
            }
            #expect(try await site.count("token_refresh") == 6)
            #expect(try await one.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            #expect(try await megan.api(.post, "/api/ios/token", body: force).status == 200)
            site.clock.advance(61)
            #expect(try await one.api(.post, "/api/ios/token", body: force).status == 200)
        }
    }

    @Test func `forced refreshes that a pause has refused are not counted`() async throws {
        let force = #"{"force_refresh": true}"#
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await Self.refuse(site, retryAfter: "10")
            for _ in 0..<10 {
                #expect(try await visitor.api(.post, "/api/ios/token", body: force).code == "throttled")
            }
            site.clock.advance(11)
            #expect(try await visitor.api(.post, "/api/ios/token", body: force).status == 200)
        }
    }

    @Test func `a probe that the limit of forced refreshes stops leaves its turn to another`() async throws {
        let table = try Table()
        table.pause(60)
        table.clock.advance(61)
        let leave = try table.begin("4")
        table.throttle.end(
            leave, Table.grant("4"), of: table.client, error: Throttle.problem(retryAfter: 9))
        #expect(table.refresh("5"))
        #expect(table.refresh("6"))
    }

    @Test func `the limit of forced refreshes slides, and a refused one does not count`() throws {
        let clock = TestClock()
        let limit = ForcedRefreshLimit(now: clock.now)
        let account = ForcedRefreshLimit.Account(app: "ios", id: "1")
        for _ in 0..<3 { try limit.take(account) }
        clock.advance(40)
        for _ in 0..<3 { try limit.take(account) }
        for _ in 0..<5 {
            let refused = try #require(throws: Problem.self) { try limit.take(account) }
            #expect((15...20).contains(try #require(refused.retryAfter)))
        }
        try limit.take(ForcedRefreshLimit.Account(app: "macos", id: "1"))
        clock.advance(21)
        for _ in 0..<3 { try limit.take(account) }
        #expect(throws: Problem.self) { try limit.take(account) }
    }

    // MARK: One at a time

    @Test func `two sets of scopes of an account are refreshed one after the other`() async throws {
        try await Site.run { site in
            try await site.control(#"{"access_token_seconds": 1200}"#)
            let (visitor, other) = (Visitor(site), Visitor(site))
            try await visitor.signIn(query: "scope=mail.read")
            try await other.signIn(username: "megan@contoso.example")
            site.clock.advance(1300)
            let refreshed = try await site.count("token_refresh")
            // It holds the first alone: one that came beside it would be answered at once, as the other person's is.
            try await site.control(#"{"rules":[{"hold":"token","times":1}]}"#)
            async let one = visitor.api(.post, "/api/ios/token", body: #"{"scopes": ["user.read"]}"#)
            async let two = visitor.copy().api(.post, "/api/ios/token", body: #"{"scopes": ["mail.read"]}"#)
            try await site.untilHeld()
            #expect(try await other.api(.post, "/api/ios/token").status == 200)
            #expect(try await site.count("token_refresh") == refreshed + 1)
            try await site.control(#"{"rules":[]}"#)
            #expect(try await [one.status, two.status] == [200, 200])
            #expect(try await site.count("token_refresh") == refreshed + 3)
        }
    }

    @Test func `a forced refresh does not join an ordinary one`() async throws {
        try await Self.expired(1) { site, people in
            let refreshed = try await site.count("token_refresh")
            try await site.hold()
            let visitor = people[0]
            async let ordinary = visitor.api(.post, "/api/ios/token")
            try await site.untilHeld()
            async let forced = visitor.copy().api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#)
            // Whoever comes later has been answered.
            for _ in 0..<3 { #expect(try await visitor.copy().api(.get, "/api/ios/account").status == 200) }
            try await site.letGo()
            #expect(try await ordinary.status == 200)
            #expect(try await forced.json["source"] as? String == "refreshed")
            #expect(try await site.count("token_refresh") == refreshed + 2)
        }
    }
}
