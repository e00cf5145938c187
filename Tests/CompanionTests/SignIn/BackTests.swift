import Foundation
import HTTPTypes
import Testing

@testable import Companion

/// A person who goes back to the provider's page, or to the oldest of many tabs.
@Suite struct BackTests {
    private func isRefused(_ answer: Visitor.Answer) -> Bool {
        answer.status == 400 && answer.text.contains("state_mismatch")
    }

    /// The callback with another code, as the provider's single sign-on sends it.
    private func back(_ visitor: Visitor, to address: String) async throws -> String {
        let answer = try await visitor.walk(from: try await visitor.get(address))
        return try #require(answer.location)
    }

    @Test func `Back to the provider after the sign-in leads to the page, and no second code is redeemed`() async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            let address = try #require(try await visitor.get("/auth/ios/sign-in").location)
            let first = try await back(visitor, to: address)
            #expect(try await visitor.get(first).location == "/ios")
            let second = try await back(visitor, to: address)
            #expect(second != first && second.contains("code="))
            let answer = try await visitor.get(second)
            #expect(answer.status == 303 && answer.location == "/ios")
            #expect(answer.fields[values: .setCookie].isEmpty)
            let shown = try await visitor.api(.get, "/api/ios/account")
            #expect((shown.json["account"] as? [String: Any])?["username"] as? String == "adele@contoso.example")
            #expect(try await site.count("token_code") == 1)
            // A browser that has only the begun sign-in is another.
            let other = visitor.copy()
            other.sessionCookie = nil
            #expect(isRefused(try await other.get(second)))
            // Nobody is signed in any longer.
            _ = try await visitor.api(.post, "/auth/ios/sign-out", body: "{}")
            #expect(isRefused(try await visitor.get(second)))
            #expect(try await site.count("token_code") == 1)
        }
    }

    @Test func `the first of twelve tabs leads a person who is signed in to the page, and nobody else`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            var locations: [String] = []
            for _ in 0..<12 {
                locations.append(try #require(try await visitor.walkToCallback().location))
                site.clock.advance(1)
            }
            #expect(isRefused(try await visitor.get(locations[0])))
            #expect(try await visitor.get(locations[11]).location == "/ios")
            let answer = try await visitor.get(locations[0])
            #expect(answer.status == 303 && answer.location == "/ios")
            #expect(try await site.count("token_code") == 1)
            #expect(isRefused(try await visitor.get("/auth/callback?state=x&code=y")), "a state that is not ours")
            #expect(isRefused(try await Visitor(site).get(locations[0])), "another browser")
        }
    }
}
