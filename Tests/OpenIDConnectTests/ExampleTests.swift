import Cryptography
import Foundation
import Synchronization
import Testing
import WebFormats

@testable import OpenIDConnect

/// The program that the library's documentation shows, with a provider that really signs.
@Suite struct ExampleTests {
    /// A change to what the provider answers, and what comes of it.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var error: OpenIDError.Code?
        var callback: @Sendable (String) -> String = { "code=the-code&state=\($0)" }
        var token: @Sendable (inout TestToken) -> Void = { _ in }
    }

    static let rows: [Row] = [
        Row(testDescription: "all is well"),
        Row(testDescription: "another browser's callback", error: .stateMismatch, callback: { "code=c&state=\($0)x" }),
        Row(
            testDescription: "the person cancels", error: .cancelled,
            callback: { "error=access_denied&state=\($0)" }),
        Row(testDescription: "another sign-in's token", error: .nonceMismatch, token: { $0.claims["nonce"] = "n" }),
        Row(testDescription: "another's signature", error: .invalidIDToken, token: { $0.signature = .otherRSAKey }),
        Row(testDescription: "another client's token", error: .invalidIDToken, token: { $0.claims["aud"] = "b" }),
    ]

    @Test(arguments: rows)
    func `a person signs in, and only with a token that passes every check`(row: Row) async throws {
        let provider = try TestProvider()
        let sent = Mutex([String: String]())
        func browse(_ url: String) throws -> String {
            let endpoint = try #require(Endpoint(url))
            #expect(endpoint.origin + endpoint.path == "\(origin)/common/oauth2/v2.0/authorize")
            let fields = try FormFields(query: try #require(endpoint.query)).fields
            sent.withLock { $0 = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) }) }
            return row.callback(try #require(sent.withLock { $0["state"] }))
        }
        let exchange: ProviderDirectory.Transport = { request in
            guard request.head.path == "/common/oauth2/v2.0/token" else { return try await provider.answer(request) }
            let form = try FormFields(body: request.body)
            #expect(form["grant_type"] == "authorization_code" && form["code"] == "the-code")
            let challenge = Base64URL.encode(SHA256.hash(data: Array((form["code_verifier"] ?? "").utf8)))
            #expect(challenge == sent.withLock { $0["code_challenge"] })
            var token = TestToken(nonce: sent.withLock { $0["nonce"] })
            let time = Int(Date.now.timeIntervalSince1970)
            token.claims.merge(["iat": time, "nbf": time, "exp": time + 60, "groups": ["staff", "fire"]]) { $1 }
            row.token(&token)
            return try tokenAnswer(idToken: token.text())
        }
        do {
            let person = try await signIn(clientID: clientID, exchange: exchange, browse: browse)
            #expect(person == "adele@contoso.example, groups: staff, fire")
            #expect(row.error == nil)
        } catch let error as OpenIDError {
            #expect(error.code == row.error)
        }
    }

    @Test func `the documentation shows the example as it is`() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: here.appending(path: "OpenIDConnectExample.swift"), encoding: .utf8)
        let article = try String(
            contentsOf: here.appending(
                path: "../../Sources/Identity/OpenIDConnect/OpenIDConnect.docc/OpenIDConnect.md"),
            encoding: .utf8)
        #expect(article.contains("```swift\n\(example)```\n"))
    }

    @Test(arguments: ["Wire/HTTPWire", "Identity/OpenIDConnect", "Wire/WebFormats", "Wire/Expiring"])
    func `a library does not speak of the product`(library: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/\(library)").standardizedFileURL
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard ["swift", "md"].contains(file.pathExtension) else { continue }
            count += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            let words = /(?i)companion|public_url|client_secret_file|the product\b|this page|the page\b/
            for match in text.matches(of: words) {
                Issue.record("\(file.lastPathComponent): \(match.output)")
            }
        }
        #expect(count > 1)
    }
}
