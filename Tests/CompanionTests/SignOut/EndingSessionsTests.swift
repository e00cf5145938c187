import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore

/// An operator may end the sessions of others, after a fresh sign-in of their own.
@Suite struct EndingSessionsTests {
    private static let meganID = "48d31887-5fad-4d73-a9f5-3c356e68a038"
    private static let megan = "megan@contoso.example"
    private static let nobodyElse = "customer@fabrikam.example"

    /// Somebody signs in; the key of that session.
    private func other(_ site: Site, _ audit: AuditLines) async throws -> (visitor: Visitor, key: String) {
        let visitor = Visitor(site)
        try await visitor.signIn(app: "external", username: Self.nobodyElse)
        return (visitor, try #require(try audit.all().last?["session"]))
    }

    private func isSignedIn(_ visitor: Visitor) async throws -> Bool {
        try await visitor.api(.get, "/api/external/account").json["account"] is [String: Any]
    }

    private func end(_ key: String, _ visitor: Visitor) async throws -> Visitor.Answer {
        try await visitor.api(.delete, "/api/macos/sessions/\(key)")
    }

    // MARK: How fresh

    @Test func `an operator can end another person's session only after a recent sign-in`() async throws {
        try await Site.runAudited { site, megan, audit in
            try await megan.signIn(app: "macos", username: Self.megan)
            let (person, key) = try await other(site, audit)
            // Five minutes, and five for the clocks.
            site.clock.advance(620)
            let refused = try await end(key, megan)
            #expect(refused.status == 401)
            #expect(refused.code == "interaction_required")
            #expect(try await isSignedIn(person))
            #expect(try audit.all().allSatisfy { $0["event"] == "signed_in" })

            let action = try #require(refused.json["action"] as? [String: String])
            #expect(action["kind"] == "sign_in")
            #expect(action["url"] == "/auth/macos/sign-in?prompt=login&max_age=300&return_to=%2Fmacos")
            let begun = try await megan.get(try #require(action["url"]))
            let location = try #require(begun.location)
            #expect(location.contains("&prompt=login&max_age=300"))
            _ = try await megan.follow(location, username: Self.megan)

            #expect(try await end(key, megan).status == 204)
            #expect(try await !isSignedIn(person))
            let line = try #require(try audit.all().last)
            #expect(line["event"] == "session_ended_by_operator")
            #expect(line["auth_time"] == "recent")
            #expect(line["ended_session"] == key)
            #expect(line["session"] != key)
            #expect(line["application"] == "macos")
            #expect(line["account"] == (try audit.all().first?["account"]))
        }
    }

    @Test func `a sign-in of nearly five minutes ago, plus the leeway of clocks, is recent`() async throws {
        try await Site.runAudited { site, megan, audit in
            try await megan.signIn(app: "macos", username: Self.megan)
            let (person, key) = try await other(site, audit)
            site.clock.advance(580)
            #expect(try await end(key, megan).status == 204)
            #expect(try await !isSignedIn(person))
        }
    }

    @Test func `people can end their own session at any time`() async throws {
        try await Site.runAudited { site, megan, audit in
            try await megan.signIn(app: "macos", username: Self.megan)
            let key = try #require(try audit.all().last?["session"])
            site.clock.advance(1500)
            #expect(try await end(key, megan).status == 204)
            #expect(try await megan.api(.get, "/api/macos/account").json["account"] is NSNull)
            #expect(try audit.all().last?["auth_time"] == nil)
        }
    }

    @Test func `without auth_time, a sign-in counts that asked for the password and began just now`() async throws {
        try await Site.runAudited { site, megan, audit in
            try await site.control(#"{"omit_auth_time": true}"#)
            let keys = try await [other(site, audit).key, other(site, audit).key]
            // The provider was free to answer this one without a question.
            try await megan.signIn(app: "macos", username: Self.megan)
            #expect(try await end(keys[0], megan).code == "interaction_required")

            let back = try await megan.walkToCallback(app: "macos", query: "prompt=login", username: Self.megan)
            site.clock.advance(250)
            _ = try await megan.get(try #require(back.location))
            #expect(try await end(keys[0], megan).status == 204)
            #expect(try audit.all().last?["auth_time"] == "absent")
            // Counted from its beginning, without leeway: that is one clock.
            site.clock.advance(60)
            #expect(try await end(keys[1], megan).code == "interaction_required")
        }
    }

    @Test func `the sign-in of another account in the same browser does not count`() async throws {
        try await Site.runAudited { site, megan, audit in
            try await site.control(#"{"omit_auth_time": true}"#)
            let (person, key) = try await other(site, audit)
            try await megan.signIn(app: "macos", username: Self.megan)
            let account = try await megan.api(.get, "/api/macos/account").json["account"] as? [String: Any]
            let id = try #require(account?["id"] as? String)
            try await megan.signIn(app: "macos", query: "prompt=login", username: "adele@contoso.example")
            #expect(try await megan.api(.put, "/api/macos/account", body: #"{"id": "\#(id)"}"#).status == 200)
            #expect(try await end(key, megan).code == "interaction_required")
            // Nor does one with another application.
            try await megan.signIn(app: "contoso", query: "prompt=login", username: Self.megan)
            #expect(try await end(key, megan).code == "interaction_required")
            #expect(try await isSignedIn(person))
        }
    }

    // MARK: What the provider was asked

    @Test(arguments: ["-1", "x", "1.5", "31536001", "99999999999999999999"])
    func `an invalid max_age is refused`(text: String) async throws {
        try await Site.runAudited { _, visitor, _ in
            let answer = try await visitor.api(.get, "/auth/ios/sign-in?max_age=\(text)")
            #expect(answer.code == "bad_request")
            #expect((answer.json["detail"] as? String)?.contains("max_age") == true)
        }
    }

    @Test(arguments: [("max_age=100", false), ("max_age=2000", true), ("", true), ("max_age=2000&prompt=login", false)])
    func `an ID token whose sign-in is older than was asked for is refused`(query: String, isTaken: Bool) async throws {
        try await Site.runAudited { site, visitor, audit in
            try await visitor.signIn(username: Self.megan)
            try await site.control(#"{"ignore_max_age": true}"#)
            site.clock.advance(1000)
            let back = try await visitor.signIn(
                query: query.contains("prompt") ? query : query + "&prompt=if_necessary", username: Self.megan)
            #expect(back.location?.contains("sign_in_error=invalid_id_token") == !isTaken)
            let last = try #require(try audit.all().last)
            #expect(last["outcome"] == (isTaken ? "ok" : "invalid_id_token"))
            #expect(last["account"] == (try audit.all().first?["account"]))
        }
    }

    // MARK: Who

    @Test func `a portal that is open to everybody neither shows nor ends sessions of others`() async throws {
        // Several people use this machine, and the operator names none of them.
        try await Site.runAudited(configured: { $0.deviceMode = .shared }) { site, visitor, audit in
            let (person, key) = try await other(site, audit)
            try await visitor.signIn(app: "macos", query: "prompt=login", username: Self.megan)
            for path in ["sessions", "health"] {
                let answer = try await visitor.api(.get, "/api/macos/\(path)")
                #expect(answer.status == 403)
                #expect(answer.code == "access_denied")
                #expect(!answer.text.contains(Self.nobodyElse))
            }
            #expect(try await end(key, visitor).code == "access_denied")
            #expect(try await isSignedIn(person))
        }
    }

    @Test(
        arguments: [
            { $0.applications[1].allowed.users = [.object(id: "87d349ed-44d7-43e1-9a83-5f2406dee5bd")] },
            { (configuration: inout CompanionConfiguration) in
                let portal = configuration.applications[1]
                configuration.applications[1].registration = ClientRegistration(
                    clientID: portal.registration.clientID, redirectURI: portal.registration.redirectURI,
                    scopes: portal.registration.scopes,
                    allowedTenants: ["99999999-0000-4000-8000-000000000000"])
            },
        ] as [@Sendable (inout CompanionConfiguration) -> Void])
    func `a user who was taken off the list is no operator any more`(
        change: @Sendable (inout CompanionConfiguration) -> Void
    ) async throws {
        try await Site.runAudited(configured: { $0.applications[1].allowed.users = [.object(id: Self.meganID)] }) {
            site, megan, audit in
            let (person, key) = try await other(site, audit)
            try await megan.signIn(app: "macos", username: Self.megan)
            #expect(try await megan.api(.get, "/api/macos/sessions").status == 200)
            try await site.restart(configured: change)
            for path in ["sessions", "health"] {
                let answer = try await megan.api(.get, "/api/macos/\(path)")
                #expect(answer.code == "interaction_required")
                #expect(!answer.text.contains(Self.nobodyElse))
            }
            #expect(try await end(key, megan).code == "interaction_required")
            let line = try #require(try audit.all().last)
            #expect(line["event"] == "no_longer_admitted")
            #expect(line["application"] == "macos")
            #expect(try await isSignedIn(person))
        }
    }
}
