import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore

/// Signing out removes tokens where no page can look: in the database, and at the provider.
@Suite struct SignOutTests {
    private static let kept =
        "SELECT (SELECT count(*) FROM account), (SELECT count(*) FROM account_secret), (SELECT count(*) FROM access_token);"

    @Test func `on a shared device no tokens stay, whichever account signs out`() async throws {
        try await Site.run(configured: { $0.deviceMode = .shared }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn(username: "adele@contoso.example")
            try await visitor.signIn(username: "megan@contoso.example")
            try await visitor.signIn(app: "external", username: "customer@fabrikam.example")
            #expect(try SQLiteShell.run(site.database, Self.kept) == "3|3|3\n")
            // A tab that kept its cookie, as one whose answer was lost.
            let other = visitor.copy()
            #expect(try await visitor.api(.post, "/auth/ios/sign-out").status == 200)
            #expect(visitor.sessionCookie == nil)
            #expect(try SQLiteShell.run(site.database, Self.kept) == "0|0|0\n")
            for app in ["ios", "external"] {
                #expect(try await other.api(.get, "/api/\(app)/account").json["account"] is NSNull)
            }
        }
    }

    @Test func `on a private device signing out of one account leaves the others signed in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(username: "adele@contoso.example")
            try await visitor.signIn(username: "megan@contoso.example")
            #expect(try await visitor.api(.post, "/auth/ios/sign-out").status == 200)
            #expect(try SQLiteShell.run(site.database, Self.kept) == "1|1|1\n")
        }
    }

    @Test(arguments: [DeviceMode.private, .shared])
    func `the refresh token is revoked at a provider that has an endpoint for it`(mode: DeviceMode) async throws {
        try await Site.run(configured: { $0.deviceMode = mode }) { site in
            try await site.control(#"{"generic_provider": true}"#)
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            #expect(try await visitor.api(.post, "/auth/provider/sign-out").status == 200)
            // Nobody waits for it: it is on its way when the answer comes.
            #expect(await eventually { (try? await site.count("token_revoked")) == 1 })
        }
    }
}
