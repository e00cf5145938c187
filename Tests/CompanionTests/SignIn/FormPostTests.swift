import Foundation
import HTTPServer
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Answers that come as a cross-site POST, from the provider and from anyone else.
@Suite struct FormPostTests {
    private static func callbacks(at clock: TestClock) -> FormPostCallbacks {
        FormPostCallbacks(now: clock.now, randomBytes: { [UInt8](repeating: 7, count: $0) })
    }

    private static func callback(_ state: String, code: String = "c") throws -> Callback {
        try Callback(query: "state=\(state)&code=\(code)")
    }

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

    @Test func `a posted answer signs in when the browser fetches it with its cookie, and again when that is reloaded`()
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

    @Test func `one answer is kept for a sign-in, the last that came`() throws {
        let kept = Self.callbacks(at: TestClock())
        let first = try Self.keep("s", code: "1", in: kept)
        let second = try Self.keep("s", code: "2", in: kept)
        #expect(first == second)
        #expect(try kept.find(#require(second))?.code == "2")
        #expect(try Self.keep("t", in: kept) != first)
        #expect(try #require(first).contains("s=") == false)
    }

    @Test func `of one address ten answers are kept, and the oldest make room`() throws {
        let kept = Self.callbacks(at: TestClock())
        let other = try #require(try Self.keep("other", from: 2, in: kept))
        let handles = try (0..<11).map { try #require(try Self.keep("s\($0)", from: 1, in: kept)) }
        #expect(handles.map { kept.find($0) != nil } == [false] + Array(repeating: true, count: 10))
        // One that comes again takes no other's place.
        #expect(try Self.keep("s10", code: "again", from: 1, in: kept) == handles[10])
        #expect(kept.find(handles[1]) != nil)
        #expect(kept.find(other) != nil)
    }

    @Test func `where there is no room, the newcomer is refused and what is kept stays`() throws {
        let clock = TestClock()
        let kept = Self.callbacks(at: clock)
        let first = try #require(try Self.keep("first", in: kept))
        for number in 1..<1_000 { #expect(try Self.keep("s\(number)", from: number, in: kept) != nil) }
        #expect(try Self.keep("late", from: 1_000, in: kept) == nil)
        #expect(try Self.keep("first", code: "new", in: kept) == first)
        #expect(kept.find(first)?.code == "new")
        clock.advance(60)
        #expect(try Self.keep("late", from: 1_000, in: kept) != nil)
    }

    @Test func `what is kept is bounded in bytes too`() throws {
        let kept = Self.callbacks(at: TestClock())
        let count = try (0..<1_000).count { try Self.keep("s\($0)", bytes: 16 << 10, from: $0, in: kept) != nil }
        #expect((50...64).contains(count), "two megabytes, each counted twice")
    }

    private static func keep(
        _ state: String, code: String = "c", bytes: Int = 10, from number: Int = 0, in kept: FormPostCallbacks
    ) throws -> String? {
        let address = try #require(PeerAddress(forwarded: "10.0.\(number / 256).\(number % 256)"))
        return kept.keep(try callback(state, code: code), bytes: bytes, from: address.network)
    }
}
