import Foundation
import HTTPTypes
import OpenIDConnect
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Sign-out that the provider begins.
@Suite struct ChannelLogoutTests {
    private static let client = "11111111-2222-4333-8444-555555555555"

    private static func signedIn(_ test: (Site, Visitor, [String: Any]) async throws -> Void) async throws {
        // The tests send the session's `sid`, which claims hide otherwise.
        try await Site.run(configured: { $0.tokenDisplay = .full }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            try await test(site, visitor, try await visitor.api(.get, "/api/provider/claims").json)
        }
    }

    private func isSignedIn(_ visitor: Visitor) async throws -> Bool {
        try await visitor.api(.get, "/api/provider/account").json["account"] is [String: Any]
    }

    // MARK: The front channel

    @Test func `the front channel ends the session that it names, without a cookie, in a frame`() async throws {
        try await Self.signedIn { site, visitor, claims in
            let (issuer, sid) = (claims["iss"] as? String ?? "", claims["sid"] as? String ?? "")
            let stranger = Visitor(site)
            let answer = try await stranger.get(
                "/auth/front-channel-logout?" + FormEncoding.encode([("iss", issuer), ("sid", sid)]))
            #expect(answer.status == 200)
            #expect(answer.fields[.setCookie] == nil)
            #expect(answer.fields[.cacheControl] == "no-store")
            #expect(answer.fields[.contentSecurityPolicy]?.contains("frame-ancestors *") == true)
            #expect(try await isSignedIn(visitor) == false)
        }
    }

    @Test(arguments: [("", "", 400), ("iss", "", 400), ("iss", "another", 200), ("https://evil.example", "sid", 200)])
    func `a logout that names no session of ours ends none`(issuer: String, sid: String, status: Int) async throws {
        try await Self.signedIn { (site: Site, visitor: Visitor, claims: [String: Any]) async throws -> Void in
            let fields = [
                ("iss", issuer == "iss" ? claims["iss"] as? String ?? "" : issuer),
                ("sid", sid == "sid" ? claims["sid"] as? String ?? "" : sid),
            ]
            let answer = try await Visitor(site).get("/auth/front-channel-logout?" + FormEncoding.encode(fields))
            #expect(answer.status == status)
            #expect(try await isSignedIn(visitor))
        }
    }

    @Test func `no other page may be framed`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            for path in ["/", "/ios", "/auth/signed-out"] {
                let policy = try await visitor.get(path).fields[.contentSecurityPolicy]
                #expect(policy?.contains("frame-ancestors 'none'") == true, "\(path)")
            }
        }
    }

    // MARK: The back channel

    private func token(_ site: Site, sid: String? = nil, username: String = "adele@contoso.example") async throws
        -> String
    {
        var fields = [("username", username), ("client_id", Self.client)]
        if let sid { fields.append(("sid", sid)) }
        let path = "http://localhost:\(site.tenantPort)/control/logout-token?" + FormEncoding.encode(fields)
        return try await Visitor(site).get(path).text
    }

    private func post(_ site: Site, _ body: String) async throws -> Visitor.Answer {
        try await Visitor(site).send(
            .post, "/auth/back-channel-logout",
            headers: [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"], body: body)
    }

    @Test(arguments: [true, false])
    func `a logout token ends the sessions that it names, once`(namesSession: Bool) async throws {
        try await Self.signedIn { site, visitor, claims in
            let text = try await token(site, sid: namesSession ? claims["sid"] as? String : nil)
            let answer = try await post(site, "logout_token=\(text)")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.fields[.cacheControl] == "no-store")
            #expect(try await isSignedIn(visitor) == false)
            let again = try await post(site, "logout_token=\(text)")
            #expect(again.status == 400)
            #expect(again.json["error"] as? String == "invalid_request")
        }
    }

    @Test func `a logout token leaves an audit line for each account that it ends`() async throws {
        try await Site.runAudited(configured: { $0.tokenDisplay = .full }) { site, visitor, audit in
            try await visitor.signIn(app: "provider")
            try await visitor.signIn(app: "contoso")
            let claims = try await visitor.api(.get, "/api/provider/claims").json
            let text = try await token(site, sid: try #require(claims["sid"] as? String))
            #expect(try await post(site, "logout_token=\(text)").status == 200)
            #expect(try await post(site, "logout_token=\(text)").status == 400, "which ends nothing, and has no line")
            let ended = try audit.all().filter { $0["event"] == "signed_out_by_provider" }
            #expect(ended.compactMap { $0["application"] }.sorted() == ["contoso", "provider"])
            let signedIn = try audit.all().filter { $0["event"] == "signed_in" }
            #expect(Set(ended.map { $0["account"] }) == Set(signedIn.map { $0["account"] }))
            #expect(Set(ended.map { $0["session"] }) == Set(signedIn.map { $0["session"] }))
        }
    }

    @Test(arguments: [(true, 200), (false, 400)])
    func `a logout token is accepted for any application with its issuer`(isForOneHere: Bool, status: Int) async throws
    {
        try await Site.run(configured: { configuration in
            for index in configuration.applications.indices
            where !isForOneHere || configuration.applications[index].id != "provider" {
                let before = configuration.applications[index].registration
                configuration.applications[index].registration = ClientRegistration(
                    clientID: "99999999-2222-4333-8444-555555555555", redirectURI: before.redirectURI,
                    scopes: before.scopes)
            }
        }) { site in
            let visitor = Visitor(site)
            if isForOneHere { try await visitor.signIn(app: "provider") }
            let answer = try await post(site, "logout_token=\(try await token(site))")
            #expect(answer.status == status, "\(answer.text)")
            #expect(try await isSignedIn(visitor) == false)
        }
    }

    @Test func `a logout token about another person or another session ends no session`() async throws {
        try await Self.signedIn { site, visitor, claims in
            let session = try await token(site, sid: "another")
            let person = try await token(site, username: "megan@contoso.example")
            for text in [session, person] {
                #expect(try await post(site, "logout_token=\(text)").status == 200)
            }
            #expect(try await isSignedIn(visitor))
        }
    }

    @Test(arguments: ["", "logout_token=", "logout_token=a.b.c", "logout_token=a.b.c&logout_token=d", "%"])
    func `a body without exactly one logout token is refused`(body: String) async throws {
        try await Self.signedIn { site, visitor, _ in
            let answer = try await post(site, body)
            #expect(answer.status == 400)
            #expect(answer.json["error"] as? String == "invalid_request")
            #expect(try await isSignedIn(visitor))
        }
    }

    @Test func `a token that was changed is refused, and neither it nor its parts are logged`() async throws {
        try await Self.signedIn { site, visitor, _ in
            let text = try await token(site)
            let parts = text.split(separator: ".").map(String.init)
            let answer = try await post(
                site, "logout_token=\(parts[0]).\(parts[1]).\(parts[2].reversed().map(String.init).joined())")
            #expect(answer.status == 400)
            #expect(try await isSignedIn(visitor))
            #expect(!site.log.all.contains { $0.contains(parts[1]) || $0.contains(parts[2]) })
        }
    }
}
