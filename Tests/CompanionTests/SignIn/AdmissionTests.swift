import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The configuration decides who may sign in, checked on the token; nothing in a request widens it.
@Suite struct AdmissionTests {
    private static let contoso = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
    private static let tailspin = "3e7a9b5c-1d24-4f68-9a0b-c5d2e8f16b47"
    private static let consumers = Authority.consumersTenantID

    /// The authority at which the application `ios` signs people in.
    private static func set(
        _ configuration: inout CompanionConfiguration, _ segment: String, listed: [String] = []
    ) throws {
        let before = configuration.applications[0]
        let authority = try Authority(before.authority.origin + "/" + segment)
        configuration.applications[0].authority = authority
        configuration.applications[0].registration = ClientRegistration(
            clientID: before.registration.clientID, redirectURI: before.registration.redirectURI,
            scopes: before.registration.scopes,
            allowedTenants: listed, clientCapabilities: ["cp1"])
    }

    private func run(
        _ segment: String, listed: [String] = [], _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(configured: { try? Self.set(&$0, segment, listed: listed) }) { site in
            #expect(site.configuration.applications[0].authority.description.hasSuffix("/" + segment))
            try await test(site, Visitor(site))
        }
    }

    // MARK: Tenants

    @Test(
        arguments: [
            (contoso, [], "tailspin.example"), (contoso, [], tailspin), ("contoso.example", [], tailspin),
            ("contoso.example", [], "tailspin.example"), ("contoso.example", [], "common"),
            (contoso, [], "organizations"), (contoso, [], "consumers"), (contoso, [], consumers),
            ("common", [], "common"), ("common", [], "organizations"), ("common", [], "Consumers"),
            ("common", [tailspin], contoso), ("common", [tailspin], "contoso.example"),
            ("organizations", [], consumers), ("organizations", [], "consumers"), ("organizations", [], "common"),
            ("organizations", [contoso], tailspin), ("consumers", [], contoso), ("consumers", [], "organizations"),
            ("consumers", [], "contoso.example"),
        ] as [(String, [String], String)])
    func `a tenant that the configuration does not admit is refused wherever a request names it`(
        authority: String, listed: [String], tenant: String
    ) async throws {
        try await run(authority, listed: listed) { site, visitor in
            for begin in ["sign-in", "admin-consent"] {
                let answer = try await visitor.api(.get, "/auth/ios/\(begin)?tenant=\(tenant)")
                #expect(answer.code == "bad_request", "\(begin): \(answer.text)")
                #expect(answer.location == nil)
            }
            let username = authority == "consumers" ? "alex@outlook.example" : "adele@contoso.example"
            guard authority == "consumers" || listed != [Self.tailspin] else { return }
            #expect(try await visitor.signIn(username: username).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me?tenant=\(tenant)").code == "bad_request")
            let token = try await visitor.api(.post, "/api/ios/token", body: #"{"tenant":"\#(tenant)"}"#)
            #expect(token.code == "bad_request", "\(token.text)")
            #expect(try await site.count("token_refresh") == 0)
        }
    }

    @Test(
        arguments: [
            ("common", [], "tailspin.example"), ("organizations", [], tailspin), (contoso, [tailspin], tailspin),
            ("contoso.example", [tailspin], "tailspin.example"), ("common", [tailspin], "tailspin.example"),
        ] as [(String, [String], String)])
    func `a person of an admitted tenant signs in there, and their tokens are renewed there`(
        authority: String, listed: [String], tenant: String
    ) async throws {
        try await run(authority, listed: listed) { site, visitor in
            #expect(try await visitor.signIn(query: "tenant=\(tenant)").location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/claims").json["tid"] as? String == Self.tailspin)
            let renewed = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
            #expect(try await visitor.api(.get, "/api/ios/claims").json["tid"] as? String == Self.tailspin)
        }
    }

    @Test func `a request that names the tenant of the sign-in gets the token of the sign-in`() async throws {
        try await run(Self.contoso) { site, visitor in
            try await visitor.signIn()
            let token = try await visitor.api(.post, "/api/ios/token", body: #"{"tenant":"\#(Self.contoso)"}"#)
            #expect(token.json["source"] as? String == "cache", "\(token.text)")
            #expect(try await visitor.api(.get, "/api/ios/me?tenant=\(Self.contoso)").status == 200)
            #expect(try await site.count("token_refresh") == 0)
        }
    }

    @Test func `an authority's own tenant is admitted beside those on the list`() async throws {
        try await run(Self.contoso, listed: [Self.tailspin]) { _, visitor in
            #expect(try await visitor.signIn().location == "/ios")
            let renewed = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(renewed.json["source"] as? String == "refreshed", "\(renewed.text)")
        }
    }

    @Test func `the token decides, also when the sign-in began under another configuration`() async throws {
        try await run("common") { site, visitor in
            let back = try await visitor.walkToCallback(query: "tenant=tailspin.example")
            try await site.restart { try Self.set(&$0, Self.contoso) }
            let answer = try await visitor.get(try #require(back.location))
            #expect(answer.location?.hasPrefix("/ios?sign_in_error=invalid_id_token") == true)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
        }
    }

    @Test(
        arguments: [
            ("organizations", [], "alex@outlook.example"), ("consumers", [], "adele@contoso.example"),
            (tailspin, [], "adele@contoso.example"), ("tailspin.example", [], "adele@contoso.example"),
            ("common", [tailspin], "adele@contoso.example"),
        ] as [(String, [String], String)])
    func `an account that the configuration no longer admits is dropped at its next use and logged`(
        authority: String, listed: [String], username: String
    ) async throws {
        try await run("common") { site, visitor in
            try await visitor.signIn(username: username)
            try await visitor.signIn(app: "macos")
            // In memory, where it would be answered at once.
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is [String: Any])
            try await site.restart { try Self.set(&$0, authority, listed: listed) }
            #expect(try await visitor.api(.get, "/api/ios/me").code == "interaction_required")
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
            #expect(site.log.all.contains { $0.contains("does not admit it") && $0.contains("ios") })
            #expect(!site.log.all.contains { $0.contains("does not admit it") && $0.contains(username) })
            #expect(try await visitor.api(.get, "/api/macos/me").status == 200, "the other application's stays")
            try await site.restart()
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull, "it is gone for good")
        }
    }

    @Test func `no account is dropped because a provider is down`() async throws {
        try await run("contoso.example") { site, visitor in
            try await visitor.signIn()
            try await site.control(#"{"provider_down": "all"}"#)
            try await site.restart()
            #expect(try await visitor.api(.get, "/api/ios/account").code == "provider_unavailable")
            try await site.control(#"{"provider_down": null}"#)
            site.clock.advance(60)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        }
    }

    @Test func `an account is not shown from memory until it is known to be admitted`() async throws {
        try await run("common") { site, visitor in
            try await visitor.signIn()
            try await site.control(#"{"provider_down": "all"}"#)
            try await site.restart { try Self.set(&$0, "tailspin.example") }
            for _ in 0..<2 {
                let answer = try await visitor.api(.get, "/api/ios/account")
                #expect(answer.code == "provider_unavailable", "\(answer.text)")
            }
            try await site.control(#"{"provider_down": null}"#)
            site.clock.advance(60)
            #expect(try await visitor.api(.get, "/api/ios/account").json["account"] is NSNull)
        }
    }

    // MARK: Users

    private static let adele = "87d349ed-44d7-43e1-9a83-5f2406dee5bd"

    @Test(
        arguments: [
            ("her object id", .object(id: adele), nil, true),
            ("her object id in her tenant", .object(id: adele, tenantID: contoso), nil, true),
            ("her object id in another tenant", .object(id: adele, tenantID: tailspin), nil, false),
            ("another's object id", .object(id: "48d31887-5fad-4d73-a9f5-3c356e68a038"), nil, false),
            ("her username in another case", .username("ADELE@contoso.example"), nil, true),
            (
                "a letter that folds to an ASCII one", .username("adele@contoso.example"),
                #"{"preferred_username": "adele@conto\u017fo.example"}"#, false
            ),
            (
                "only a name", .username("boss@contoso.example"),
                #"{"preferred_username": null, "name": "boss@contoso.example"}"#, false
            ),
            (
                "only an e-mail address", .username("boss@contoso.example"),
                #"{"preferred_username": null, "email": "boss@contoso.example", "email_verified": true}"#, false
            ),
            (
                "a subject that says an object id", .object(id: "11111111-1111-4111-8111-111111111111"),
                #"{"sub": "11111111-1111-4111-8111-111111111111"}"#, false
            ),
        ] as [(String, AllowedUser, String?, Bool)])
    func `an entry admits only what the provider vouches for, at sign-in and at each request`(
        row: String, entry: AllowedUser, claims: String?, isAllowed: Bool
    ) async throws {
        try await run("contoso.example") { site, visitor in
            if let claims { try await site.control(#"{"id_token_claims": \#(claims)}"#) }
            #expect(try await visitor.signIn().location == "/ios", "while nobody is named")
            try await site.restart { $0.applications[0].allowed.users = [entry] }
            let me = try await visitor.api(.get, "/api/ios/me")
            #expect(me.status == (isAllowed ? 200 : 401), "\(row): \(me.text)")
            let again = try await Visitor(site).signIn()
            #expect(
                again.location?.hasPrefix(isAllowed ? "/ios" : "/ios?sign_in_error=access_denied") == true,
                "\(row): \(again.location ?? "")")
            #expect((again.location == "/ios") == isAllowed)
        }
    }

    @Test func `a personal account is never named by its username`() {
        let account = AllowedUser.Claims(
            tenantID: Self.consumers.uppercased(), objectID: "o", subject: "s",
            preferredUsername: { "alex@outlook.example" })
        #expect(!AllowedUser.username("alex@outlook.example").names(account))
        #expect(AllowedUser.object(id: "o").names(account))
    }

    private static let subject = String(repeating: "aB3_-", count: 8) + "xyw"

    @Test(
        arguments: [
            (adele.uppercased(), "common", [], [.object(id: adele)]),
            ("\(contoso.uppercased())/\(adele)", "common", [], [.object(id: adele, tenantID: contoso)]),
            ("a@b.example", contoso, [], [.username("a@b.example")]),
            ("a@b.example", "common", [contoso], [.username("a@b.example")]),
            (subject, contoso, [], [.subject(subject)]),
            ("a@b.example", "common", [], nil), ("a@b.example", "organizations", [], nil),
            ("a@outlook.example", "consumers", [], nil), ("Adele", contoso, [], nil), (subject, "common", [], nil),
            (subject, contoso, [tailspin], nil), ("\(contoso)/adele", contoso, [], nil),
            ("contoso/\(adele)", contoso, [], nil),
        ] as [(String, String, [String], [AllowedUser]?)])
    func `an entry of the list is read or refused`(
        text: String, segment: String, listed: [String], entries: [AllowedUser]?
    ) throws {
        let authority = try Authority("https://login.microsoftonline.com/" + segment)
        let read = try? AllowedUser.entries(text, at: authority, listed: listed)
        #expect(read == entries)
    }

    @Test func `entries of other kinds name accounts by what their tokens contain`() throws {
        let provider = try Authority("https://id.example.com", kind: .oidc)
        #expect(try AllowedUser.entries("any|thing", at: provider, listed: []) == [.subject("any|thing")])
        let external = try Authority("https://contoso.ciamlogin.com", kind: .external)
        #expect(try AllowedUser.entries("a@b.example", at: external, listed: []) == [.username("a@b.example")])
        let b2c = try Authority("https://c.b2clogin.com/c.onmicrosoft.com/b2c_1_susi", kind: .b2c)
        #expect(throws: AllowedUser.Mistake.self) {
            _ = try AllowedUser.entries("a@b.example", at: b2c, listed: [])
        }
        #expect(
            try AllowedUser.entries(Self.adele, at: b2c, listed: []) == [
                .object(id: Self.adele), .subject(Self.adele),
            ])
    }

    // MARK: Operators

    @Test func `only an explicit list of users makes operators`() async throws {
        func status(_ change: (inout Application) -> Void) async throws -> String? {
            var code: String?
            try await Site.run(configured: { configuration in
                configuration.deviceMode = .shared
                try? Self.set(&configuration, Self.contoso)
                configuration.applications[0].page = .portal
                change(&configuration.applications[0])
            }) { site in
                let visitor = Visitor(site)
                try await visitor.signIn()
                let answer = try await visitor.api(.get, "/api/ios/sessions")
                code = answer.code ?? "\(answer.status)"
            }
            return code
        }
        #expect(try await status { _ in } == "access_denied", "the authority alone names no operator")
        #expect(try await status { $0.allowed.users = [.object(id: Self.adele)] } == "200")
        #expect(try await status { $0.allowed.users = [.username("adele@contoso.example")] } == "200")
        func listing(_ tenant: String) -> (inout Application) -> Void {
            { application in
                application.registration = ClientRegistration(
                    clientID: application.registration.clientID, redirectURI: application.registration.redirectURI,
                    scopes: ["user.read"],
                    allowedTenants: [tenant])
            }
        }
        #expect(try await status(listing(Self.contoso)) == "200")
        #expect(try await status(listing(Self.tailspin)) == "access_denied", "not of the list's tenant")
    }
}
