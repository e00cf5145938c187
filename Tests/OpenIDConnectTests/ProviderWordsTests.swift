import Foundation
import Testing
import WebFormats

@testable import OpenIDConnect

/// A provider's own words about an error, which may quote what it was sent.
@Suite("A provider's words")
struct ProviderWordsTests {
    static let values = SentValues(attempt, client: client(.secret("s3cr%t word")), loginHint: "adele@contoso.example")

    @Test(
        arguments: [
            ("consent in prompt", "consent in prompt"),
            ("  two\r\nlines\tand\u{0}a\u{202E}turn ", "two lines and a turn"),
            ("\(attempt.state) was not found", "… was not found"),
            ("for adele@contoso.example: no", "for …: no"),
            ("secret s3cr%t word is wrong", "secret … is wrong"),
            ("secret s3cr%25t%20word is wrong", "secret … is wrong"),
            ("secret s3cr%t\u{0}word is wrong", "secret … is wrong"),
            ("\(attempt.nonce)\u{301} and \(attempt.codeVerifier)", "…\u{301} and …"),
            ("\(attempt.nonce)\(attempt.nonce)", "……"),
            ("redirect_uri http://localhost:8080/auth/callback", "redirect_uri http://localhost:8080/auth/callback"),
            ("piece \(attempt.nonce.dropLast(3)).", "piece …"),
            ("of \(attempt.nonce.prefix(5))", "of \(attempt.nonce.prefix(5))"),
            ("AADSTS1: No.\r\nTrace ID: 1", "AADSTS1: No."), ("", nil), (" \n\u{7F}", nil),
            (String(repeating: "x", count: 20_000), String(repeating: "x", count: 300) + "…"),
            (String(repeating: "é", count: 300), String(repeating: "é", count: 300)),
            (String(repeating: "é", count: 301), String(repeating: "é", count: 300) + "…"),
        ] as [(String, String?)])
    func `words are one line, short, and without what was sent`(_ description: String, _ expected: String?) {
        #expect(Self.values.words(of: description) == expected)
    }

    @Test func `a value at the end of what is kept is not cut in two`() throws {
        for count in 270...300 {
            let words = try #require(Self.values.words(of: String(repeating: "x", count: count) + attempt.state))
            #expect(words.unicodeScalars.allSatisfy { $0 == "x" || $0 == "…" }, "\(words)")
        }
    }

    private func error(
        _ authentication: ClientAuthentication, kind: Authority.Kind = .oidc,
        quoting fields: (ProviderRequest) throws -> String
    ) async throws -> OpenIDError {
        let provider = try TestProvider(
            kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind,
            discovery: [
                "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
                "pushed_authorization_request_endpoint": KindTests.provider + "/par",
            ])
        let directory = provider.directory()
        let request = try await RefreshRequest(
            refreshToken: "the-refresh-token", account: KnownIdentity(issuer: "i", subject: "s", tenantID: nil),
            metadata: directory.metadata(for: provider.authority), client: client(authentication))
        let body = try json(["error": "invalid_request", "error_description": fields(request.providerRequest)])
        let error = await openIDError { () throws(OpenIDError) in
            _ = try request.answer(from: response(body, status: 400), directory: directory)
        }
        return try #require(error)
    }

    @Test(arguments: ["post", "basic", "either", "assertion"])
    func `a provider that quotes the whole token request says nothing secret`(method: String) async throws {
        let authentication: ClientAuthentication =
            switch method {
            case "post": .secret("the client's secret", method: .post)
            case "basic": .secret("the client's secret", method: .basic)
            case "either": .secret("the client's secret")
            default: .assertion("an-assertion")
            }
        let error = try await error(authentication) { request in
            let form = String(decoding: request.body, as: UTF8.self)
            let basic = request.head.headerFields[.authorization] ?? ""
            // A value that was not sent is none of ours.
            let own = method == "assertion" ? "an-assertion" : "the client's secret"
            return "\(form) \(basic) \(own), the-refresh-token"
        }
        let words = try #require(error.providerWords)
        for secret in ["the client's secret", "the-refresh-token", "an-assertion", "the%20client"] {
            #expect(!words.contains(secret), "\(words)")
        }
        #expect(words.contains("grant_type=refresh_token"), "\(words)")
        #expect(!error.description.contains("grant_type"), "the log has no words")
    }

    @Test func `where numbers explain an error there are no words`() async throws {
        let error = try await error(.secret("s"), kind: .workforce) { _ in "AADSTS70000: something" }
        #expect(error.providerWords == nil && error.aadsts == [70000])
    }

    @Test func `a callback's words come with the values that they must not contain, or not at all`() async throws {
        let provider = try TestProvider(KindTests.provider, kind: .oidc)
        let metadata = try await provider.directory().metadata(for: provider.authority)
        let query = "error=invalid_request&error_description=consent+in+prompt+\(attempt.nonce)&state=\(attempt.state)"
        for (sent, words) in [(Self.values, "consent in prompt …"), (nil, nil)] as [(SentValues?, String?)] {
            let error = await openIDError { () throws(OpenIDError) in
                try Callback(query: query).validated(against: attempt, metadata: metadata, sent: sent)
            }
            #expect(error?.code == .providerRejectedRequest)
            #expect(error?.providerWords == words)
        }
    }
}
