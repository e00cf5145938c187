import Foundation
import HTTPTypes
import SessionStore
import StoreTesting
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import CompanionSignIn

/// The limits on what people without an account can make the server store.
@Suite struct NewcomerLimitTests {
    @Test func `abandoned sign-ins leave nothing here, and prevent no other sign-in`() async throws {
        let contents = MemoryContents()
        try await Site.run(keeping: contents, configured: { _ in }) { site in
            let member = Visitor(site)
            try await member.signIn()
            func rows() -> [Int] { ["session", "sign_in_attempt", "account", "session_note"].map(contents.count) }
            let before = rows()
            let heavy = FormEncoding.encode([
                ("claims", #"{"a":"\#(String(repeating: "x", count: 1000))"}"#),
                ("login_hint", String(repeating: "h", count: 256)),
                ("return_to", "/ios?" + String(repeating: "r", count: 400)),
            ])
            for number in 0..<50 {
                let path = number % 2 == 0 ? "/auth/ios/sign-in?" + heavy : "/auth/ios/admin-consent"
                #expect(try await Visitor(site).get(path).status == 302)
            }
            #expect(rows() == before)
            try await Visitor(site).signIn()
            #expect(try await member.api(.get, "/api/ios/account").json["account"] is [String: Any])
        }
    }

    /// The bounds of the parameters keep the attempt's cookie below the 4096 bytes that browsers take.
    @Test func `the largest sign-in that the limits allow fits into a cookie`() async throws {
        try await Site.run { site in
            let claims = #"{"a":"\#(String(repeating: "x", count: 1000))"}"#
            let path = "/ios?" + String(repeating: "r", count: 500)
            let scope = (0..<40).map { "api://resource/scope\($0)" }.joined(separator: " ").prefix(512)
            let fields = [("claims", claims), ("return_to", path), ("scope", String(scope))]
            let answer = try await Visitor(site).api(.get, "/auth/ios/sign-in?" + FormEncoding.encode(fields))
            #expect(answer.status == 302)
            let kept = answer.fields[values: .setCookie].first { $0.hasPrefix("companion-\(site.port)-attempt-") }
            #expect(try #require(kept).split(separator: ";")[0].utf8.count < 4096)
        }
    }

    @Test(arguments: [
        ("claims", #"{"a":"\#(String(repeating: "x", count: 1016))"}"#, 302),
        ("claims", #"{"a":"\#(String(repeating: "x", count: 1017))"}"#, 400),
        ("login_hint", String(repeating: "h", count: 256), 302),
        ("login_hint", String(repeating: "h", count: 257), 400),
        ("domain_hint", String(repeating: "h", count: 256), 302),
        ("domain_hint", String(repeating: "h", count: 257), 400),
        ("scope", String(repeating: "s", count: 512), 302), ("scope", String(repeating: "s", count: 513), 400),
    ])
    func `the parameters of a sign-in have a limit`(name: String, value: String, status: Int) async throws {
        try await Site.run { site in
            let path = "/auth/ios/sign-in?" + FormEncoding.encode([(name, value)])
            let answer = try await Visitor(site).api(.get, path)
            #expect(answer.status == status)
            if status == 400 { #expect((answer.json["detail"] as? String)?.contains("“\(name)”") == true) }
        }
    }

    @Test func `the free space is a setting, and the limits of earlier versions are reported as without effect`() throws
    {
        func read(_ environment: [String: String]) throws -> CompanionConfiguration {
            try CompanionConfiguration.read(environment: environment, file: nil, needsApplications: false)
        }
        #expect(try read([:]).freeBytes == 64 << 20)
        #expect(try read([:]).withoutEffect == [])
        let own = try read([
            "COMPANION_LIMITS_PENDING_SIGN_INS": "7", "COMPANION_LIMITS_PENDING_MEGABYTES": "2",
            "COMPANION_LIMITS_FREE_MEGABYTES": "0",
        ])
        #expect(own.freeBytes == 0)
        #expect(own.withoutEffect == ["limits.pending_sign_ins", "limits.pending_megabytes"])
        let findings = ConfigurationFindings(configuration: own, now: Date()).general
        #expect(findings.filter { $0.severity == .advice }.map(\.subject).suffix(2) == own.withoutEffect[...])
        let mistakes = try #require(throws: ConfigurationMistakes.self) {
            try read(["COMPANION_LIMITS_FREE_MEGABYTES": "9223372036854775807"])
        }
        #expect(mistakes.all.map(\.key) == ["limits.free_megabytes"])
    }
}
