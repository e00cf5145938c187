import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore

/// A provider that has no page for signing out. Its session goes on, which is said before and after, and on a shared device the
/// next person does not get in with it. There are such providers: kyma-project/console pull 2149 (Google, Auth0),
/// DuendeArchive/IdentityServer4 issue 2996, DuendeArchive/identity-model-oidc-client-js issue 661.
@Suite struct KeptSessionTests {
    private static func provider(ends: Bool = false) -> StandInProvider {
        StandInProvider(
            .init(
                metadata: ends ? ["end_session_endpoint": "{origin}/logout"] : [:],
                claims: [
                    "preferred_username": "diana@id.example",
                    "auth_time": .integer(Int(Date().timeIntervalSince1970)),
                ]))
    }

    private func signIn(_ visitor: Visitor) async throws -> String {
        let location = try #require(try await visitor.get("/auth/provider/sign-in").location)
        return try #require(try await visitor.follow(location, username: "diana").location)
    }

    @Test(arguments: [DeviceMode.private, .shared], [false, true])
    func `page and log say before and after a sign-out that the provider's session goes on`(
        mode: DeviceMode, ends: Bool
    ) async throws {
        let provider = Self.provider(ends: ends)
        try await provider.run(all: { $0.deviceMode = mode }) { site in
            func lines(_ text: String) -> Int { site.log.all.count { $0.hasPrefix("notice") && $0.contains(text) } }
            let visitor = Visitor(site)
            #expect(try await signIn(visitor) == "/provider")
            let account = try await visitor.api(.get, "/api/provider/account").json["account"] as? [String: Any]
            #expect(account?["provider_keeps_session"] as? Bool == (ends ? nil : true))
            #expect(lines("no end_session_endpoint") == (ends ? 0 : 1))
            #expect(lines("session at the provider goes on") == 0)

            let out = try await visitor.api(.post, "/auth/provider/sign-out", body: #"{"browser": true}"#)
            #expect(out.status == 200)
            #expect((out.json["redirect"] as? String)?.hasPrefix(provider.origin + "/logout?") == (ends ? true : nil))
            #expect(out.json["provider_keeps_session"] as? Bool == (ends ? nil : true))
            #expect(lines("session at the provider goes on") == (ends ? 0 : 1))
            #expect(try await visitor.api(.get, "/api/provider/account").json["account"] is NSNull)
        }
    }

    @Test func `signing out here alone says that the provider's session cannot be ended`() async throws {
        try await Self.provider().run { site in
            let visitor = Visitor(site)
            #expect(try await signIn(visitor) == "/provider")
            let out = try await visitor.api(.post, "/auth/provider/sign-out", body: #"{"browser": false}"#)
            #expect(out.json["redirect"] is NSNull)
            #expect(out.json["provider_keeps_session"] as? Bool == true)
        }
    }

    @Test(arguments: [(DeviceMode.shared, false, true), (.shared, true, false), (.private, false, false)])
    func `on a shared device, each sign-in at a provider that keeps its session asks for the password`(
        mode: DeviceMode, ends: Bool, asks: Bool
    ) async throws {
        try await Self.provider(ends: ends).run(all: { $0.deviceMode = mode }) { site in
            for query in ["", "?prompt=select_account", "?prompt=none", "?prompt=if_necessary", "?max_age=5000"] {
                let location = try #require(try await Visitor(site).get("/auth/provider/sign-in" + query).location)
                let isAsked = location.contains("prompt=login") && location.hasSuffix("max_age=10")
                #expect(isAsked == asks, "\(location)")
            }
        }
    }

    @Test func `on a shared device, only a new auth_time gets in at a provider that keeps its session`() async throws {
        let provider = Self.provider()
        try await provider.run(all: { $0.deviceMode = .shared }) { (site) async throws in
            let now = Int(site.clock.now().timeIntervalSince1970)
            func detail(_ time: Int?) async throws -> String? {
                provider.change { $0.claims["auth_time"] = time.map(JSONValue.integer) }
                let visitor = Visitor(site)
                let end = try await signIn(visitor)
                guard end != "/provider" else { return nil }
                #expect(end.hasPrefix("/provider?sign_in_error=invalid_id_token"), "\(end)")
                let failure = try await visitor.api(.get, "/api/provider/sign-in-failure").json["failure"]
                return (failure as? [String: Any])?["detail"] as? String ?? "none"
            }
            let missing = "The identity provider does not report when you signed in"
            let old = "The identity provider was asked for a fresh sign-in but used an older one. Tell the operator."
            #expect(try await detail(nil)?.hasPrefix(missing) == true)
            #expect(site.log.all.contains { $0.hasPrefix("warning request") && $0.contains("has no auth_time") })
            #expect(try await detail(now - 400) == old)
            #expect(try await detail(now - 10) == nil)
            #expect(try await detail(now - 10) == old, "somebody else's")
            #expect(try await detail(now) == nil)
        }
    }

    @Test func `on a private device, a provider that reports no auth_time is believed`() async throws {
        let provider = Self.provider()
        provider.change { $0.claims["auth_time"] = nil }
        try await provider.run { (site) async throws in
            #expect(try await signIn(Visitor(site)) == "/provider")
        }
    }

    @Test(arguments: [(DeviceMode.private, false), (.shared, false), (.private, true), (.shared, true)])
    func `check says beforehand that the provider's session goes on`(mode: DeviceMode, ends: Bool) async throws {
        try await Self.provider(ends: ends).run(all: { $0.deviceMode = mode }) { site in
            let report = await InstallationCheck(client: site.client, now: site.clock.now).run(site.configuration)
            let found = report.findings.filter { $0.subject == "sign_out" }
            #expect(found.map { "\($0.severity) \($0.application ?? "-")" } == (ends ? [] : ["advice provider"]))
            let what = found.first?.what.english ?? ""
            #expect(what.contains("has no end_session_endpoint") == !ends)
            #expect(what.contains("without auth_time is refused") == (!ends && mode == .shared))
        }
    }
}
