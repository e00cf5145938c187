import Foundation
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore

/// A kiosk with several applications, and a kiosk's preview on a private device.
@Suite struct KioskTilesTests {
    private static let adele = "adele@contoso.example"

    /// The first application is the kiosk.
    private static func run(
        _ mode: DeviceMode, tiles: [String] = [], _ test: (Site, Visitor) async throws -> Void
    ) async throws {
        try await Site.run(configured: { configuration in
            configuration.deviceMode = mode
            configuration.kioskTiles = tiles
            configuration.applications[0].page = .kiosk
            try configuration.serve(configuration.applications)
        }) { site in
            try await test(site, Visitor(site))
        }
    }

    private func page(_ visitor: Visitor) async throws -> String {
        try await visitor.send(.get, "/ios", headers: [.acceptLanguage: "en", .accept: "text/html"]).text
    }

    private func starts(in page: String) -> [String] {
        page.matches(of: /data-start="([^"]*)"/).map { String($0.output.1) }
    }

    @Test func `a kiosk has one button, or a tile for each application`() async throws {
        try await Self.run(.shared) { _, visitor in
            let page = try await page(visitor)
            #expect(starts(in: page) == ["ios"])
            #expect(!page.contains("id=\"preview\""))
        }
        try await Self.run(.shared, tiles: ["external", "ios", "b2c"]) { _, visitor in
            let page = try await page(visitor)
            #expect(starts(in: page) == ["external", "ios", "b2c"])
            #expect(page.contains("Choose what you want to try."))
            #expect(!page.contains("{{"))
        }
    }

    @Test(arguments: ["ios", "external", "macos"])
    func `a tile's application asks for the password each time and shows no token; others do not change`(app: String)
        async throws
    {
        try await Self.run(.shared, tiles: ["ios", "external"]) { _, visitor in
            let location = try #require(try await visitor.get("/auth/\(app)/sign-in").location)
            #expect(location.contains("prompt=login") == (app != "macos"))
            #expect(location.contains("max_age=10") == (app != "macos"))
            let username = app == "external" ? "customer@fabrikam.example" : Self.adele
            try await visitor.signIn(app: app, username: username)
            let token = try await visitor.api(.post, "/api/\(app)/token").json["token"]
            #expect((token is NSNull) == (app != "macos"))
        }
    }

    @Test func `a preview says what it is, and its page is not kept`() async throws {
        try await Self.run(.private, tiles: ["ios", "external"]) { _, visitor in
            let page = try await page(visitor)
            #expect(page.contains("id=\"preview\""))
            #expect(page.contains("shares its sign-in with its own page"))
            #expect(try await visitor.get("/ios").fields[.cacheControl] == "no-store")
            let home = try await visitor.send(.get, "/", headers: [.acceptLanguage: "en", .accept: "text/html"]).text
            #expect(home.contains("data-app=\"ios\"") && home.contains("kiosk."))
        }
    }

    @Test func `a preview asks for the password and shows no token, and does not shorten the sessions of other pages`()
        async throws
    {
        try await Self.run(.private, tiles: ["ios", "external"]) { site, visitor in
            #expect(try await visitor.api(.get, "/api/device").json["session_idle_seconds"] as? Int ?? 0 > 60)
            try await visitor.signIn(app: "macos")
            let begun = try #require(try await visitor.get("/auth/ios/sign-in").location)
            #expect(begun.contains("prompt=login"))
            // On a private device a tutorial stays as it is, tile or not.
            let tutorial = try #require(try await visitor.get("/auth/external/sign-in").location)
            #expect(!tutorial.contains("prompt=login"))
            // The password is given again a moment later, which is another authentication.
            site.clock.advance(1)
            try await visitor.signIn()
            #expect(try await visitor.api(.post, "/api/ios/token").json["token"] is NSNull)
            #expect(try await visitor.api(.get, "/api/ios/tokens").code == "access_denied")
            #expect(try await visitor.api(.get, "/api/macos/tokens").status == 200)
            site.clock.advance(300)
            #expect(try await visitor.api(.get, "/api/macos/account").json["account"] is [String: Any])
        }
    }

    @Test func `a preview's sign-out ends its own sign-in, forgets the name, and leaves the other pages alone`()
        async throws
    {
        try await Self.run(.private) { _, visitor in
            try await visitor.signIn(app: "macos")
            try await visitor.signIn(username: "megan@contoso.example")
            let out = try await visitor.api(.post, "/auth/ios/sign-out", body: #"{"browser": false}"#)
            #expect(out.json["redirect"] is NSNull)
            #expect(out.fields[.clearSiteData] == nil)
            let kiosk = try await visitor.api(.get, "/api/ios/account").json
            #expect(kiosk["account"] is NSNull)
            #expect(kiosk["previous_account"] is NSNull)
            let other = try await visitor.api(.get, "/api/macos/account").json["account"] as? [String: Any]
            #expect(other?["username"] as? String == Self.adele)
            #expect(try await visitor.api(.get, "/api/macos/me").status == 200)
        }
    }

    @Test func `where there is no kiosk, its address says how to get one`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let missing = try await visitor.send(.get, "/kiosk", headers: [.accept: "text/html"])
            #expect(missing.status == 404)
            #expect(missing.text.contains("device_mode: shared"))
            let other = try await visitor.send(.get, "/kiosks", headers: [.accept: "text/html"])
            #expect(other.text.contains("There is nothing at this address."))
        }
        try await Self.run(.shared) { _, visitor in
            let missing = try await visitor.send(.get, "/kiosk", headers: [.accept: "text/html"])
            #expect(missing.status == 404)
            #expect(!missing.text.contains("device_mode: shared"))
        }
    }
}
