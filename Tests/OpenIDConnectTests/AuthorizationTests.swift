import Foundation
import Testing

@testable import OpenIDConnect

@Suite("Requests to the provider's pages")
struct AuthorizationTests {
    static let standard = [
        "client_id": clientID, "response_type": "code", "redirect_uri": "http://localhost:8080/auth/callback",
        "response_mode": "query", "scope": "User.Read openid profile offline_access", "state": attempt.state,
        "nonce": attempt.nonce, "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256", "client_info": "1",
    ]

    /// A request, and the parameters that it adds or changes.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let request: AuthorizationRequest
        let parameters: [String: String]
        var capabilities: [String] = []
    }

    static let rows: [Row] = [
        .init(testDescription: "nothing asked for", request: .init(), parameters: [:]),
        .init(
            testDescription: "account picker", request: .init(prompt: .selectAccount),
            parameters: ["prompt": "select_account"]),
        .init(
            testDescription: "account picker drops the login hint",
            request: .init(prompt: .selectAccount, loginHint: "adele@contoso.example"),
            parameters: ["prompt": "select_account"]),
        .init(
            testDescription: "login hint alone", request: .init(loginHint: "adele+x@contoso.example"),
            parameters: ["login_hint": "adele+x@contoso.example"]),
        .init(
            testDescription: "login hint beside login", request: .init(prompt: .login, loginHint: "a b&c=d"),
            parameters: ["prompt": "login", "login_hint": "a b&c=d"]),
        .init(
            testDescription: "silent", request: .init(prompt: Prompt.none, loginHint: "a"),
            parameters: ["prompt": "none", "login_hint": "a"]),
        .init(testDescription: "empty hints", request: .init(loginHint: "", domainHint: ""), parameters: [:]),
        .init(
            testDescription: "domain hint", request: .init(prompt: .selectAccount, domainHint: "contoso.example"),
            parameters: ["prompt": "select_account", "domain_hint": "contoso.example"]),
        .init(
            testDescription: "other scopes, each once", request: .init(scopes: ["Mail.Read", "openid", "Mail.Read"]),
            parameters: ["scope": "Mail.Read openid profile offline_access"]),
        .init(
            testDescription: "form post", request: .init(responseMode: .formPost),
            parameters: ["response_mode": "form_post"]),
        .init(
            testDescription: "claims", request: .init(claims: ClaimsRequest(json: #"{ "id_token": { "acr": null } }"#)),
            parameters: ["claims": #"{"id_token":{"acr":null}}"#]),
        .init(
            testDescription: "capabilities", request: .init(),
            parameters: ["claims": #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#], capabilities: ["cp1"]),
        .init(
            testDescription: "challenge merged with capabilities",
            request: .init(claims: ClaimsRequest(json: #"{"access_token":{"nbf":{"essential":true,"value":"1"}}}"#)),
            parameters: [
                "claims": #"{"access_token":{"nbf":{"essential":true,"value":"1"},"xms_cc":{"values":["cp1"]}}}"#
            ],
            capabilities: ["cp1"]),
    ]

    @Test(arguments: rows)
    func `the authorization URL has the request's parameters`(_ row: Row) async throws {
        let metadata = try await metadata()
        let url = row.request.url(
            metadata: metadata, registration: registration(clientCapabilities: row.capabilities), attempt: attempt)
        let components = try #require(URLComponents(string: url))
        #expect(url.hasPrefix("\(origin)/common/oauth2/v2.0/authorize?"))
        let items = try #require(components.queryItems)
        let parameters = Dictionary(items.map { ($0.name, $0.value ?? "") }) { "\($0) and \($1)" }
        #expect(parameters == Self.standard.merging(row.parameters) { $1 })
        #expect(!url.contains(attempt.codeVerifier))
        #expect(!url.contains("+"))
    }

    @Test func `the authorization URL keeps the query that the endpoint already has`() async throws {
        let metadata = try await metadata(["authorization_endpoint": "\(origin)/authorize?p=b2c_1_susi"])
        let url = AuthorizationRequest().url(metadata: metadata, registration: registration(), attempt: attempt)
        #expect(url.hasPrefix("\(origin)/authorize?p=b2c_1_susi&client_id=\(clientID)&response_type=code&"))
    }

    @Test(
        arguments: [
            (LogoutRequest(), "client_id=\(clientID)"),
            (
                LogoutRequest(postLogoutRedirectURI: "http://localhost:8080/auth/signed-out"),
                "client_id=\(clientID)&post_logout_redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fauth%2Fsigned-out"
            ),
            (LogoutRequest(logoutHint: "O.a b"), "client_id=\(clientID)&logout_hint=O.a%20b"),
        ])
    func `the logout URL has the request's parameters`(_ request: LogoutRequest, _ query: String) async throws {
        let url = try await request.url(metadata: metadata(), registration: registration())
        #expect(url == "\(origin)/common/oauth2/v2.0/logout?\(query)")
    }

    @Test(
        arguments: [
            ("common", nil, "organizations"), ("organizations", nil, "organizations"), (tenantID, nil, tenantID),
            ("common", "contoso.example", "contoso.example"), (tenantID, otherTenantID, otherTenantID),
        ] as [(String, String?, String)])
    func `admin consent goes to a tenant or to organizations, never to common`(
        _ segment: String, _ tenant: String?, _ expected: String
    ) throws {
        let request = try AdminConsentRequest(authority: Authority("\(origin)/\(segment)"), tenant: tenant)
        #expect(
            request.url(registration: registration(), attempt: attempt)
                == "\(origin)/\(expected)/v2.0/adminconsent?client_id=\(clientID)&scope=User.Read"
                + "&redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fauth%2Fcallback&state=\(attempt.state)")
    }

    @Test(
        arguments: [
            ("common", "common"), ("common", "consumers"), ("consumers", nil), ("common", "a/b"), ("common", "x.y?z"),
            ("common", ""),
            ("common", "@evil.example"), ("common", "../x.y"),
        ] as [(String, String?)])
    func `admin consent for something that is no tenant is refused`(_ segment: String, _ tenant: String?) throws {
        let authority = try Authority("\(origin)/\(segment)")
        #expect(throws: AuthorityError.self) { try AdminConsentRequest(authority: authority, tenant: tenant) }
    }

    @Test func `an attempt's secrets have 256 bits each, differ, and are not printed`() {
        let attempt = AuthorizationAttempt { count in [UInt8](repeating: 0xFB, count: count) }
        #expect(attempt.state == "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s")
        #expect(attempt.codeVerifier.utf8.count == 43)
        let other = AuthorizationAttempt { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }
        #expect(Set([other.state, other.nonce, other.codeVerifier]).count == 3)
        var dumped = ""
        dump(other, to: &dumped)
        for text in [dumped, "\(other)", String(reflecting: other)] {
            #expect(!text.contains(other.state) && !text.contains(other.nonce) && !text.contains(other.codeVerifier))
        }
    }

    @Test(
        arguments: [
            "", "null", "[]", "{", #"{"a":1,"a":2}"#, #"{"a":"\#(String(repeating: "x", count: 8192))"}"#,
        ])
    func `claims requests that are no JSON object are refused`(_ text: String) {
        #expect(ClaimsRequest(json: text) == nil)
    }

    private func metadata(_ changes: [String: Any] = [:]) async throws -> ProviderMetadata {
        let provider = try TestProvider(discovery: changes)
        return try await provider.directory().metadata(for: provider.authority)
    }
}
