import Foundation
import Testing

@testable import OpenIDConnect

@Suite("Logout, revocation and userinfo")
struct LogoutTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var fault: IDTokenFault?
        var change: @Sendable (inout TestToken) -> Void = { _ in }
    }

    private static let time = Int(testTime.timeIntervalSince1970)

    static let rows: [Row] = [
        Row(testDescription: "as the specification has it"),
        Row(testDescription: "with a session only", change: { $0.claims["sub"] = nil }),
        Row(testDescription: "with a person only", change: { $0.claims["sid"] = nil }),
        Row(testDescription: "without typ", change: { $0.header["typ"] = nil }),
        Row(testDescription: "with the typ JWT", change: { $0.header["typ"] = "JWT" }),
        Row(testDescription: "for us among others", change: { $0.claims["aud"] = ["other", clientID] }),
        Row(testDescription: "without expiry", fault: .malformed, change: { $0.claims["exp"] = nil }),
        Row(
            testDescription: "issued almost ten minutes ago",
            change: { token in
                token.claims["iat"] = time - 599
                token.claims["exp"] = time + 86_400
            }),
        Row(
            testDescription: "issued ten minutes ago, whenever it ends", fault: .expired,
            change: { token in
                token.claims["iat"] = time - 600
                token.claims["exp"] = time + 86_400
            }),
        Row(testDescription: "that ended within the leeway", change: { $0.claims["exp"] = time - 299 }),
        Row(testDescription: "from within the leeway of the future", change: { $0.claims["iat"] = time + 299 }),
        Row(
            testDescription: "with the typ of an access token", fault: .malformed,
            change: { $0.header["typ"] = "at+jwt" }),
        Row(testDescription: "with a nonce", fault: .nonce, change: { $0.claims["nonce"] = "n" }),
        Row(testDescription: "without events", fault: .malformed, change: { $0.claims["events"] = nil }),
        Row(
            testDescription: "with another event", fault: .malformed,
            change: { $0.claims["events"] = ["other": [:] as [String: String]] }),
        Row(
            testDescription: "whose event is no object", fault: .malformed,
            change: { $0.claims["events"] = [LogoutToken.event: 1] }),
        Row(testDescription: "without jti", fault: .malformed, change: { $0.claims["jti"] = nil }),
        Row(testDescription: "without iat", fault: .malformed, change: { $0.claims["iat"] = nil }),
        Row(
            testDescription: "about nobody", fault: .malformed,
            change: { token in
                token.claims["sub"] = nil
                token.claims["sid"] = nil
            }),
        Row(
            testDescription: "of another issuer", fault: .issuer, change: { $0.claims["iss"] = "https://evil.example" }),
        Row(testDescription: "for another client", fault: .audience, change: { $0.claims["aud"] = "other" }),
        Row(testDescription: "without audience", fault: .audience, change: { $0.claims["aud"] = nil }),
        Row(testDescription: "that has expired", fault: .expired, change: { $0.claims["exp"] = time - 301 }),
        Row(testDescription: "from the future", fault: .issuedInFuture, change: { $0.claims["iat"] = time + 301 }),
        Row(testDescription: "of an unknown key", fault: .unknownKey, change: { $0.header["kid"] = "rsa-2" }),
        Row(testDescription: "signed by another key", fault: .signature, change: { $0.signature = .otherRSAKey }),
        Row(
            testDescription: "not signed", fault: .algorithm,
            change: { token in
                token.header["alg"] = "none"
                token.signature = .none
            }),
    ]

    @Test(arguments: rows)
    func `a logout token is accepted, or refused for just one reason`(_ row: Row) async throws {
        let provider = try TestProvider(KindTests.provider, kind: .oidc)
        var token = TestToken()
        token.header["typ"] = "logout+jwt"
        token.claims = [
            "iss": KindTests.provider, "sub": "subject-1", "sid": "session-1", "aud": clientID, "jti": "id-1",
            "iat": Self.time, "exp": Self.time + 60, "events": [LogoutToken.event: [:] as [String: String]],
        ]
        row.change(&token)
        let (text, directory) = (try token.text(), provider.directory())
        let metadata = try await directory.metadata(for: provider.authority)
        let error = await openIDError { () async throws(OpenIDError) in
            let claims = try await LogoutToken.claims(
                of: text, metadata: metadata, registration: registration(), directory: directory)
            #expect(claims.tokenID == "id-1")
            #expect(claims.issuer == KindTests.provider)
            // As long as it is remembered, and no shorter, it would be taken again.
            let (issued, ends) = (token.claims["iat"] as? Int ?? 0, token.claims["exp"] as? Int ?? 0)
            #expect(claims.expiresOn == Date(timeIntervalSince1970: Double(min(issued + 600, ends + 300))))
        }
        #expect(error?.idTokenFault == row.fault)
    }

    @Test func `the logout URL carries what is known of the account`() async throws {
        let provider = try TestProvider(KindTests.provider, kind: .oidc)
        let metadata = try await provider.directory().metadata(for: provider.authority)
        let url = LogoutRequest(
            postLogoutRedirectURI: "http://localhost/out", logoutHint: "hint", idTokenHint: "a.b.c", state: "s t"
        ).url(metadata: metadata, registration: registration())
        #expect(
            url == KindTests.provider + "/oauth2/v2.0/logout?client_id=\(clientID)"
                + "&post_logout_redirect_uri=http%3A%2F%2Flocalhost%2Fout&logout_hint=hint&id_token_hint=a.b.c&state=s%20t"
        )
    }

    @Test func `revocation goes only where the provider says, and claims of another person are refused`() async throws {
        let none = try TestProvider()
        let without = try await none.directory().metadata(for: none.authority)
        #expect(try RevocationRequest(refreshToken: "r", metadata: without, client: client()) == nil)

        let some = try TestProvider(
            KindTests.provider, kind: .oidc,
            discovery: ["revocation_endpoint": "https://id.example.com/revoke"])
        let with = try await some.directory().metadata(for: some.authority)
        let revocation = try #require(
            try RevocationRequest(refreshToken: "r/1", metadata: with, client: client(.secret("s")))
        ).providerRequest
        #expect(revocation.head.path == "/revoke")
        #expect(String(decoding: revocation.body, as: UTF8.self) == "token=r%2F1&token_type_hint=refresh_token")
        #expect(UserInfo.isAbout(subject: "1", body: Array(#"{"sub":"1"}"#.utf8)))
        #expect(!UserInfo.isAbout(subject: "1", body: Array(#"{"sub":"2"}"#.utf8)))
        #expect(!UserInfo.isAbout(subject: "1", body: Array("<html>".utf8)))
    }
}
