import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Answers that come as a cross-site POST, from the provider and from anyone else.
@Suite struct FormPostTests {
    private func post(_ visitor: Visitor, _ fields: String) async throws -> Visitor.Answer {
        try await visitor.send(
            .post, "/auth/callback", headers: [.contentType: "application/x-www-form-urlencoded"], body: fields)
    }

    private func isRefused(_ answer: Visitor.Answer) -> Bool {
        answer.status == 400 && answer.text.contains("state_mismatch")
    }

    /// The fields of the callback that the provider sends the browser to.
    private func answer(_ visitor: Visitor) async throws -> String {
        let location = try #require(try await visitor.walkToCallback().location)
        return String(try #require(location.split(separator: "?", maxSplits: 1).last))
    }

    @Test func `a posted answer signs in when the browser fetches it with its cookie, and again on a reload`()
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            let answer = try await answer(visitor)
            let posted = try await post(Visitor(site), answer)
            let resume = try #require(posted.location)
            #expect(resume.hasPrefix("/auth/callback?resume="))
            #expect(!resume.contains("code") && !resume.contains("state"))
            #expect(isRefused(try await Visitor(site).get(resume)), "another browser")
            #expect(try await visitor.get(resume).location == "/ios")
            #expect(try await post(visitor, answer).location == resume)
            #expect(try await visitor.get(resume).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
        }
    }

    @Test func `an answer to no sign-in, or to one that took too long, is refused where it is posted`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let answer = try await answer(visitor)
            let strange = try await post(visitor, "state=x&code=y")
            #expect(isRefused(strange))
            site.clock.advance(30 * 60 + 1)
            #expect(isRefused(try await post(visitor, answer)))
        }
    }

    @Test func `a posted answer is forgotten after a minute`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let resume = try #require(try await post(visitor, try await answer(visitor)).location)
            site.clock.advance(61)
            #expect(isRefused(try await visitor.get(resume)))
        }
    }
}
