import Foundation
import HTTPTypes
import HTTPWire
import SessionStore
import Testing
import WebFormats

@testable import Companion

/// By what browsers are known again.
@Suite struct BrowserMarkTests {
    private static func lines(_ answer: Visitor.Answer) -> [String] {
        answer.fields[values: .setCookie].filter { $0.contains("-mark=") }
    }

    private static func value(_ line: String) -> String {
        String(line.drop { $0 != "=" }.dropFirst().prefix { $0 != ";" })
    }

    private static func bytes(_ visitor: Visitor) throws -> [UInt8] {
        try #require(visitor.mark.flatMap { Base64URL.decode($0.utf8) })
    }

    @Test func `a browser gets its mark with its first sign-in, signed when that succeeds, and keeps it`() async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            #expect(try await Self.lines(visitor.get("/ios")).isEmpty)
            let begun = try await visitor.get("/auth/ios/sign-in")
            let line = try #require(Self.lines(begun).first)
            #expect(Self.lines(begun).count == 1)
            #expect(line.hasSuffix("; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax"), "\(line)")
            let fresh = try Self.bytes(visitor)
            #expect(fresh.count == 16)
            for path in ["/auth/macos/sign-in", "/auth/ios/admin-consent"] {
                #expect(try await Self.lines(visitor.get(path)).isEmpty, "it has one")
            }
            try await visitor.signIn()
            let signed = try Self.bytes(visitor)
            #expect(signed.count == 32 && Array(signed.prefix(16)) == fresh)
            let received = visitor.everything.count
            try await visitor.signIn(app: "macos")
            #expect(visitor.everything.dropFirst(received).allSatisfy { Self.lines($0).isEmpty })
            let other = Visitor(site)
            _ = try await other.get("/auth/ios/sign-in")
            #expect(try Self.bytes(other) != fresh)
        }
    }

    @Test(arguments: ["", "x", "AAAA", String(repeating: "A", count: 64), "AAAAAAAAAAAAAAAAAAAAA$"])
    func `a value that is not a mark is replaced`(value: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            visitor.take("\(visitor.cookieName)-mark=\(value)")
            let begun = try await visitor.get("/auth/ios/sign-in")
            #expect(Self.lines(begun).count == 1)
            #expect(try Self.bytes(visitor).count == 16)
        }
    }

    @Test func `neither an administrator's consent nor a failed sign-in signs the mark`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let consent = try #require(try await visitor.get("/auth/ios/admin-consent").location)
            let items = try #require(URLComponents(string: consent)?.queryItems)
            let state = try #require(items.first { $0.name == "state" }?.value)
            let query = "admin_consent=True&tenant=\(UUID().uuidString)&state=\(state)"
            let granted = try await visitor.get("/auth/callback?\(query)")
            #expect(granted.location?.contains("admin_consent=granted") == true)
            let again = try await visitor.get("/auth/callback?\(query)")
            #expect(again.status == 303)
            try await site.control(#"{"bad_id_token": "nonce"}"#)
            let failed = try await visitor.get(try #require(try await visitor.walkToCallback().location))
            #expect(failed.location?.contains("sign_in_error") == true)
            #expect(try Self.bytes(visitor).count == 16)
        }
    }

    @Test func `sign-out leaves the mark, by which the browser is known at the next sign-in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let mark = visitor.mark
            #expect(try await Self.lines(visitor.api(.post, "/auth/ios/sign-out", body: "{}")).isEmpty)
            let received = visitor.everything.count
            try await visitor.signIn()
            #expect(visitor.everything.dropFirst(received).allSatisfy { Self.lines($0).isEmpty })
            #expect(visitor.mark == mark)
        }
    }

    @Test func `on a shared device the mark ends with the browser, and at sign-out`() async throws {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            let begun = try await visitor.get("/auth/ios/sign-in")
            #expect(Self.lines(begun).map { $0.contains("Max-Age") } == [false])
            try await visitor.signIn()
            #expect(try Self.bytes(visitor).count == 32)
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: "{}")
            #expect(Self.lines(out).map { $0.contains("=; Path=/; Max-Age=0") } == [true])
            _ = try await visitor.get("/auth/ios/sign-in")
            let idle = try await visitor.api(.post, "/auth/ios/sign-out", body: "{}")
            #expect(Self.lines(idle).map { $0.contains("=; Path=/; Max-Age=0") } == [true], "nobody was signed in")
        }
    }

    @Test func `an unsigned mark is signed at the next sign-in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let forged = Base64URL.encode([UInt8](repeating: 7, count: 32))
            visitor.take("\(visitor.cookieName)-mark=\(forged)")
            _ = try await visitor.get("/auth/ios/sign-in")
            #expect(visitor.mark == forged)
            try await visitor.signIn()
            let bytes = try Self.bytes(visitor)
            #expect(Array(bytes.prefix(16)) == [UInt8](repeating: 7, count: 16) && bytes.suffix(16) != bytes.prefix(16))
        }
    }
}
