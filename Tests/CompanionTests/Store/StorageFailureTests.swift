import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import Companion
@testable import CompanionCore

/// The database cannot be written for a while: nobody is signed out, and it recovers by itself.
@Suite struct StorageFailureTests {
    @Test func `while another program holds the database, writes are refused and people stay signed in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let location = try #require(try await visitor.walkToCallback(app: "macos").location)

            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()

            let callback = try await visitor.api(.get, location)
            #expect(callback.code == "storage_unavailable")
            let begin = try await visitor.api(.get, "/auth/ios/sign-in")
            #expect(begin.status == 503)
            #expect(begin.code == "storage_unavailable")
            #expect(begin.fields[.retryAfter] != nil)
            let readiness = try await visitor.api(.get, "/readyz")
            #expect(readiness.status == 503)
            let out = try await visitor.api(.post, "/auth/ios/sign-out")
            #expect(out.code == "storage_unavailable")
            let me = try await visitor.api(.get, "/api/ios/me")
            #expect(me.status == 200)
            let count = try await site.count("token_refresh")
            let renewed = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(renewed.code == "storage_unavailable")
            #expect(
                try await site.count("token_refresh") == count,
                "no refresh token is spent whose successor would be lost")

            try lock.release()
            let ready = try await visitor.api(.get, "/readyz")
            #expect(ready.status == 200)
            let retried = try await visitor.get(location)
            #expect(retried.location == "/macos", "the same callback, reloaded")
            let apps = try await visitor.api(.get, "/api/apps").json["apps"] as? [[String: Any]]
            #expect(apps?.compactMap { $0["signed_in_as"] as? String }.count == 2)
        }
    }

    @Test func `a second server on the same file does not start, and the first goes on`() async throws {
        try await Site.run { site in
            let refusal = StoreError.unavailable(
                "another server works with the database \(site.database), and a file can have only one: stop that server "
                    + "first, or give each a database of its own (--database FILE)")
            await #expect(throws: refusal) { try await site.beside { _ in } }
            let visitor = Visitor(site)
            #expect(try await visitor.get("/readyz").status == 200)
            try await visitor.signIn()
        }
    }

    @Test func `a refresh token is not spent when the next write fails, even if the last one succeeded`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            let refused = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(refused.code == "storage_unavailable")
            #expect(try await site.count("token_refresh") == 0)
            try lock.release()
        }
    }

    @Test(arguments: [#"{"force_refresh":true}"#, "{}"])
    func `tokens of a refresh during which the database fails are stored as soon as it works`(next: String) async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await site.control(#"{"refresh_token_single_use":true,"access_token_seconds":600}"#)
            try await visitor.signIn()
            site.clock.advance(600)
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try await site.hold()
            async let refused = visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            try await site.untilHeld()
            try lock.take()
            try await site.letGo()
            #expect(try await refused.code == "storage_unavailable")
            #expect(try await site.count("token_refresh") == 1, "the provider has given the next refresh token")
            let still = try await visitor.api(.post, "/api/ios/token")
            #expect(still.code == "storage_unavailable")
            try lock.release()

            let renewed = try await visitor.api(.post, "/api/ios/token", body: next)
            #expect(renewed.status == 200, "\(renewed.text)")
            let again = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(again.json["source"] as? String == "refreshed")
            #expect(try await site.count("refresh_replayed") == 0)
        }
    }
}
