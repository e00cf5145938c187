import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// A logout token is good once, whatever happens to the server in between.
@Suite struct LogoutTokenReplayTests {
    private func token(_ site: Site) async throws -> String {
        let fields = [
            ("username", "adele@contoso.example"), ("client_id", "11111111-2222-4333-8444-555555555555"),
        ]
        let path = "http://localhost:\(site.tenantPort)/control/logout-token?" + FormEncoding.encode(fields)
        return try await Visitor(site).get(path).text
    }

    private func post(_ site: Site, _ token: String) async throws -> Int {
        try await Visitor(site).send(
            .post, "/auth/back-channel-logout",
            headers: [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"],
            body: "logout_token=\(token)"
        ).status
    }

    private func isSignedIn(_ visitor: Visitor) async throws -> Bool {
        try await visitor.api(.get, "/api/provider/account").json["account"] is [String: Any]
    }

    @Test func `a used token is still known after a restart`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            let token = try await token(site)
            #expect(try await post(site, token) == 200)
            #expect(try await !isSignedIn(visitor))
            try await visitor.signIn(app: "provider")
            try await site.restart()
            #expect(try await post(site, token) == 400)
            #expect(try await isSignedIn(visitor))
        }
    }

    @Test func `a token that arrives while nothing can be stored is good afterwards`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            let token = try await token(site)
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            #expect(try await post(site, token) == 503)
            #expect(try await isSignedIn(visitor))
            try lock.release()
            #expect(try await post(site, token) == 200)
            #expect(try await !isSignedIn(visitor))
            #expect(try await post(site, token) == 400)
        }
    }
}
