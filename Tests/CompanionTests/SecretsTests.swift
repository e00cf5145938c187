import Foundation
import HTTPTypes
import Testing

@testable import Companion

/// Security law 1: after sign-ins, refreshes and failures, no secret is where it does not belong.
@Suite struct SecretsTests {
    @Test func `no token, code, verifier, nonce or cookie value is in files, logs or what the browser got`()
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            var secrets: [String: [String]] = [:]
            try await site.control(#"{"access_token_seconds": 1200}"#)

            // A sign-in that works, one that is declined, one with a wrong ID token, refreshes, and a provider that fails.
            for consent in ["accept", "cancel"] {
                if consent == "cancel" { try await site.control(#"{"require_consent": "adele@contoso.example"}"#) }
                let begun = try await visitor.walkToCallback(query: "prompt=select_account", consent: consent)
                let location = try #require(begun.location)
                _ = try await visitor.get(location)
                secrets.collect(location)
            }
            try await site.control(#"{"bad_id_token": "nonce"}"#)
            try await visitor.signIn(app: "macos")
            site.clock.advance(1300)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200)
            site.clock.advance(1300)
            try await site.control(#"{"token_error": {"status": 503, "body": "down", "times": 1}}"#)
            #expect(try await visitor.api(.get, "/api/ios/me").status == 503)
            #expect(try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh": true}"#).status == 200)
            for path in [
                "/api/attempts", "/api/ios/events", "/api/ios/tokens", "/api/ios/claims", "/api/macos/sign-in-failure",
            ] {
                #expect(try await visitor.api(.get, path).status == 200, "\(path)")
            }
            for answer in visitor.everything {
                if let location = answer.location { secrets.collect(location) }
                for cookie in answer.fields[values: .setCookie] where cookie.hasPrefix("companion=") {
                    secrets["cookie", default: []].append(String(cookie.dropFirst(10).prefix { $0 != ";" }))
                }
            }
            #expect((secrets["code"] ?? []).count >= 2)
            #expect((secrets["nonce"] ?? []).count >= 2)
            #expect((secrets["state"] ?? []).count >= 2)
            #expect((secrets["cookie"] ?? []).count >= 2)

            let log = site.log.all.joined(separator: "\n")
            #expect(log.contains("/auth/callback"), "the log was at trace level")
            var places: [(String, Data)] = [("the log", Data(log.utf8))]
            for name in try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
            where name.contains("sqlite") {
                places.append((name, try Data(contentsOf: site.folder.appendingPathComponent(name))))
            }
            #expect(places.contains { $0.0.hasSuffix("-wal") })
            let ours = visitor.everything.filter { $0.url.hasPrefix(site.origin) }
            for answer in ours {
                places.append(("the body of \(answer.url.prefix(40))", Data(answer.body)))
            }
            for (kind, values) in secrets {
                for value in Set(values) where value.utf8.count >= 16 {
                    for (place, data) in places {
                        #expect(data.range(of: Data(value.utf8)) == nil, "a \(kind) in \(place)")
                    }
                }
            }
            // Tokens and verifiers never left the server, so that their form has to do: a JWT begins with {"…
            for (place, data) in places {
                let text = String(decoding: data, as: UTF8.self)
                #expect(text.firstMatch(of: /eyJ[A-Za-z0-9_-]{20,}/) == nil, "a JWT in \(place)")
            }
            for answer in ours {
                #expect(!(answer.location ?? "").contains("code_verifier"))
                let head = answer.fields.map(\.value).joined(separator: "\n")
                #expect(
                    head.firstMatch(of: /eyJ[A-Za-z0-9_-]{20,}/) == nil, "a JWT in the head of \(answer.url.prefix(40))"
                )
            }
        }
    }

    @Test func `the ID token leaves the server in the provider's sign-out address alone`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "b2c", username: "b2cuser@fabrikamb2c.example")
            var places: [(String, Data)] = []
            func look() throws {
                for name in try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
                where name.contains("sqlite") {
                    places.append((name, try Data(contentsOf: site.folder.appendingPathComponent(name))))
                }
            }
            try look()
            let out = try await visitor.api(.post, "/auth/b2c/sign-out", body: #"{"browser":true}"#)
            let redirect = try #require(out.json["redirect"] as? String)
            let token = try #require(redirect.firstMatch(of: /id_token_hint=([^&]+)/)?.output.1)
            #expect(token.hasPrefix("eyJ"))
            _ = try await visitor.get(redirect)
            try look()
            places.append(("the log", Data(site.log.all.joined(separator: "\n").utf8)))
            for answer in visitor.everything where answer.url.hasPrefix(site.origin) && answer.url != out.url {
                places.append(("the body of \(answer.url.prefix(40))", Data(answer.body)))
            }
            for (place, data) in places {
                #expect(data.range(of: Data(token.utf8)) == nil, "the ID token in \(place)")
            }
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

extension [String: [String]] {
    /// Keeps the secrets of an address: of an authorization request or of a callback.
    fileprivate mutating func collect(_ address: String) {
        for item in URLComponents(string: address)?.queryItems ?? [] {
            guard ["code", "nonce", "state", "code_challenge"].contains(item.name), let value = item.value else {
                continue
            }
            self[item.name, default: []].append(value)
        }
    }
}
