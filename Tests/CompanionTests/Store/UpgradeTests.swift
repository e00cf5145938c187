import Cryptography
import Foundation
import StoreTesting
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// A database of an earlier version's own program, and the people who were signed in there: see Tests/Upgrade/README.md.
@Suite struct UpgradeTests {
    @Test func `there is data of each store`() throws {
        let versions = Dictionary(grouping: try EarlierData.all.get(), by: \.version)
        #expect(versions.keys.sorted() == ["0.1.0", "0.2.0"])
        for (version, data) in versions {
            let backends = Set(data.map(\.backend))
            #expect(backends == Set([.sqlite, .postgres]).intersection(TestedBackend.allCases), "\(version)")
            #expect(data.allSatisfy { !$0.browsers.isEmpty }, "\(version)")
        }
    }

    @Test(arguments: try EarlierData.all.get())
    func `people stay signed in, and their tokens are renewed where they came from`(_ earlier: EarlierData) async throws
    {
        let fixture = try StoreFixture(earlier.backend)
        let client = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"
        try await Site.run(
            upgrading: earlier, registered: { $0.id = client },
            configured: { configuration in
                configuration.database = fixture.postgres.map { .postgres($0) } ?? .file(fixture.path)
                configuration.encryptionKey = .file(fixture.keyPath)
                configuration.tokenDisplay = .full
                let tenant = try #require(URLComponents(string: "\(configuration.applications[0].authority)")?.port)
                try fixture.restore(from: earlier.folder, renaming: (earlier.tenant, "localhost:\(tenant)"))
                // The older schema is named before it is brought up.
                let waiting = try configuration.place.migrate(isRehearsal: true)
                #expect(waiting.first?.hasPrefix("\(earlier.schema + 1): ") == true, "\(waiting)")
            }
        ) { site in
            #expect(try site.configuration.place.migrate(isRehearsal: true).last?.contains("up to date") == true)
            try await site.control(#"{"b2c_issuer_with_policy": true}"#)
            for browser in earlier.browsers {
                let visitor = Visitor(site)
                // In earlier versions the names had no port.
                for (name, value) in browser.cookies {
                    visitor.setCookie(visitor.cookieName + name.dropFirst("companion".count), value)
                }
                for (request, said) in browser.said.sorted(by: { $0.key < $1.key }) {
                    let answer = try await Self.answer(request, visitor)
                    let now = answer.replacing("localhost:\(site.tenantPort)", with: earlier.tenant)
                    #expect(now == said, "\(browser.name): \(request)")
                }
                try await Self.renew(browser, visitor, site)
                if let state = browser.stateUnderWay {
                    let late = try await visitor.api(.get, "/auth/callback?code=a&state=\(state)")
                    if earlier.version == "0.1.0" {
                        #expect(late.code == "state_mismatch", "it was a row of the database")
                    } else {
                        // The browser keeps it, so it goes on: the provider refuses this code.
                        #expect(late.location?.contains("sign_in_error=") == true, "\(late.status) \(late.text)")
                    }
                }
            }
        }
    }

    /// The answer's JSON without the registration, which events have had since 0.3.0; of a refusal its code.
    private static func answer(_ request: String, _ visitor: Visitor) async throws -> String {
        let words = request.split(separator: " ").map(String.init)
        let isPost = words[0] == "POST"
        let reply = try await visitor.api(isPost ? .post : .get, words[1], body: isPost ? "{}" : "")
        var json: [String: Any] = reply.status == 200 ? reply.json : ["code": reply.code ?? reply.text]
        json["client"] = nil
        return try EarlierData.text(json)
    }

    /// Each account that need not sign in again has its token renewed, with which its API answers.
    private static func renew(_ browser: EarlierData.Browser, _ visitor: Visitor, _ site: Site) async throws {
        for (request, said) in browser.said where request.hasSuffix("/account") {
            guard said.contains(#""needs_sign_in":null"#), !said.contains(#""account":null"#) else { continue }
            let app = String(request.split(separator: "/")[2])
            // A provider stays the same while the companion is upgraded; the tenant's B2C has other tokens than then.
            let (tenant, person) = ("9c2f6d1e-0b7a-4c53-b1f8-6e4d8a27c3f0", "2d8e5c19-7a60-4b3f-9e71-d4f0a6b83c52")
            let subject = Base64URL.encode(
                SHA256.hash(
                    data: Data("\(tenant)|\(person)|\(site.configuration.applications[0].registration.clientID)".utf8)))
            let claims = app == "b2c" ? #"{"tid":"\#(tenant)","sub":"\#(subject)"}"# : "{}"
            try await site.control(#"{"id_token_claims":\#(claims)}"#)
            let renewed = try await visitor.api(.post, "/api/\(app)/token", body: #"{"force_refresh":true}"#)
            #expect(renewed.json["source"] as? String == "refreshed", "\(browser.name): \(app) \(renewed.text)")
            let me = try await visitor.api(.get, "/api/\(app)/me").status
            #expect(me == 200, "\(browser.name): \(app)")
        }
    }
}
