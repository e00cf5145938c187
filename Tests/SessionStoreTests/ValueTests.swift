import Foundation
import StoreTesting
import Testing

@testable import SessionStore

@Suite struct ValueTests {
    @Test func `the cookie value of 32 bytes comes back as the same id`() throws {
        let id = SessionID(randomBytes: { count in (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) } })
        #expect(id.cookieValue.utf8.count == 43)
        #expect(SessionID(cookieValue: id.cookieValue) == id)
    }

    @Test(arguments: [
        ("empty", ""), ("too short", String(repeating: "A", count: 42)),
        ("too long", String(repeating: "A", count: 44)),
        ("padded", String(repeating: "A", count: 43) + "="),
        ("the other alphabet", String(repeating: "A", count: 42) + "+"),
        ("bits beyond the last byte", String(repeating: "A", count: 42) + "B"),
        ("not ASCII", String(repeating: "A", count: 42) + "é"),
        ("a space in it", "A " + String(repeating: "A", count: 41)),
    ])
    func `an invalid cookie value is refused`(_ name: String, _ value: String) {
        #expect(SessionID(cookieValue: value) == nil, "\(name)")
    }

    @Test(arguments: [
        (["User.Read"], "user.read"), (["user.read", "User.Read"], "user.read"), (["b", "A"], "a b"),
        (["openid", "profile", "offline_access", "email", "Mail.Read"], "mail.read"), (["OpenID", "x y"], "x y"),
        ([], ""), (["https://graph.microsoft.com/User.Read"], "https://graph.microsoft.com/user.read"),
        ([" a\tb\r\nc\u{B}d\u{C}e  "], "a b c d e"), (["a\u{1F}b"], "a\u{1F}b"),
        (["É\u{A0}b\u{85}c\u{2003}d e\r\nf"], "b c d e f é"),
    ])
    func `scopes are normalised`(_ scopes: [String], _ text: String) {
        #expect(ScopeSet(scopes).description == text)
        #expect(ScopeSet(text: scopes.joined(separator: " ")) == ScopeSet(scopes))
    }

    @Test func `secrets are not printed`() {
        let id = SessionID(randomBytes: SessionStore.secureRandomBytes)
        let clock = StoreClock()
        var shown = ""
        dump(id, to: &shown)
        dump(NewTokens.sample("topsecret", at: clock), to: &shown)
        dump([NewSignInAttempt.sample(state: "topsecret")], to: &shown)
        dump(NewAccount.sample("topsecret"), to: &shown)
        shown += "\(id) \([NewTokens.sample("topsecret", at: clock)]) \(String(reflecting: id))"
        #expect(!shown.contains("topsecret"))
        #expect(!shown.contains(id.cookieValue))
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300])
    func `times beyond all measure do not trap`(_ seconds: Double) {
        let time = Date(timeIntervalSince1970: seconds).milliseconds
        #expect(time == 0 || time == .min || time == .max)
    }
}
