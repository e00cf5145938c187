import Foundation
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// `GET /api/apps` tells those who operate a portal how each registration is, and nobody else.
@Suite struct RegistrationListTests {
    private static let ofRoles: Set<String> = ["role", "checked_at"]
    private static let ofRegistrations: Set<String> = [
        "state", "credential", "credential_expires", "days_left", "last_failure",
    ]

    /// A portal with named operators and readers.
    private static func named(_ configuration: inout CompanionConfiguration) {
        configuration.applications[1].page = .portal
        configuration.applications[1].operators = AccountList(roles: ["Operator"])
        configuration.applications[1].readers = AccountList(roles: ["Reader"])
        configuration.applications[1].prompt = nil
    }

    /// A portal whose operators are all who sign in to it, because it is on their own machine.
    private static func own(_ configuration: inout CompanionConfiguration) {
        configuration.applications[1].page = .portal
    }

    /// A portal that is open to everybody has no operators.
    private static func open(_ configuration: inout CompanionConfiguration) {
        configuration.applications[1].page = .portal
        configuration.deviceMode = .shared
    }

    private func visitor(
        at site: Site, as roles: [String] = [], to app: String = "macos", username: String = "adele@contoso.example"
    ) async throws -> Visitor {
        let list = roles.map { "\"\($0)\"" }.joined(separator: ", ")
        try await site.control(#"{"id_token_claims": {"roles": [\#(list)]}}"#)
        let visitor = Visitor(site)
        try await visitor.signIn(app: app, username: username)
        return visitor
    }

    private func apps(_ visitor: Visitor) async throws -> [String: [String: Any]] {
        let listed = try await visitor.api(.get, "/api/apps").json["apps"] as? [[String: Any]] ?? []
        return Dictionary(listed.compactMap { app in (app["id"] as? String).map { ($0, app) } }) { first, _ in first }
    }

    private func failure(_ visitor: Visitor, of app: String) async throws -> [String: Any]? {
        let entry = try #require(try await apps(visitor)[app])
        #expect(entry["last_failure"] != nil, "the member is there, if only as null")
        return entry["last_failure"] as? [String: Any]
    }

    // MARK: Who

    @Test(
        arguments: [
            ("nobody", named, [], nil, nil), ("signed in elsewhere", named, ["Operator"], "ios", nil),
            ("at the portal without a role", named, [], "macos", nil),
            ("at a portal that is open to everybody", open, [], "macos", nil),
            ("a reader", named, ["Reader"], "macos", "reader"),
            ("an operator", named, ["Operator"], "macos", "operator"),
            ("the person at whose machine the portal is", own, [], "macos", "operator"),
        ] as [(String, @Sendable (inout CompanionConfiguration) -> Void, [String], String?, String?)])
    func `each sees what the role allows`(
        row: String, configure: @Sendable (inout CompanionConfiguration) -> Void, roles: [String], app: String?,
        role: String?
    ) async throws {
        try await Site.run(configured: configure) { site in
            let visitor = if let app { try await visitor(at: site, as: roles, to: app) } else { Visitor(site) }
            let answer = try await visitor.api(.get, "/api/apps")
            #expect(answer.json["role"] as? String == role, "\(row)")
            #expect(Set(answer.json.keys).intersection(Self.ofRoles) == (role == nil ? [] : Self.ofRoles), "\(row)")
            let entries = try await apps(visitor)
            #expect(entries.count == 6)
            for entry in entries.values {
                let told = Set(entry.keys).intersection(Self.ofRegistrations)
                #expect(told == (role == nil ? [] : Self.ofRegistrations), "\(row)")
            }
            // The rest is the same for all.
            #expect(entries["ios"]?["signed_in_as"] as? String == (app == "ios" ? "adele@contoso.example" : nil))
        }
    }

    @Test func `another account of the session may have the role`() async throws {
        try await Site.run(configured: Self.named) { site in
            let visitor = try await visitor(at: site, as: ["Reader"])
            try await site.control(#"{"id_token_claims": {"roles": []}}"#)
            try await visitor.signIn(app: "macos", query: "prompt=login", username: "megan@contoso.example")
            let answer = try await visitor.api(.get, "/api/apps")
            #expect(answer.json["role"] as? String == "reader", "\(answer.text)")
        }
    }

    // MARK: State

    @Test func `each registration has what its last round found, and the rest is not known`() async throws {
        let end = Date().addingTimeInterval(40.5 * 86_400)
        try await Site.run(configured: { configuration in
            Self.own(&configuration)
            if let nowhere = try? Authority("https://localhost:1/tenant", kind: .oidc) {
                configuration.applications[2].authority = nowhere
            }
            configuration.applications[0].clientSecretExpires = end
        }) { site in
            let visitor = try await visitor(at: site)
            let before = try await visitor.api(.get, "/api/apps").json
            #expect(before["checked_at"] is NSNull)
            #expect(try await apps(visitor).values.allSatisfy { $0["state"] is NSNull })
            let unchecked = try #require(try await apps(visitor)["ios"])
            #expect(unchecked["days_left"] as? Int == 40, "the configuration says so")
            #expect(unchecked["credential"] as? String == "secret")
            #expect(unchecked["credential_expires"] as? String == end.formatted(.iso8601))

            let round = try await visitor.api(.get, "/api/macos/health?applications=ios,contoso,b2c").json
            let after = try await visitor.api(.get, "/api/apps").json
            #expect(after["checked_at"] as? String == round["checked_at"] as? String)
            let listed = try await apps(visitor)
            let reports = try #require(round["apps"] as? [[String: Any]])
            for app in ["ios", "contoso"] {
                let report = try #require(reports.first { $0["id"] as? String == app })
                #expect(listed[app]?["state"] as? String == report["state"] as? String, "\(app)")
                for member in ["credential", "credential_expires", "days_left"] {
                    #expect(listed[app]?[member] as? NSObject == report[member] as? NSObject, "\(app) \(member)")
                }
            }
            #expect(listed["contoso"]?["state"] as? String == "mistake")
            let unknown = try #require(listed["macos"])
            #expect(["state", "credential_expires", "days_left"].allSatisfy { unknown[$0] is NSNull }, "\(unknown)")
            // Its three user flows are one registration.
            #expect(reports.filter { $0["id"] as? String == "b2c" }.count == 3)
            #expect(listed["b2c"]?["state"] is String)
        }
    }

    @Test(
        arguments: [
            (.fixed(.publicClient), "none"), (.fixed(.secret("s3cret")), "secret"),
            (.fixed(.assertion("a.b.c")), "federated"), (.federatedTokenFile("/token"), "federated"),
            (.secretFile("/secret", method: nil), "secret"),
            (.certificateFiles(certificate: "/certificate", privateKey: "/key"), "certificate"),
        ] as [(ClientCredential, String)])
    func `a credential has a kind, although its file cannot be read`(credential: ClientCredential, kind: String) {
        #expect(credential.kind.rawValue == kind)
    }

    // MARK: Failures

    @Test func `an operator learns of another person's failure, and not whose it was, until a sign-in succeeds`()
        async throws
    {
        try await Site.run(configured: Self.named) { site in
            let reader = try await visitor(at: site, as: ["Reader"])
            let without = try await visitor(at: site)
            let other = Visitor(site)
            try await site.control(#"{"token_platform_error": 7000222}"#)
            try await other.signIn(username: "megan@contoso.example")

            let told = try #require(try await failure(reader, of: "ios"))
            #expect(told["code"] as? String == "provider_rejected_client")
            #expect(told["number"] as? String == "AADSTS7000222")
            #expect(Set(told.keys) == ["time", "code", "number"])
            let attempts = try await other.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]]
            let attempt = try #require(attempts?.first)
            let problem = try #require(attempt["problem"] as? [String: Any])
            #expect(told["time"] as? String == attempt["ended"] as? String)
            let text = try await reader.api(.get, "/api/apps").text
            #expect(!text.contains("megan"))
            #expect(!text.contains(try #require(problem["correlation_id"] as? String)))
            #expect(try await failure(reader, of: "macos") == nil, "another registration")
            #expect(try await !without.api(.get, "/api/apps").text.contains("7000222"))
            #expect(try await !other.api(.get, "/api/apps").text.contains("7000222"))

            try await other.signIn(username: "megan@contoso.example")
            #expect(try await failure(reader, of: "ios") == nil)
        }
    }

    @Test func `a person's own wish and a wrong request are no failures, and the newest failure is shown`()
        async throws
    {
        try await Site.run(configured: Self.own) { site in
            let visitor = try await visitor(at: site)
            let other = Visitor(site)
            try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
            try await other.signIn(consent: "cancel")
            #expect(try await failure(visitor, of: "ios") == nil, "the person has cancelled")
            _ = try await other.get("/auth/ios/sign-in?tenant=elsewhere%2F")
            #expect(try await failure(visitor, of: "ios") == nil, "the request was wrong")

            try await site.control(#"{"token_platform_error": 7000215}"#)
            try await other.signIn()
            #expect(try await failure(visitor, of: "ios")?["number"] as? String == "AADSTS7000215")
            try await site.control(#"{"bad_id_token": "nonce"}"#)
            try await other.signIn()
            let newest = try await failure(visitor, of: "ios")
            #expect(newest?["code"] as? String == "nonce_mismatch" && newest?["number"] is NSNull)
            try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
            try await other.signIn(query: "prompt=select_account", consent: "cancel")
            #expect(try await failure(visitor, of: "ios")?["code"] as? String == "nonce_mismatch")

            await site.stopTenant()
            _ = try await other.get("/auth/external/sign-in")
            #expect(try await failure(visitor, of: "external")?["code"] as? String == "provider_unavailable")
        }
    }
}
