import Foundation
import HTTPTypes
import HTTPWire
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// That endpoints use the checks: each test would miss one line's absence, through the product's own entry.
@Suite struct EndpointTests {
    // MARK: Sign-in

    @Test func `another browser at the same callback at the same time is not signed in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let callback = try #require(try await visitor.walkToCallback().location)
            try await site.hold()
            async let own = visitor.get(callback)
            try await site.untilHeld()
            for _ in 0..<20 {
                let stranger = try await Visitor(site).api(.get, callback)
                #expect(stranger.code == "state_mismatch", "\(stranger.status) \(stranger.location ?? "")")
                #expect(stranger.fields[.setCookie] == nil)
            }
            try await site.letGo()
            #expect(try await own.location == "/ios")
        }
    }

    @Test func `a failed attempt is marked as failed, and its callback fails again`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
            let callback = try #require(try await visitor.walkToCallback(consent: "cancel").location)
            #expect(try await visitor.get(callback).location?.contains("sign_in_error=cancelled") == true)
            #expect(
                try SQLiteShell.run(site.database, "SELECT count(*), count(failed_at) FROM sign_in_attempt;") == "1|1\n"
            )
            #expect(
                try await visitor.get(callback).location?.contains("sign_in_error=cancelled") == true, "and says why")
            // An old tab of somebody who has signed in since is no failure.
            try await visitor.signIn()
            #expect(try await visitor.get(callback).location == "/ios")
        }
    }

    @Test func `claims go with the code to the token endpoint`() async throws {
        try await Site.run { site in
            let claims = #"{"access_token":{"nbf":{"essential":true,"value":"7"}}}"#
            try await Visitor(site).signIn(query: FormEncoding.encode([("claims", claims)]))
            let redemption = try #require(
                site.traffic.all.compactMap { try? FormFields(body: $0.request.body) }.last {
                    $0["grant_type"] == "authorization_code"
                })
            #expect(redemption["claims"]?.contains(#""nbf""#) == true, "\(redemption["claims"] ?? "none")")
        }
    }

    @Test(arguments: [("login_hint", 256, true), ("login_hint", 257, false), ("domain_hint", 257, false)])
    func `a parameter that goes on to the provider has a maximum length`(field: String, length: Int, isTaken: Bool)
        async throws
    {
        try await Site.run { site in
            let value = String(repeating: "a", count: length)
            let answer = try await Visitor(site).api(.get, "/auth/ios/sign-in?\(field)=\(value)")
            #expect(answer.status == (isTaken ? 302 : 400))
            #expect(answer.code == (isTaken ? nil : "bad_request"))
        }
    }

    @Test(arguments: ["sign-in", "admin-consent"])
    func `below a path, people can return only to pages below it`(begin: String) async throws {
        try await Site.run(below: "/companion", configured: { _ in }) { site in
            let visitor = Visitor(site)
            for path in ["/", "/elsewhere", "/companions", "//companion", "https://evil.example/companion"] {
                let query = FormEncoding.encode([("return_to", path), ("tenant", "contoso.example")])
                let refused = try await visitor.api(.get, "/companion/auth/ios/\(begin)?\(query)")
                #expect(refused.code == "bad_request", "\(path)")
                #expect(refused.location == nil)
            }
            let query = FormEncoding.encode([("return_to", "/companion/macos"), ("tenant", "contoso.example")])
            #expect(try await visitor.get("/companion/auth/ios/\(begin)?\(query)").status == 302)
        }
    }

    @Test func `a sign-in gets an error page of its own while the store refuses writes`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            // A write that was stored a moment ago was proof enough for the first of them.
            var page = try await visitor.get("/auth/ios/sign-in")
            while page.status == 302 { page = try await visitor.get("/auth/ios/sign-in") }
            try lock.release()
            #expect(page.status == 503)
            #expect(page.text.contains("storage_unavailable"))
        }
    }

    @Test func `one application's sign-in failure is not shown at another`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
            try await visitor.signIn(consent: "cancel")
            let own = try await visitor.api(.get, "/api/ios/sign-in-failure").json["failure"] as? [String: Any]
            #expect(own?["code"] as? String == "cancelled")
            #expect(try await visitor.api(.get, "/api/macos/sign-in-failure").json["failure"] is NSNull)
        }
    }

    @Test func `only our own pages and windows can use an answer`() async throws {
        try await Site.run { site in
            for (path, isDocument) in [
                ("/ios", true), ("/api/apps", false), ("/auth/ios/sign-in", true), ("/nowhere", true),
            ] {
                let answer = try await Visitor(site).get(path)
                #expect(answer.fields[.crossOriginOpenerPolicy] == (isDocument ? "same-origin" : nil), "\(path)")
                #expect(answer.fields[.crossOriginResourcePolicy] == "same-origin", "\(path)")
            }
        }
    }

    // MARK: Accounts

    @Test func `a page that asks for an account gets that one, not the current one`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let first = try #require(
                try await visitor.api(.get, "/api/ios/account").json["account"] as? [String: Any])
            try await visitor.signIn(username: "megan@contoso.example")
            let query = FormEncoding.encode([("account", try #require(first["id"] as? String))])
            let named = try await visitor.api(.get, "/api/ios/account?\(query)").json["account"] as? [String: Any]
            #expect(named?["username"] as? String == "adele@contoso.example")
        }
    }

    @Test func `an operator listed by object id is still one after signing in`() async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[1].page = .portal
            configuration.applications[1].allowed.users = [.object(id: "87d349ed-44d7-43e1-9a83-5f2406dee5bd")]
        }) { site in
            let visitor = Visitor(site)
            let callback = try await visitor.signIn(app: "macos")
            #expect(callback.location == "/macos")
            let sessions = try await visitor.api(.get, "/api/macos/sessions")
            #expect(sessions.status == 200)
        }
    }

    @Test func `the log does not quote an invalid request`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            for path in ["/api/a-persons-name/account", "/auth/a-persons-name/sign-in", "/api/ios/a-persons-name"] {
                #expect(try await visitor.api(.get, path).code == "not_found")
            }
            let begin = try await visitor.api(.get, "/auth/ios/sign-in?tenant=a-persons-name%2F&prompt=a-persons-name")
            #expect(begin.code == "bad_request")
            let log = site.log.all.joined(separator: "\n")
            #expect(log.contains("not_found"), "the requests are told")
            #expect(!log.contains("a-persons-name"))
        }
    }

    // MARK: Administrators

    @Test func `an administrator who refuses comes back to the page as cancelled, not as granted`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let begun = try await visitor.get("/auth/ios/admin-consent?tenant=contoso.example&return_to=%2Fmacos")
            let items = URLComponents(string: try #require(begun.location))?.queryItems ?? []
            let state = try #require(items.first { $0.name == "state" }?.value)
            let answer = try await visitor.get(
                "/auth/callback?error=access_denied&error_description=AADSTS65004%3A%20No.&state=\(state)")
            #expect(answer.location?.hasPrefix("/macos?sign_in_error=cancelled") == true, "\(answer.location ?? "")")
        }
    }

    @Test func `an administrator comes back to the page that the link named`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let begun = try await visitor.get("/auth/ios/admin-consent?tenant=contoso.example&return_to=%2Fmacos")
            let answer = try await visitor.follow(try #require(begun.location), username: "adele@contoso.example")
            #expect(answer.location == "/macos?admin_consent=granted")
        }
    }

    @Test(arguments: [("ios", true), ("external", false)])
    func `the link for an administrator is offered where there is one`(app: String, isThere: Bool) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"token_platform_error": 90094}"#)
            let username = app == "ios" ? "adele@contoso.example" : "customer@fabrikam.example"
            let answer = try await visitor.signIn(app: app, username: username)
            #expect(answer.location?.contains("sign_in_error=admin_consent_required") == true, "\(answer.text)")
            let failure = try await visitor.api(.get, "/api/\(app)/sign-in-failure").json["failure"] as? [String: Any]
            let action = failure?["action"] as? [String: String]
            let link = ["kind": "admin_consent", "url": "\(site.origin)/auth/ios/admin-consent"]
            #expect(action == (isThere ? link : nil))
        }
    }

    // MARK: Sign-out

    @Test func `a provider that gets a logout hint does not get the ID token`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"browser":true}"#)
            let redirect = try #require(out.json["redirect"] as? String)
            #expect(redirect.contains("logout_hint="))
            #expect(!redirect.contains("id_token_hint"))
        }
    }

    @Test func `a shared device keeps no name of anyone who signed out`() async throws {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(try await visitor.api(.post, "/auth/ios/sign-out").status == 200)
            #expect(try SQLiteShell.run(site.database, "SELECT count(*) FROM previous_account;") == "0\n")
            #expect(try SQLiteShell.run(site.database, "SELECT count(*) FROM account;") == "0\n")
        }
    }

    @Test func `a session id longer than a provider would send is refused at the front channel`() async throws {
        try await Site.run { site in
            for (length, status) in [(512, 200), (513, 400)] {
                let sid = String(repeating: "s", count: length)
                let answer = try await Visitor(site).get("/auth/front-channel-logout?iss=https%3A%2F%2Fa&sid=\(sid)")
                #expect(answer.status == status)
            }
        }
    }

    // MARK: Tokens

    @Test func `a token is renewed when the provider asked for it, long before its end`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"access_token_seconds": 7200}"#)
            try await visitor.signIn()
            site.clock.advance(3500)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "cache")
            site.clock.advance(200)
            #expect(try await visitor.api(.post, "/api/ios/token").json["source"] as? String == "refreshed")
        }
    }

    @Test func `a forced refresh does not join an ordinary one that is under way`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"access_token_seconds": 1200}"#)
            try await visitor.signIn()
            site.clock.advance(1300)
            // Whichever comes first fails, and the other has one of its own.
            try await site.control(
                #"{"token_delay_ms": 400, "token_error": {"status": 503, "body": "down", "times": 1}}"#)
            async let ordinary = visitor.api(.post, "/api/ios/token")
            async let forced = visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(try await Set([ordinary.status, forced.status]) == [200, 503])
        }
    }

    @Test func `a refusal by the provider ends a token that would be good for a while`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"access_token_seconds": 1200}"#)
            try await visitor.signIn()
            site.clock.advance(1000)
            try await site.control(#"{"revoke": "adele@contoso.example"}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
        }
    }

    // MARK: APIs

    @Test func `one account's pause at the API does not affect another`() async throws {
        try await Site.run { site in
            let (adele, megan) = (Visitor(site), Visitor(site))
            try await adele.signIn()
            try await megan.signIn(username: "megan@contoso.example")
            try await site.control(
                #"{"graph_error": {"status": 429, "body": {}, "headers": {"Retry-After": "999999"}, "times": 1}}"#)
            #expect(try await adele.api(.get, "/api/ios/me").status == 429)
            #expect(try await megan.api(.get, "/api/ios/me").status == 200)
            #expect(try await adele.api(.get, "/api/ios/me").code == "throttled")
            // Whatever an API says, an hour is enough.
            site.clock.advance(1800)
            #expect(try await adele.api(.get, "/api/ios/account").status == 200, "who is there stays signed in")
            site.clock.advance(1805)
            let answer = try await adele.api(.get, "/api/ios/me")
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test func `an answer of the provider about another person is not passed on`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            #expect(try await visitor.api(.get, "/api/provider/me").status == 200)
            for body in [#"{"sub": "somebody-else", "name": "Somebody Else"}"#, #"{"name": "Somebody Else"}"#] {
                try await site.control(#"{"graph_error": {"status": 200, "body": \#(body), "times": 1}}"#)
                let answer = try await visitor.api(.get, "/api/provider/me")
                #expect(answer.status == 502)
                #expect(answer.code == "api_unavailable")
                #expect(!answer.text.contains("Somebody"))
            }
        }
    }

    @Test func `only the fields of an API's answer that a page needs are passed on`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(
                #"""
                {"graph_error": {"status": 403, "body": {"error": {}}, "times": 1, "headers": {
                    "Set-Cookie": "companion=planted; Path=/", "Content-Security-Policy": "default-src *",
                    "Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*", "Retry-After": "7"}}}
                """#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == 403)
            #expect(answer.fields[.setCookie] == nil)
            #expect(answer.fields[.cacheControl] == "no-store")
            #expect(answer.fields[.accessControlAllowOrigin] == nil)
            #expect(answer.fields[values: .contentSecurityPolicy].allSatisfy { $0.hasPrefix("default-src 'none'") })
            #expect(answer.fields[.retryAfter] == "7")
        }
    }
}
