import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// Security law 1: after sign-ins, refreshes and failures, no secret is where it does not belong.
@Suite struct SecretsTests {
    @Test(arguments: [("post", false), ("post", true), ("basic", false), ("federated", false)])
    func `every secret of a run is where it has to be, and nowhere else`(credential: String, isDemo: Bool) async throws
    {
        let file = TemporaryFolder.ofProcess.appendingPathComponent("credential-\(UUID().uuidString)")
        let federated = "a-token-of-another-system-\(UUID().uuidString)"
        try Data(federated.utf8).write(to: file)
        try await Site.run(
            registered: { if credential == "federated" { $0.federatedToken = federated } },
            configured: { configuration in
                if isDemo {
                    configuration.demoControlURL = configuration.applications[0].api.map { $0.origin + "/control" }
                }
                for index in configuration.applications.indices where credential != "post" {
                    configuration.applications[index].credential =
                        credential == "basic"
                        ? .fixed(.secret("the-client-secret-of-the-test", method: .basic))
                        : .federatedTokenFile(file.path)
                }
            }
        ) { site in
            let visitor = Visitor(site)
            var files: [(name: String, data: Data)] = []
            func lookAtFiles() throws {
                for name in try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
                where name.contains("sqlite") {
                    files.append((name, try Data(contentsOf: site.folder.appendingPathComponent(name))))
                }
            }
            try await signInAndFail(site, visitor)
            try lookAtFiles()
            let logoutTokens = try await signOut(site, visitor)
            try lookAtFiles()
            #expect(files.contains { $0.name.hasSuffix("-wal") })

            var secrets = Secrets(site.traffic)
            secrets.collectCookies(of: visitor)
            for token in logoutTokens { secrets.add(.logoutToken, token) }
            // A run that does not have them all proves nothing.
            for (kind, count): (Secret, Int) in [
                (.code, 8), (.state, 10), (.nonce, 8), (.codeVerifier, 8), (.accessToken, 6), (.refreshToken, 6),
                (.idToken, 6), (.clientCredential, 1), (.cookie, 4), (.logoutToken, 2),
            ] {
                #expect(secrets.count(of: kind) >= count, "\(kind): \(secrets.count(of: kind))")
            }

            let log = site.log.all.joined(separator: "\n")
            #expect(log.contains("/auth/callback"), "the log was at trace level")
            secrets.expectNone(in: log, "the log")
            for (name, data) in files { secrets.expectNone(in: data, "the file \(name)") }
            for answer in visitor.everything where answer.url.hasPrefix(site.origin) {
                secrets.expectNone(in: answer, of: site, isDemo: isDemo)
            }
            // In the demo the steps of a sign-in that is over have what it used up, and no token.
            let steps = visitor.everything.filter { $0.url.hasSuffix("/events") }
            #expect(steps.contains { $0.text.contains("code_verifier") } == isDemo)
            for exchange in site.traffic.all where exchange.request.head[.userAgent]?.hasPrefix("companion/") == true {
                secrets.expectNone(inHeadOf: exchange.request)
            }
        }
    }

    /// Sign-ins and renewals that work, and every way for them not to, with providers that quote what they were sent.
    private func signInAndFail(_ site: Site, _ visitor: Visitor) async throws {
        try await site.control(#"{"access_token_seconds": 1200}"#)
        let apps = [
            ("ios", "adele@contoso.example"), ("b2c", "b2cuser@fabrikamb2c.example"),
            ("provider", "adele@contoso.example"),
        ]
        for (app, username) in apps {
            let begun = try await visitor.walkToCallback(app: app, username: username)
            let callback = try #require(begun.location)
            #expect(try await visitor.get(callback).location == "/\(app)")
            // The same again, and in another browser.
            _ = try await visitor.get(callback)
            _ = try await Visitor(site).get(callback)
        }
        // As a form, of which the first is somebody else's.
        let form = try #require(try await visitor.walkToCallback(query: "prompt=login").location)
        for body in [
            "code=\(String(repeating: "c", count: 40))&state=\(String(repeating: "s", count: 40))", query(form),
        ] {
            let posted = try await visitor.send(
                .post, "/auth/callback", headers: [.contentType: "application/x-www-form-urlencoded"], body: body)
            if let resumed = posted.location { _ = try await visitor.get(resumed) }
        }
        // Answers of the authorization endpoint that are errors, twisted or cut.
        let spare = try #require(try await visitor.walkToCallback(query: "prompt=login").location)
        let fields = URLComponents(string: spare)?.queryItems ?? []
        let (code, state) = (value("code", fields), value("state", fields))
        for twisted in [
            "state=\(state)&state=\(state)&code=\(code)", "code=\(code)", "state=\(state)x&code=\(code)",
            "code=\(code)&state=\(state)&iss=\(code)",
            "error=\(code)&error_description=\(state)%20\(code)&suberror=\(state)&state=\(state)",
            "error=access_denied&error_description=\(state)%20\(code)&state=\(state)",
        ] {
            _ = try await visitor.get("/auth/callback?" + twisted)
        }
        try await site.control(#"{"require_consent": "adele@contoso.example"}"#)
        try await visitor.signIn(query: "prompt=select_account", consent: "cancel")
        for fault in ["nonce", "signature", "audience"] {
            try await site.control(#"{"bad_id_token": "\#(fault)"}"#)
            try await visitor.signIn(app: "macos")
        }
        // The token endpoint quotes what it got, for a code and for a refresh token.
        for answer in ["refusal", "names", "page", "malformed", "tokens", "outage"] {
            try await site.control(#"{"token_error": \#(try quotation(answer, site))}"#)
            try await visitor.signIn(app: "macos", query: "prompt=login")
            try await site.control(#"{"token_error": \#(try quotation(answer, site))}"#)
            let token = try await visitor.api(.post, "/api/b2c/token", body: #"{"force_refresh": true}"#)
            #expect(token.status >= 400, "\(answer)")
        }
        try await site.control(#"{"close_connection": "token"}"#)
        #expect(try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#).status == 503)
        try await site.control(#"{"reset": true, "access_token_seconds": 1200}"#)
        site.clock.advance(1300)
        #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        // The API quotes the token that it refuses.
        let refused = try #require(site.traffic.all.last { $0.request.head[.authorization] != nil })
        let quoted = (refused.request.head[.authorization] ?? "").dropFirst("Bearer ".count)
        let body = #"{"error": {"code": "InvalidAuthenticationToken"}}"#
        let challenge = #"Bearer error=\"invalid_token\", error_description=\"\#(quoted)\""#
        try await site.control(
            #"{"graph_error": {"status": 401, "body": \#(body), "headers": {"WWW-Authenticate": "\#(challenge)"}, "times": 2}}"#
        )
        #expect(try await visitor.api(.get, "/api/ios/me").status == 401)
        #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
        for path in [
            "/api/attempts", "/api/apps", "/api/ios/events", "/api/b2c/events", "/api/ios/tokens", "/api/ios/claims",
            "/api/ios/accounts", "/api/macos/sign-in-failure", "/metrics", "/readyz", "/ios",
        ] {
            #expect(try await visitor.api(.get, path).status == 200, "\(path)")
        }
    }

    /// Every end of a session, and the tokens by which the provider asks for one.
    private func signOut(_ site: Site, _ visitor: Visitor) async throws -> [String] {
        let tenant = "http://localhost:\(site.tenantPort)"
        for app in ["b2c", "provider"] {
            let out = try await visitor.api(.post, "/auth/\(app)/sign-out", body: #"{"browser":true}"#)
            let redirect = try #require(out.json["redirect"] as? String)
            #expect(redirect.contains("id_token_hint=eyJ"), "this kind of provider wants it")
            _ = try await visitor.get(redirect)
        }
        let path = "/control/logout-token?username=adele@contoso.example&client_id=11111111-2222-4333-8444-555555555555"
        var tokens: [String] = []
        for _ in 0..<2 { tokens.append(try await Visitor(site).get(tenant + path).text) }
        for body in [tokens[0], tokens[0], tokens[1] + "x"] {
            _ = try await visitor.send(
                .post, "/auth/back-channel-logout", headers: [.contentType: "application/x-www-form-urlencoded"],
                body: "logout_token=" + body)
        }
        try await visitor.signIn()
        #expect(try await visitor.api(.post, "/auth/ios/sign-out", body: "{}").status == 200)
        return tokens
    }

    private func value(_ name: String, _ fields: [URLQueryItem]) -> String {
        fields.first { $0.name == name }?.value ?? ""
    }

    private func query(_ address: String) -> String { String(address.drop { $0 != "?" }.dropFirst()) }

    /// An answer of a token endpoint in which the latest secrets of the run stand.
    private func quotation(_ kind: String, _ site: Site) throws -> String {
        let secrets = Secrets(site.traffic)
        let (verifier, refresh) = (secrets.latest(.codeVerifier), secrets.latest(.refreshToken))
        let (access, idToken) = (secrets.latest(.accessToken), secrets.latest(.idToken))
        let all = [verifier, refresh, access, idToken, secrets.latest(.code), secrets.latest(.clientCredential)]
            .joined(separator: " ")
        return switch kind {
        case "refusal":
            #"{"status": 400, "body": {"error": "invalid_grant", "error_description": "AADSTS70000: \#(all)"}}"#
        case "names":
            #"{"status": 400, "body": {"error": "\#(verifier)", "suberror": "\#(refresh)", "trace_id": "\#(verifier)", "#
                + #""correlation_id": "\#(verifier)", "timestamp": "\#(verifier)", "claims": "\#(verifier)"}}"#
        case "page": #"{"status": 200, "body": "<p>\#(all)</p>", "headers": {"Content-Type": "text/html"}}"#
        case "malformed":
            #"{"status": 200, "body": {"access_token": "\#(access)", "token_type": "\#(refresh)", "scope": 7, "id_token": "\#(refresh)"}}"#
        case "tokens":
            #"{"status": 200, "body": {"access_token": "\#(access)", "token_type": "Bearer", "expires_in": 3600, "#
                + #""refresh_token": "\#(refresh)", "id_token": "\#(idToken)x"}}"#
        default:
            #"{"status": 503, "body": "\#(all)", "headers": {"X-Error": "\#(refresh)"}}"#
        }
    }

    @Test func `a token is shown whole only when the operator asked for it`() async throws {
        try await Site.run(configured: { $0.tokenDisplay = .full }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let token = try await visitor.api(.post, "/api/ios/token").json["token"] as? String
            #expect(token?.split(separator: ".").count == 3)
        }
        try await Site.run(configured: { $0.tokenDisplay = .hidden }) { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            #expect(try await visitor.api(.post, "/api/ios/token").json["token"] is NSNull)
        }
    }
}
