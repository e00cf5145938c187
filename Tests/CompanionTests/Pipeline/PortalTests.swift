import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn

/// The portal as people who test app registrations see it, and as their operator does.
@Suite struct PortalTests {
    private static let adele = "adele@contoso.example"

    private static func run(
        configured configure: (inout CompanionConfiguration) -> Void = { _ in },
        _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[1].page = .portal
            configure(&configuration)
        }) { site in
            try await test(site, Visitor(site))
        }
    }

    private func attempts(_ visitor: Visitor) async throws -> [[String: Any]] {
        try await visitor.api(.get, "/api/attempts").json["attempts"] as? [[String: Any]] ?? []
    }

    // MARK: Attempts

    @Test func `each sign-in is listed with what it asked for and its outcome, the newest first`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn(query: "login_hint=\(Self.adele)&domain_hint=contoso.example&scope=mail.read")
            try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
            try await visitor.signIn(app: "macos", query: "prompt=select_account", consent: "cancel")

            let told = try await attempts(visitor)
            #expect(told.map { $0["app"] as? String } == ["macos", "ios"])
            let failed = try #require(told.first)
            #expect(failed["outcome"] as? String == "cancelled")
            let problem = try #require(failed["problem"] as? [String: Any])
            #expect(problem["code"] as? String == "cancelled")
            #expect((problem["explanation"] as? [String: Any])?["number"] as? String == "AADSTS65004")

            let good = try #require(told.last)
            #expect(good["outcome"] as? String == "ok")
            #expect(good["ended"] is String)
            let settings = try #require(good["settings"] as? [String: Any])
            #expect(settings["login_hint"] as? Bool == true)
            #expect(settings["domain_hint"] as? String == "contoso.example")
            #expect(settings["scopes"] as? [String] == ["user.read", "mail.read"])
            let steps = try #require(good["steps"] as? [[String: Any]])
            #expect(steps.map { $0["step"] as? String } == ["authorize", "callback", "token"])
            let tenant = "http://localhost:\(site.tenantPort)/common/oauth2/v2.0/"
            #expect(
                steps.map { $0["endpoint"] as? String } == [
                    tenant + "authorize", site.origin + "/auth/callback", tenant + "token",
                ])
        }
    }

    @Test func `an attempt does not name the person, and another browser cannot see it`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn(query: "login_hint=\(Self.adele)")
            let text = try await visitor.api(.get, "/api/attempts").text
            #expect(!text.contains("adele"))
            #expect(!text.contains("code=") && !text.contains("state="))
            #expect(try await attempts(Visitor(site)).isEmpty)
        }
    }

    @Test func `an attempt names its account by the session's own id for as long as the session has it`() async throws {
        try await Self.run(configured: { $0.applications[2].allowed.users = [.username("megan@contoso.example")] }) {
            _, visitor in
            try await visitor.signIn(app: "ios")
            try await visitor.signIn(app: "macos")
            try await visitor.signIn(app: "contoso")
            func accounts() async throws -> [String: String] {
                let named = try await attempts(visitor).compactMap { attempt in
                    (attempt["account"] as? String).flatMap { id in (attempt["app"] as? String).map { ($0, id) } }
                }
                return Dictionary(named) { first, _ in first }
            }
            let listed = try await visitor.api(.get, "/api/ios/accounts").json["accounts"] as? [[String: Any]]
            let id = try #require(listed?.first?["id"] as? String)
            // Nobody was signed in to the application that refused the account.
            #expect(try await accounts() == ["ios": id, "macos": id])
            _ = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(try await attempts(visitor).count == 3)
            #expect(try await accounts() == ["macos": id])
        }
    }

    @Test func `an attempt that begins before a restart and fails after it is explained all the same`() async throws {
        try await Self.run { site, visitor in
            try await site.control(#"{"bad_id_token": "expired"}"#)
            let back = try await visitor.walkToCallback()
            try await site.restart()
            _ = try await visitor.get(try #require(back.location))
            #expect(try await attempts(visitor).map { $0["outcome"] as? String } == ["invalid_id_token"])
        }
    }

    @Test func `a sign-in that could not even begin is among the attempts`() async throws {
        try await Self.run { site, visitor in
            try await visitor.signIn()
            await site.stopTenant()
            _ = try await visitor.get("/auth/external/sign-in")
            #expect(try await attempts(visitor).map { $0["outcome"] as? String } == ["provider_unavailable", "ok"])
        }
    }

    // MARK: Tokens

    @Test(arguments: [TokenDisplay.masked, .full])
    func `tokens are decoded, and shown whole only where the operator allows it`(display: TokenDisplay) async throws {
        try await Self.run(configured: { $0.tokenDisplay = display }) { site, visitor in
            try await visitor.signIn()
            let answer = try await visitor.api(.get, "/api/ios/tokens")
            let access = try #require(answer.json["access_token"] as? [String: Any])
            #expect((access["token"] as? String != nil) == (display == .full))
            #expect((access["header"] as? [String: Any])?["alg"] as? String == "RS256")
            #expect((access["payload"] as? [String: Any])?["scp"] as? String == "openid profile User.Read")
            let idToken = try #require(answer.json["id_token"] as? [String: Any])
            let claims = try #require(idToken["payload"] as? [String: Any])
            #expect(claims["preferred_username"] as? String == Self.adele)
            #expect(claims["nonce"] as? String == "…")
            #expect((claims["sid"] as? String == "…") == (display == .masked))
            // The account's claims follow the same rule.
            let account = try await visitor.api(.get, "/api/ios/claims").json as NSDictionary
            #expect(account == claims.filter { $0.key != "nonce" } as NSDictionary)
            #expect(answer.json["has_refresh_token"] as? Bool == true)
            let secrets = Secrets(site.traffic)
            #expect(answer.text.contains(secrets.latest(.accessToken)) == (display == .full))
            secrets.expectNone(in: answer.text, "the decoded tokens", but: display == .full ? [.accessToken] : [])
        }
    }

    @Test func `hidden tokens are not decoded`() async throws {
        try await Self.run(configured: { $0.tokenDisplay = .hidden }) { _, visitor in
            try await visitor.signIn()
            #expect(try await visitor.api(.get, "/api/ios/tokens").code == "access_denied")
        }
    }

    @Test func `the API's answer says how long the token and the API took`() async throws {
        try await Self.run { _, visitor in
            try await visitor.signIn()
            let timing = try await visitor.api(.get, "/api/ios/me").fields[.serverTiming]
            #expect(try #require(timing).wholeMatch(of: /token;dur=[0-9.]+, api;dur=[0-9.]+/) != nil)
        }
    }

    // MARK: Who may

    @Test func `only the accounts that the operator names may sign in`() async throws {
        try await Self.run(configured: { configuration in
            // Contoso's administrators alone give these names.
            configuration.applications[1].authority = configuration.applications[2].authority
            configuration.applications[1].allowed.users = [.username("MEGAN@contoso.example")]
        }) { _, visitor in
            let refused = try await visitor.signIn(app: "macos")
            #expect(try #require(refused.location).hasPrefix("/macos?sign_in_error=access_denied"))
            #expect(try await visitor.api(.get, "/api/macos/account").json["account"] is NSNull)
            #expect(try await visitor.signIn(app: "macos", username: "megan@contoso.example").location == "/macos")
            // The other applications are not the portal's affair.
            #expect(try await visitor.signIn(app: "ios").location == "/ios")
        }
    }

    @Test(
        arguments: [
            ("https://companion.example", .private, [], [], false),
            ("https://companion.example", .private, ["someone"], [], true),
            ("https://companion.example", .shared, [], ["tenant"], true),
            ("http://localhost:8080", .private, [], [], true), ("http://localhost:8080", .shared, [], [], false),
        ] as [(String, DeviceMode, [String], [String], Bool)])
    func `a portal that is open to the world does not show the sessions of others`(
        url: String, mode: DeviceMode, users: [String], tenants: [String], admits: Bool
    ) throws {
        let publicURL = try PublicURL(url)
        var application = Application(
            id: "portal", page: .portal, title: "",
            authority: try Authority("https://login.microsoftonline.com/common"),
            registration: ClientRegistration(
                clientID: "a", redirectURI: publicURL.redirectURI, scopes: [],
                allowedTenants: tenants), credential: .fixed(.publicClient), api: nil)
        application.allowed.users = users.map(AllowedUser.subject)
        #expect(application.admitsOperators(at: publicURL, mode: mode) == admits)
        application.page = .ios
        #expect(!application.admitsOperators(at: publicURL, mode: mode))
    }

    @Test func `anyone who is signed in to the portal can list and revoke sessions`() async throws {
        try await Self.run { site, visitor in
            let other = Visitor(site)
            try await other.signIn(username: "megan@contoso.example")
            try await visitor.signIn(app: "ios")
            #expect(try await visitor.api(.get, "/api/macos/sessions").code == "interaction_required")
            #expect(try await visitor.api(.get, "/api/ios/sessions").code == "not_found")

            try await visitor.signIn(app: "macos")
            let listed = try await visitor.api(.get, "/api/macos/sessions").json["sessions"] as? [[String: Any]]
            let sessions = try #require(listed)
            #expect(sessions.map { $0["current"] as? Bool } == [false, true])
            let key = try #require(sessions.first?["key"] as? String)
            #expect(try await visitor.api(.delete, "/api/macos/sessions/\(key)").status == 204)
            #expect(try await visitor.api(.delete, "/api/macos/sessions/\(key)").code == "not_found")
            #expect(try await other.api(.get, "/api/ios/account").json["account"] is NSNull)
            #expect(try await visitor.api(.get, "/api/macos/sessions?after=x").code == "bad_request")
        }
    }

    @Test func `another site cannot revoke a session`() async throws {
        try await Self.run { _, visitor in
            try await visitor.signIn(app: "macos")
            let answer = try await visitor.send(
                .delete, "/api/macos/sessions/1", headers: [.accept: "application/json"])
            #expect(answer.code == "cross_site_request")
        }
    }

    @Test(arguments: ["cross-site", "same-site"])
    func `no other site can read a portal's data`(from: String) async throws {
        try await Self.run { _, visitor in
            try await visitor.signIn(app: "macos")
            for path in ["/api/macos/tokens", "/api/macos/sessions", "/api/macos/health"] {
                let headers: HTTPFields = [.secFetchSite: from, .accept: "application/json"]
                let answer = try await visitor.send(.get, path, headers: headers)
                #expect(answer.status == 403 && answer.code == "cross_site_request", "\(path)")
                #expect(try await visitor.api(.get, path).status == 200, "\(path)")
            }
        }
    }

    @Test func `health names the failing application and why, and the others are well`() async throws {
        try await Self.run(configured: { configuration in
            if let nowhere = try? Authority("https://localhost:1/tenant", kind: .oidc) {
                configuration.applications[2].authority = nowhere
            }
            configuration.applications[0].clientSecretExpires = Date().addingTimeInterval(-1.5 * 86_400)
            configuration.applications[1].clientSecretExpires = Date().addingTimeInterval(40.5 * 86_400)
        }) { site, visitor in
            try await visitor.signIn(app: "macos")
            let before = try await visitor.api(.get, "/api/macos/health?known=true").json
            #expect(before["checked_at"] is NSNull && (before["apps"] as? [Any])?.isEmpty == true)
            let now = try await visitor.api(.get, "/api/macos/health").json
            let listed = now["apps"] as? [[String: Any]]
            let asked = try await site.counts()
            let known = try await visitor.api(.get, "/api/macos/health?known=true").json
            #expect((known["apps"] as? NSArray) == (now["apps"] as? NSArray))
            #expect(known["checked_at"] as? String == now["checked_at"] as? String)
            #expect(try await site.counts() == asked, "the tenant was asked again")
            let apps = Dictionary(
                try #require(listed).compactMap { app in (app["id"] as? String).map { ($0, app) } }
            ) { first, _ in first }
            // At common nobody says whether the secret is right: that is neither good nor bad.
            #expect(apps["macos"]?["ok"] is NSNull && apps["macos"]?["state"] as? String == "unknown")
            #expect(apps["contoso"]?["ok"] as? Bool == false)
            func bad(_ app: String) -> [String?] {
                (apps[app]?["checks"] as? [[String: Any]] ?? []).filter { $0["ok"] as? Bool == false }
                    .map { $0["check"] as? String }
            }
            #expect(bad("contoso") == ["discovery"])
            #expect(bad("ios") == ["credential"])
            #expect(apps["macos"]?["days_left"] as? Int == 40)
            #expect(apps["ios"]?["days_left"] as? Int == -2)
            let ended = (apps["ios"]?["checks"] as? [[String: Any]])?.compactMap { $0["expires"] as? String }
            #expect(ended?.count == 1 && ended?.first == apps["ios"]?["credential_expires"] as? String)
            #expect(apps["external"]?["days_left"] is NSNull)
        }
    }
}
