import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore

/// The history and the timeline show the true outcome of a sign-in.
@Suite struct SignInReportTests {
    private func steps(_ visitor: Visitor) async throws -> [[String: Any]] {
        try await visitor.api(.get, "/api/ios/events").json["events"] as? [[String: Any]] ?? []
    }

    private func told(_ steps: [[String: Any]]) -> [String] {
        steps.map { "\($0["step"] as? String ?? "-") \($0["outcome"] as? String ?? "-")" }
    }

    private func outcomes(_ visitor: Visitor) async throws -> [String?] {
        let attempts = try await visitor.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
        return try #require(attempts).map { $0["outcome"] as? String }
    }

    @Test func `a sign-in that could not be stored is not reported as a success`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "macos")
            let location = try #require(try await visitor.walkToCallback().location)
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try await site.hold()
            async let answer = visitor.get(location)
            // The attempt is consumed, the code is on its way: now the database is taken away.
            try await site.untilHeld()
            try lock.take()
            try await site.letGo()
            #expect(try await answer.status == 503)
            try lock.release()
            #expect(try await site.count("token_code") == 2, "the provider gave tokens")
            #expect(told(try await steps(visitor)) == ["authorize ok", "callback ok", "token storage_unavailable"])
            #expect(try await outcomes(visitor).first == "storage_unavailable")
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
        }
    }

    @Test(
        arguments: [
            (
                "a provider that is out of order", #"{"token_error":{"status":503,"body":"<h1>"}}"#,
                "provider_unavailable"
            ),
            (
                "a wrong secret", #"{"token_error":{"status":401,"body":{"error":"invalid_client"}}}"#,
                "provider_rejected_client"
            ),
            ("an ID token that is not for us", #"{"bad_id_token":"audience"}"#, "invalid_id_token"),
        ])
    func `a failing token endpoint is the step that failed, at its own address`(
        row: String, control: String, code: String
    ) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(control)
            #expect(try await visitor.signIn().location?.hasPrefix("/ios?sign_in_error=\(code)&") == true, "\(row)")
            let steps = try await steps(visitor)
            #expect(told(steps) == ["authorize ok", "callback ok", "token \(code)"], "\(row)")
            let endpoints = steps.map { $0["endpoint"] as? String }
            let tenant = "http://localhost:\(site.tenantPort)/common/oauth2/v2.0/"
            #expect(endpoints == [tenant + "authorize", site.origin + "/auth/callback", tenant + "token"], "\(row)")
            #expect(try await outcomes(visitor) == [code], "\(row)")
        }
    }

    @Test func `an answer that is refused fails at the callback, and no token is asked for`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(consent: "cancel")
            #expect(told(try await steps(visitor)) == ["authorize ok", "callback cancelled"])
            #expect(try await outcomes(visitor) == ["cancelled"])
        }
    }

    @Test func `a failed callback that is loaded again gives the same reason`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let location = try #require(try await visitor.walkToCallback(consent: "cancel").location)
            let first = try #require(try await visitor.get(location).location)
            #expect(first.hasPrefix("/ios?sign_in_error=cancelled&"))
            #expect(try await visitor.get(location).location == first)
            // An attempt that failed before a restart is over, and not under way.
            try await site.restart()
            #expect(
                try await visitor.get(location).location?.hasPrefix("/ios?sign_in_error=state_mismatch&") == true)
        }
    }
}
