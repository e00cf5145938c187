import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The home page's paste box, and the keys with which it verifies a token.
@Suite struct PasteBoxTests {
    /// The site as a demo.
    private static func demo(_ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run(configured: { configuration in
            configuration.demoControlURL = configuration.applications[0].api.map { $0.origin + "/control" }
        }) { site in
            try await test(site, Visitor(site))
        }
    }

    private static func keys(_ visitor: Visitor) async throws -> Visitor.Answer {
        try await visitor.api(.get, "/api/demo/keys")
    }

    @Test(arguments: [(DeviceMode.private, true), (.shared, false)])
    func `the home page has a place to paste into, except on a shared device`(mode: DeviceMode, isThere: Bool)
        async throws
    {
        try await Site.run(configured: { $0.deviceMode = mode }) { site in
            let page = try await Visitor(site).send(.get, "/", headers: [.accept: "text/html"])
            #expect(page.status == 200)
            #expect(page.text.contains("id=\"paste\"") == isThere)
            #expect(page.text.contains("/assets/scripts/paste/box.") == isThere)
            #expect(!page.text.contains("{{"))
        }
    }

    @Test func `the demo's keys are those that its tenant publishes, and no cache keeps them`() async throws {
        try await Self.demo { site, visitor in
            let answer = try await Self.keys(visitor)
            #expect(answer.status == 200)
            #expect(answer.fields[.cacheControl] == "no-store")
            let ids = (answer.json["keys"] as? [[String: Any]])?.compactMap { $0["kid"] as? String }
            let published = try await site.client.send(
                HTTPRequest(
                    method: .get, scheme: "http", authority: "localhost:\(site.tenantPort)",
                    path: "/common/discovery/v2.0/keys"))
            #expect(ids?.isEmpty == false)
            #expect(ids == JSONValue(parsing: published.body)?["keys"]?.array?.compactMap { $0["kid"]?.string })
        }
    }

    @Test func `only our own pages get the keys`() async throws {
        try await Self.demo { _, visitor in
            let foreign = try await visitor.send(
                .get, "/api/demo/keys", headers: [.secFetchSite: "cross-site", .accept: "application/json"])
            #expect(foreign.code == "cross_site_request")
        }
    }

    @Test func `keys exist only in the demo`() async throws {
        try await Site.run { site in
            let answer = try await Self.keys(Visitor(site))
            #expect(answer.code == "not_found")
        }
    }

    @Test func `a tenant that is down has no keys`() async throws {
        try await Self.demo { site, visitor in
            try await site.control(#"{"provider_down": "all"}"#)
            let answer = try await Self.keys(visitor)
            #expect(answer.code == "provider_unavailable")
        }
    }
}
