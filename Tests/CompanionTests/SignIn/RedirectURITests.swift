import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCheck
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn

/// One redirect URI for all applications, or one for each: what came to the wrong one is another provider's answer.
@Suite struct RedirectURITests {
    /// `ios` has a redirect URI of its own, `macos` shares.
    private func run(_ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run(
            registered: { client in
                client.webRedirectURIs += client.webRedirectURIs.map {
                    $0.replacingOccurrences(of: "/auth/callback", with: "/auth/ios/callback")
                }
            },
            configured: { configuration in
                let own = configuration.publicURL.redirectURI(ofApplication: "ios")
                configuration.applications[0].registration.redirectURI = own
            }
        ) { site in
            try await test(site, Visitor(site))
        }
    }

    private func callback(_ visitor: Visitor, app: String) async throws -> String {
        try #require(try await visitor.walkToCallback(app: app).location)
    }

    @Test func `an application with its own redirect URI signs in there, another at the shared one`() async throws {
        try await run { site, visitor in
            let own = try await callback(visitor, app: "ios")
            #expect(own.hasPrefix(site.origin + "/auth/ios/callback?"))
            #expect(try await visitor.get(own).location == "/ios")
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            let shared = try await callback(visitor, app: "macos")
            #expect(shared.hasPrefix(site.origin + "/auth/callback?"))
            #expect(try await visitor.get(shared).location == "/macos")
        }
    }

    @Test(arguments: [
        ("ios", "/auth/ios/callback", "/auth/callback"), ("ios", "/auth/ios/callback", "/auth/macos/callback"),
        ("macos", "/auth/callback", "/auth/ios/callback"), ("macos", "/auth/callback", "/auth/macos/callback"),
    ])
    func `an answer at the wrong address is refused, and its code is not redeemed`(
        app: String, right: String, wrong: String
    ) async throws {
        try await run { site, visitor in
            let location = try await callback(visitor, app: app)
            let misled = location.replacingOccurrences(of: right + "?", with: wrong + "?")
            #expect(misled != location)
            let answer = try await visitor.get(misled)
            #expect(answer.location?.hasPrefix("/\(app)?sign_in_error=issuer_mismatch") == true)
            #expect(try await site.count("token_code") == 0)
            #expect(try await site.count("token_failed") == 0)
            #expect(try await visitor.get(location).location?.hasPrefix("/\(app)?sign_in_error") == true, "used up")
            #expect(try await visitor.api(.get, "/api/\(app)/account").json["account"] is NSNull)
        }
    }

    @Test func `a posted answer keeps the path to which it came`() async throws {
        try await run { site, visitor in
            for (app, path) in [("ios", "/auth/ios/callback"), ("macos", "/auth/callback")] {
                let location = try await callback(visitor, app: app)
                let form = String(location.drop { $0 != "?" }.dropFirst())
                let posted = try await visitor.send(
                    .post, path, headers: [.contentType: "application/x-www-form-urlencoded"], body: form)
                let resume = try #require(posted.location)
                #expect(resume.hasPrefix(path + "?resume="))
                #expect(try await visitor.get(resume).location == "/\(app)")
            }
        }
    }

    @Test func `a code is redeemed with the redirect URI that its attempt began with`() async throws {
        try await run { site, visitor in
            let location = try await callback(visitor, app: "ios")
            try await site.restart {
                $0.applications[0].registration.redirectURI = $0.publicURL.redirectURI
            }
            #expect(try await visitor.get(location).location == "/ios")
        }
    }

    @Test func `an address that belongs to no application is no callback`() async throws {
        try await run { _, visitor in
            let answer = try await visitor.api(.get, "/auth/nobody/callback?state=x&code=y")
            #expect(answer.code == "not_found")
        }
    }

    // MARK: Check

    private func client(_ id: String, at issuer: String, isOwn: Bool, namesItself: Bool) async throws
        -> MixUpFindings.Client
    {
        let publicURL = try PublicURL("https://companion.example")
        let document = """
            {"issuer": "\(issuer)", "authorization_endpoint": "\(issuer)/authorize", "token_endpoint": "\(issuer)/token",
             "jwks_uri": "\(issuer)/keys", "authorization_response_iss_parameter_supported": \(namesItself)}
            """
        let authority = try Authority(issuer, kind: .oidc)
        let directory = ProviderDirectory(
            transport: { _ in
                ProviderResponse(
                    head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    body: Array(document.utf8))
            }, now: { Date() })
        return MixUpFindings.Client(
            application: Application(
                id: id, page: .external, title: id, authority: authority,
                registration: ClientRegistration(
                    clientID: id,
                    redirectURI: isOwn ? publicURL.redirectURI(ofApplication: id) : publicURL.redirectURI,
                    scopes: []), credential: .fixed(.publicClient), api: nil),
            metadata: try await directory.metadata(for: authority))
    }

    @Test(
        arguments: [
            ("one provider", "https://a.example", false, false, []),
            ("two that name themselves", "https://b.example", false, true, []),
            ("two of which one does not name itself", "https://b.example", false, false, ["second"]),
            ("two of which that one has its own redirect URI", "https://b.example", true, false, []),
        ] as [(String, String, Bool, Bool, [String])])
    func `providers that could be mixed up are named`(
        row: String, issuer: String, isOwn: Bool, namesItself: Bool, named: [String]
    ) async throws {
        let findings = MixUpFindings(
            clients: [
                try await client("first", at: "https://a.example", isOwn: false, namesItself: true),
                try await client("second", at: issuer, isOwn: isOwn, namesItself: namesItself),
            ], publicURL: try PublicURL("https://companion.example")
        ).all
        #expect(findings.compactMap(\.application) == named, "\(row)")
        #expect(findings.allSatisfy { $0.severity == .mistake })
        #expect(
            findings.allSatisfy {
                $0.remedy?.contains("https://companion.example/auth/second/callback") == true
                    && $0.remedy?.contains("apps.second.redirect_uri") == true
            })
    }
}
