import Foundation
import HTTPTypes
import HTTPWire
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Other sites may begin a sign-in, and do nothing more.
@Suite struct CrossSiteTests {
    private static let dest = HTTPField.Name.secFetchDest
    private static let site = HTTPField.Name.secFetchSite

    private static let asking =
        "scope=Mail.Read&claims=%7B%22a%22%3A1%7D&prompt=none&login_hint=adele%40contoso.example&ui_locales=sv"
        + "&domain_hint=contoso.example&max_age=5000&return_to=%2Fios%3Fa%3Db"

    private func parameters(_ answer: Visitor.Answer) throws -> [String: String] {
        let location = try #require(answer.location)
        let items = try #require(URLComponents(string: location)?.queryItems)
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    /// A site of the same domain, or another port of this machine, is another site too.
    private static let elsewhere = ["cross-site", "same-site", "something new"]

    @Test(arguments: elsewhere)
    func `another site may begin a sign-in in which the person picks the account, and ask for nothing else`(
        from: String
    ) async throws {
        try await Site.run(configured: { $0.applications[0].extraQueryParameters = ["ui_locales"] }) { site in
            let plain = try parameters(try await Visitor(site).get("/auth/ios/sign-in"))
            let begun = try await Visitor(site).send(
                .get, "/auth/ios/sign-in?" + Self.asking,
                headers: [Self.site: from, Self.dest: "document", .secFetchMode: "navigate"])
            let sent = try parameters(begun)
            #expect(sent["scope"] == plain["scope"] && sent["claims"] == plain["claims"])
            #expect(sent["prompt"] == "select_account")
            for name in ["login_hint", "domain_hint", "ui_locales", "max_age"] { #expect(sent[name] == nil, "\(name)") }
        }
    }

    @Test(
        arguments: [
            ("our own page", [site: "same-origin", dest: "document"]), ("an address that was typed", [site: "none"]),
            ("an older browser", [:]),
        ] as [(String, HTTPFields)])
    func `a request that comes from no other site gets what it asks for`(row: String, headers: HTTPFields) async throws
    {
        try await Site.run(configured: { $0.applications[0].extraQueryParameters = ["ui_locales"] }) { site in
            let sent = try parameters(
                try await Visitor(site).send(.get, "/auth/ios/sign-in?" + Self.asking, headers: headers))
            #expect(sent["scope"]?.hasPrefix("user.read Mail.Read ") == true, "\(row)")
            #expect(sent["claims"]?.contains(#""a":1"#) == true, "\(row)")
            #expect(sent["prompt"] == "none" && sent["login_hint"] == "adele@contoso.example", "\(row)")
            #expect(sent["ui_locales"] == "sv" && sent["max_age"] == "5000", "\(row)")
            #expect(sent["domain_hint"] == "contoso.example", "\(row)")
        }
    }

    @Test func `a kiosk asks for the password, whatever site sent the browser`() async throws {
        try await Site.run(configured: { $0.applications[0].page = .kiosk }) { site in
            let begun = try await Visitor(site).send(
                .get, "/auth/ios/sign-in?prompt=none", headers: [Self.site: "cross-site"])
            #expect(try parameters(begun)["prompt"] == "login")
        }
    }

    @Test(arguments: elsewhere)
    func `another site can begin no user flow but the sign-in`(from: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "b2c", username: "b2cuser@fabrikamb2c.example")
            let begun = try await visitor.send(
                .get, "/auth/b2c/sign-in?policy=edit_profile", headers: [Self.site: from])
            #expect(try #require(begun.location).contains("/b2c_1_susi/"))
            let own = try await visitor.get("/auth/b2c/sign-in?policy=edit_profile")
            #expect(try #require(own.location).contains("/b2c_1_edit_profile/"))
        }
    }

    @Test(
        arguments: ["iframe", "frame", "embed", "object", "image", "script", "empty", "Document"],
        ["/auth/ios/sign-in", "/auth/ios/admin-consent?tenant=contoso.example"])
    func `a sign-in begins in a window of its own`(destination: String, path: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            for from in ["cross-site", "same-origin", nil] {
                var headers: HTTPFields = [Self.dest: destination, .accept: "application/json"]
                headers[Self.site] = from
                let answer = try await visitor.send(.get, path, headers: headers)
                #expect(answer.status == 403 && answer.code == "cross_site_request", "\(from ?? "-")")
            }
            #expect(visitor.sessionCookie == nil, "nothing was begun")
            #expect(try await visitor.send(.get, path, headers: [Self.dest: "document"]).status == 302)
        }
    }

    @Test(
        arguments: ["iframe", "image", "empty", "Document"],
        ["/auth/callback?state=x&code=y", "/auth/ios/callback?state=x&code=y", "/auth/callback?resume=x", "POST"])
    func `an answer of the provider is taken only in a window of its own, and is not counted elsewhere`(
        destination: String, path: String
    ) async throws {
        try await Site.run(configured: {
            $0.limits.callbacksPerMinute = 1
            $0.applications[0].registration.redirectURI = $0.publicURL.redirectURI(ofApplication: "ios")
        }) { site in
            func ask(_ headers: HTTPFields) async throws -> Visitor.Answer {
                let visitor = Visitor(site)
                let state = try await visitor.leave(app: path.contains("/ios/") ? "ios" : "macos")
                var headers = headers
                headers[.accept] = "application/json"
                guard path == "POST" else {
                    let own = path.replacing("state=x", with: "state=\(state)")
                    return try await visitor.send(.get, own, headers: headers)
                }
                headers[.contentType] = "application/x-www-form-urlencoded"
                return try await visitor.send(.post, "/auth/callback", headers: headers, body: "state=\(state)&code=y")
            }
            for _ in 0..<3 {
                let answer = try await ask([Self.dest: destination, Self.site: "cross-site"])
                #expect(answer.status == 403 && answer.code == "cross_site_request")
            }
            let counted = try await ask([Self.dest: "document", Self.site: "cross-site"])
            let isResumed = path.contains("resume")
            #expect(counted.status == (isResumed ? 400 : 303), "\(counted.text)")
            let second = try await ask([:])
            #expect(second.status == (isResumed ? 400 : 429), "a made-up handle is not counted")
        }
    }

    @Test func `a provider's page signs out in a hidden frame`() async throws {
        try await Site.run { site in
            let answer = try await Visitor(site).send(
                .get, "/auth/front-channel-logout?iss=x&sid=y", headers: [Self.dest: "iframe", Self.site: "cross-site"])
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: ["cross-site", "same-site"])
    func `no other site can read the API, not even one of the same domain`(from: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            for path in [
                "/api/ios/account", "/api/ios/accounts", "/api/ios/claims", "/api/ios/me", "/api/ios/me/photo",
                "/api/ios/events", "/api/ios/sign-in-failure", "/api/apps", "/api/device", "/api/attempts",
            ] {
                let answer = try await visitor.send(
                    .get, path, headers: [Self.site: from, .accept: "application/json"])
                #expect(answer.status == 403 && answer.code == "cross_site_request", "\(path)")
                #expect(!answer.text.contains("adele"), "\(path)")
                let own = try await visitor.send(
                    .get, path, headers: [Self.site: "same-origin", .accept: "application/json"])
                #expect(own.code != "cross_site_request", "\(path)")
            }
        }
    }

    @Test func `an origin that shares only a prefix with ours is another one`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            for origin in [
                site.origin + ".evil.example", site.origin + "0", site.origin + "@evil.example", site.origin + "/",
                String(site.origin.dropLast()), "https" + site.origin.dropFirst(4), site.origin.uppercased(),
            ] {
                let answer = try await visitor.send(
                    .post, "/auth/ios/sign-out",
                    headers: [.origin: origin, .xCompanion: "1", .accept: "application/json"], body: "{}")
                #expect(answer.status == 403 && answer.code == "cross_site_request", "\(origin)")
            }
        }
    }

    @Test(arguments: [(16 * 1024, 200), (16 * 1024 + 1, 413)])
    func `a body has at most sixteen kibibytes`(bytes: Int, status: Int) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let frame = #"{"force_refresh":false,"x":""}"#
            let body = frame.replacing(
                #""x":"""#, with: #""x":"\#(String(repeating: "a", count: bytes - frame.utf8.count))""#)
            #expect(body.utf8.count == bytes)
            #expect(try await visitor.api(.post, "/api/ios/token", body: body).status == status)
        }
    }
}
