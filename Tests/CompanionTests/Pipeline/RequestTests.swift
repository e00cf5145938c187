import Foundation
import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The requests that the pipeline lets through, and the fields that every answer carries.
@Suite struct RequestTests {
    @Test(
        arguments: [
            ("no header of ours", [HTTPField.Name.origin: "SELF"], 403),
            ("no origin at all", [.xCompanion: "1"], 403),
            ("another origin", [.xCompanion: "1", .origin: "http://evil.example"], 403),
            ("the same host on another port", [.xCompanion: "1", .origin: "http://localhost:1"], 403),
            ("the null origin", [.xCompanion: "1", .origin: "null"], 403),
            ("another site", [.xCompanion: "1", .secFetchSite: "cross-site"], 403),
            ("the same site, another origin", [.xCompanion: "1", .secFetchSite: "same-site"], 403),
            (
                "our origin, but said to be of another site",
                [.xCompanion: "1", .origin: "SELF", .secFetchSite: "cross-site"], 403
            ),
            ("our origin", [.xCompanion: "1", .origin: "SELF"], 200),
            ("fetched by our page", [.xCompanion: "1", .secFetchSite: "same-origin"], 200),
        ] as [(String, HTTPFields, Int)])
    func `a request that changes something must come from our page`(row: String, headers: HTTPFields, status: Int)
        async throws
    {
        try await Site.run { site in
            var headers = headers
            if headers[.origin] == "SELF" { headers[.origin] = site.origin }
            headers[.accept] = "application/json"
            let answer = try await Visitor(site).send(.post, "/auth/ios/sign-out", headers: headers, body: "{}")
            #expect(answer.status == status, "\(row)")
            if status == 403 { #expect(answer.code == "cross_site_request") }
        }
    }

    @Test(arguments: [
        ("/auth/ios/sign-in?prompt=never", 400, "bad_request"),
        ("/auth/ios/sign-in?return_to=//evil.example", 400, "bad_request"),
        ("/auth/ios/sign-in?return_to=%2Fios&return_to=%2Fmacos", 400, "bad_request"),
        ("/auth/ios/sign-in?claims=x", 400, "bad_request"),
        ("/auth/ios/sign-in?login_hint=%00", 400, "bad_request"),
        ("/auth/android/sign-in", 404, "not_found"),
        ("/auth/callback", 400, "bad_request"),
        ("/auth/callback?state=x", 400, "bad_request"),
        ("/auth/callback?state=x&code=y&error=z", 400, "bad_request"),
        ("/auth/callback?state=x&state=y&code=z", 400, "bad_request"),
        ("/auth/callback?state=x&code=y", 400, "state_mismatch"),
        ("/auth/callback?state=x&error=access_denied", 400, "state_mismatch"),
        ("/auth/callback?resume=x", 400, "state_mismatch"),
        ("/api/ios/me", 401, "interaction_required"),
        ("/api/android/me", 404, "not_found"),
        ("/nothing", 404, "not_found"),
        ("/ios.html", 404, "not_found"),
        ("/languages/demo/sv.json", 404, "not_found"),
        ("/assets/../companion.key", 404, "not_found"),
        ("/auth/ios/sign-out", 405, "method_not_allowed"),
    ])
    func `a request that cannot be served gets a stable error code`(path: String, status: Int, code: String)
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            let answer = try await visitor.api(.get, path)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.code == code)
            #expect(answer.fields[.contentType] == "application/problem+json")
            let page = try await visitor.get(path)
            #expect(page.status == status)
            #expect(page.fields[.contentType]?.hasPrefix("text/html") == true)
            #expect(page.text.contains(code))
            #expect(!page.text.contains("{{"))
        }
    }

    @Test(arguments: [
        "/", "/ios", "/macos", "/assets/styles/companion.css", "/assets/scripts/base/common.js",
        "/assets/pictures/favicon.svg", "/api/device", "/nothing", "/auth/callback", "/healthz",
    ])
    func `every answer forbids guessing its type, sends no referrer and is for our pages only`(path: String)
        async throws
    {
        try await Site.run { site in
            let fields = try await Visitor(site).get(path).fields
            #expect(fields[.xContentTypeOptions] == "nosniff")
            #expect(fields[.referrerPolicy] == "no-referrer")
            #expect(fields[.crossOriginResourcePolicy] == "same-origin")
        }
    }

    @Test(arguments: [
        ("/assets/styles/companion.css", false), ("/assets/scripts/base/common.js", false), ("/api/device", false),
        ("/healthz", false), ("/assets/pictures/favicon.svg", true),
    ])
    func `what is no document has no policy of documents, but pictures that could have scripts forbid them`(
        path: String, isGuarded: Bool
    ) async throws {
        try await Site.run { site in
            let fields = try await Visitor(site).get(path).fields
            #expect(fields[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == (isGuarded ? true : nil))
            #expect(fields[.permissionsPolicy] == nil && fields[.crossOriginOpenerPolicy] == nil)
        }
    }

    @Test(arguments: ["/", "/ios", "/macos", "/nothing", "/auth/callback"])
    func `every document carries the security headers`(path: String) async throws {
        try await Site.run { site in
            let fields = try await Visitor(site).get(path).fields
            let policy = try #require(fields[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe-"))
            #expect(fields[.xContentTypeOptions] == "nosniff")
            #expect(fields[.referrerPolicy] == "no-referrer")
            let features = try #require(fields[.permissionsPolicy]).split(separator: ", ")
            #expect(features.contains("camera=()") && features.contains("geolocation=()"))
            #expect(features.allSatisfy { $0.wholeMatch(of: /[a-z-]+=\(\)/) != nil })
            #expect(!features.contains("clipboard-write=()"), "the pages copy")
            #expect(fields[.strictTransportSecurity] == nil, "only on https")
        }
    }

    @Test(arguments: ["/", "/ios", "/assets/pictures/favicon.svg", "/nothing"])
    func `a page loads and runs only files of ours, and its scripts cannot turn text into HTML`(
        path: String
    ) async throws {
        try await Site.run { site in
            let fields = try await Visitor(site).get(path).fields
            let directives = try #require(fields[.contentSecurityPolicy]).split(separator: ";").map {
                $0.split(separator: " ").map(String.init)
            }
            let policy = Dictionary(directives.map { ($0[0], Array($0.dropFirst())) }) { _, _ in [] }
            for name in ["default-src", "base-uri", "frame-ancestors", "trusted-types"] {
                #expect(policy[name] == ["'none'"], "\(name)")
            }
            for name in ["script-src", "style-src", "connect-src", "img-src", "form-action"] {
                #expect(policy[name] == ["'self'"], "\(name)")
            }
            #expect(policy["require-trusted-types-for"] == ["'script'"])
            #expect(policy.count == 10, "nothing else is allowed")
        }
    }

    @Test func `an https site has a host-bound secure cookie`() async throws {
        try await Site.run(configured: { $0.publicURL = (try? PublicURL("https://localhost:1")) ?? $0.publicURL }) {
            site in
            let answer = try await Visitor(site).get("/auth/ios/sign-in")
            let cookies = answer.fields[values: .setCookie]
            let names = cookies.map { $0.prefix { $0 != "=" } }
            #expect(names.count == 2 && names[0].hasPrefix("__Secure-companion-attempt-"))
            #expect(names.last == "__Host-companion-mark")
            for cookie in cookies {
                #expect(cookie.contains("; Secure"))
                #expect(cookie.contains("; HttpOnly"))
                #expect(cookie.contains("; SameSite=Lax"))
                #expect(cookie.contains("; Path=/"))
                #expect(!cookie.contains("Domain"))
            }
            #expect(answer.fields[.strictTransportSecurity] == nil, "a browser would keep it for the whole machine")
        }
    }

    @Test(arguments: [
        ("https://companion.example", true), ("https://companion.localhost", false), ("https://127.0.0.1:8443", false),
        ("https://[::1]", false), ("http://localhost:8080", false),
    ])
    func `HSTS is for names of other machines`(url: String, isSent: Bool) async throws {
        try await Site.run(configured: { $0.publicURL = try PublicURL(url) }) { site in
            let fields = try await Visitor(site).get("/ios").fields
            #expect(fields[.strictTransportSecurity] == (isSent ? "max-age=31536000" : nil))
        }
    }

    @Test func `a person at 127.0.0.1 is taken to the name with which the cookies work`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let page = try await visitor.send(
                .get, "http://127.0.0.1:\(site.port)/ios", headers: [.secFetchMode: "navigate"])
            #expect(page.location == site.origin + "/ios")
            let begin = try await visitor.get("http://127.0.0.1:\(site.port)/auth/ios/sign-in?prompt=login")
            #expect(begin.location == site.origin + "/auth/ios/sign-in?prompt=login")
            #expect(try await visitor.send(.get, "http://127.0.0.1:\(site.port)/ios").status == 200, "a script")
        }
    }

    @Test func `the page that began a sign-in shows that the provider cannot be reached`() async throws {
        try await Site.run(configured: { configuration in
            for index in configuration.applications.indices {
                configuration.applications[index].authority = .unreachable
            }
        }) { site in
            let answer = try await Visitor(site).get("/auth/ios/sign-in?return_to=%2Fios")
            #expect(answer.location?.hasPrefix("/ios?sign_in_error=provider_unavailable") == true)
            #expect(try await Visitor(site).api(.get, "/auth/ios/sign-in").code == "provider_unavailable")
        }
    }

    @Test func `the server reports health, and readiness after a write`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let health = try await visitor.api(.get, "/healthz")
            #expect(health.json["status"] as? String == "ok")
            let readiness = try await visitor.api(.get, "/readyz")
            #expect(readiness.status == 200)
        }
    }

    @Test(arguments: [
        ("/macso", "/macos"), ("/ois", "/ios"), ("/Native", "/native"),
        ("/native/mpa", "/native/map"), ("/auth/sign-out", nil),
        ("/kiosks", nil), ("/truht", "/truth"), ("/past", "/paste"),
        ("/" + String(repeating: "native/", count: 200), nil),
    ])
    func `the address of a page that is misspelt names the nearest page`(path: String, page: String?) async throws {
        for prefix in ["", "/sign-in"] {
            try await Site.run(below: prefix, configured: { _ in }) { site in
                let plain = "There is nothing at this address."
                let found = try await Visitor(site).send(.get, prefix + path, headers: [.accept: "text/html"])
                let address = site.configuration.publicURL.address
                let sentence = page.map { "\(plain) Did you mean \(address)\($0)?" } ?? plain
                #expect(found.status == 404 && found.text.contains("<p>\(sentence)</p>"), "\(found.text)")
                #expect(try await Visitor(site).api(.get, prefix + path).json["detail"] as? String == plain)
            }
        }
    }
}

extension Authority {
    /// A loopback port at which nobody listens.
    fileprivate static var unreachable: Authority {
        guard let authority = try? Authority("http://localhost:1/common") else { preconditionFailure("a literal") }
        return authority
    }
}

@Suite struct RequestBodyTests {
    @Test(arguments: [
        ("plain", #"{"language":"ja"}"#, 204),
        ("an escaped backslash before a u", #"{"language":"ja","a\\u0061":1}"#, 204),
        ("an escape", #"{"language":"j\u0061"}"#, 400),
        ("an escape in a name", #"{"language":"ja","\u0301\u0323":1}"#, 400),
        ("a character beyond ASCII", #"{"language":"ja","é":1}"#, 400),
    ])
    func `a JSON body is ASCII without escapes of characters`(row: String, body: String, status: Int) async throws {
        try await Site.run { site in
            let answer = try await Visitor(site).api(.post, "/api/language", body: body)
            #expect(answer.status == status, "\(row)")
            #expect(answer.code == (status == 400 ? "bad_request" : nil), "\(row)")
        }
    }
}
