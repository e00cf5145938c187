import Foundation
import Testing
import WebFormats

@testable import OpenIDConnect

@Suite("Answers of the token endpoint")
struct TokenAnswerTests {
    /// One error of the platform as its token endpoint sends it, and what becomes of it.
    struct PlatformError: CustomTestStringConvertible, Sendable {
        let error: String
        let number: Int
        var suberror: String?
        let code: OpenIDError.Code
        let isInteractionNeeded: Bool

        var testDescription: String { "AADSTS\(number) \(error) \(suberror ?? "")" }

        init(
            _ error: String, _ number: Int, _ code: OpenIDError.Code, interaction: Bool, suberror: String? = nil
        ) {
            self.error = error
            self.number = number
            self.suberror = suberror
            self.code = code
            isInteractionNeeded = interaction
        }
    }

    static let platformErrors: [PlatformError] = [
        .init("login_required", 50058, .interactionRequired, interaction: true),
        .init("interaction_required", 16000, .interactionRequired, interaction: true),
        .init("interaction_required", 50076, .interactionRequired, interaction: true, suberror: "basic_action"),
        .init("invalid_grant", 50076, .interactionRequired, interaction: true, suberror: "basic_action"),
        .init("interaction_required", 50079, .interactionRequired, interaction: true),
        .init("invalid_grant", 65001, .consentRequired, interaction: true, suberror: "consent_required"),
        .init("invalid_grant", 65001, .consentRequired, interaction: true),
        .init("consent_required", 65004, .consentRequired, interaction: true),
        .init("access_denied", 65004, .cancelled, interaction: false),
        .init("access_denied", 90094, .adminConsentRequired, interaction: false),
        .init("invalid_grant", 90094, .adminConsentRequired, interaction: true),
        .init("invalid_grant", 70008, .interactionRequired, interaction: true, suberror: "bad_token"),
        .init("invalid_grant", 700082, .interactionRequired, interaction: true, suberror: "bad_token"),
        .init("invalid_grant", 50173, .interactionRequired, interaction: true),
        .init("invalid_grant", 70043, .interactionRequired, interaction: true),
        .init("invalid_grant", 54005, .interactionRequired, interaction: true),
        .init("invalid_client", 50011, .providerRejectedClient, interaction: false),
        .init("invalid_client", 500112, .providerRejectedClient, interaction: false),
        .init("invalid_client", 7_000_218, .providerRejectedClient, interaction: false),
        .init("invalid_client", 700025, .providerRejectedClient, interaction: false),
        .init("invalid_client", 7_000_215, .providerRejectedClient, interaction: false),
        .init("invalid_client", 7_000_222, .providerRejectedClient, interaction: false),
        .init("invalid_client", 700027, .providerRejectedClient, interaction: false),
        // Whatever else an invalid_client says, it signs nobody out.
        .init("invalid_client", 65001, .providerRejectedClient, interaction: false, suberror: "bad_token"),
        .init("unauthorized_client", 700016, .providerRejectedClient, interaction: false),
        .init("invalid_request", 50194, .providerRejectedClient, interaction: false),
        .init("invalid_request", 50020, .accessDenied, interaction: false),
        .init("invalid_grant", 50020, .interactionRequired, interaction: true),
        .init("invalid_grant", 50105, .interactionRequired, interaction: true),
        .init("access_denied", 53003, .accessDenied, interaction: false),
        .init("invalid_grant", 53003, .interactionRequired, interaction: true, suberror: "message_only"),
        .init("invalid_grant", 50196, .interactionRequired, interaction: true),
        .init("invalid_scope", 70011, .providerRejectedRequest, interaction: false),
        .init("bad_token", 1, .interactionRequired, interaction: true),
        .init("something_new", 1, .interactionRequired, interaction: true, suberror: "message_only"),
        .init("something_new", 1, .interactionRequired, interaction: true, suberror: "additional_action"),
        .init("something_new", 1, .interactionRequired, interaction: true, suberror: "basic_action"),
        .init("something_new", 1, .interactionRequired, interaction: true, suberror: "user_password_expired"),
        .init("something_new", 1, .consentRequired, interaction: true, suberror: "consent_required"),
        .init("something_new", 1, .interactionRequired, interaction: true, suberror: "bad_token"),
        .init("something_new", 1, .providerRejectedRequest, interaction: false, suberror: "client_mismatch"),
        .init("invalid_request", 900144, .providerRejectedRequest, interaction: false),
    ]

    @Test(arguments: platformErrors)
    func `the platform's errors are recognised, with their numbers in error_codes or in the text alone`(
        _ row: PlatformError
    ) async throws {
        let description =
            "AADSTS\(row.number): Some text. Trace ID: \(tenantID) Correlation ID: \(otherTenantID) Timestamp: 2026-11-21 01:02:03Z"
        var inText: [String: Any] = ["error": row.error, "error_description": description]
        inText["suberror"] = row.suberror
        let inMembers = inText.merging([
            "error_codes": [row.number], "trace_id": tenantID, "correlation_id": otherTenantID,
            "timestamp": "2026-11-21 01:02:03Z",
        ]) { $1 }
        for body in [inText, inMembers] {
            let error = try #require(await refreshError(response(json(body), status: 400)))
            #expect(error.code == row.code)
            #expect(error.isInteractionNeeded == row.isInteractionNeeded)
            #expect(!error.isTransient)
            #expect(error.providerError == row.error)
            #expect(error.suberror == row.suberror)
            #expect(error.aadsts == [row.number])
            #expect(error.traceID == tenantID)
            #expect(error.correlationID == otherTenantID)
            #expect(error.timestamp == "2026-11-21 01:02:03Z")
        }
    }

    @Test func `an error keeps its claims challenge`() async throws {
        let challenge = #"{"access_token":{"acrs":{"essential":true,"values":["c1"]}}}"#
        let body = try json(["error": "interaction_required", "claims": challenge])
        #expect(await refreshError(response(body, status: 400))?.claims?.json == challenge)
        let unusable = try json(["error": "interaction_required", "claims": "{"])
        #expect(await refreshError(response(unusable, status: 400))?.claims == nil)
    }

    @Test func `an error drops identifiers that may quote a secret`() async throws {
        let secret = "0.AXoAsecret-refresh.token"
        let body = try json([
            "error": "invalid_grant", "suberror": secret, "trace_id": secret, "correlation_id": secret,
            "timestamp": secret, "error_description": "AADSTS70000: \(secret) Trace ID: \(secret) Timestamp: \(secret)",
        ])
        let error = try #require(await refreshError(response(body, status: 400)))
        #expect(
            error.description
                == "interaction_required: The provider requires a new sign-in. error=invalid_grant AADSTS70000")
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains(secret))
    }

    /// An answer that says nothing about the account: everything is kept.
    struct Transient: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let status: Int
        let body: String
        var type: String? = "application/json"
        var retryAfter: String?
        var code = OpenIDError.Code.providerUnavailable
        var pause: Duration?
    }

    static let success = #"{"token_type":"Bearer","access_token":"a","expires_in":1}"#
    static let transient: [Transient] = [
        .init(
            testDescription: "429 in seconds", status: 429, body: "", retryAfter: "17", code: .throttled,
            pause: .seconds(17)),
        .init(
            testDescription: "429 with a date", status: 429, body: "", retryAfter: "Fri, 15 Jan 2027 08:00:30 GMT",
            code: .throttled, pause: .seconds(30)),
        .init(
            testDescription: "429 with a date that has passed", status: 429, body: "",
            retryAfter: "Fri, 15 Jan 2027 07:00:00 GMT", code: .throttled, pause: .zero),
        .init(
            testDescription: "429 with a year", status: 429, body: "", retryAfter: "31536000", code: .throttled,
            pause: .seconds(3600)),
        .init(testDescription: "429 with nonsense", status: 429, body: "", retryAfter: "soon", code: .throttled),
        .init(
            testDescription: "429 with invalid_grant", status: 429, body: #"{"error":"invalid_grant"}"#,
            code: .throttled),
        .init(testDescription: "500 with invalid_grant", status: 500, body: #"{"error":"invalid_grant"}"#),
        .init(
            testDescription: "503 that asks for a pause", status: 503, body: "<html>", type: "text/html",
            retryAfter: "5",
            pause: .seconds(5)),
        .init(testDescription: "504 of a proxy", status: 504, body: "<html>", type: "text/html"),
        .init(testDescription: "408", status: 408, body: ""),
        .init(testDescription: "403 page of a proxy", status: 403, body: "<html>blocked</html>", type: "text/html"),
        .init(testDescription: "400 without an OAuth error", status: 400, body: #"{"message":"no"}"#),
        .init(
            testDescription: "400 whose error is an object", status: 400, body: #"{"error":{"code":"invalid_grant"}}"#),
        .init(testDescription: "302 to somewhere", status: 302, body: ""),
        .init(testDescription: "200 page of a captive portal", status: 200, body: "<html>", type: "text/html"),
        .init(testDescription: "200 with tokens called HTML", status: 200, body: success, type: "text/html"),
        .init(testDescription: "200 with tokens called text", status: 200, body: success, type: "text/plain"),
        .init(testDescription: "201 with tokens", status: 201, body: success),
        .init(testDescription: "200 with nothing", status: 200, body: ""),
        .init(testDescription: "200 cut off", status: 200, body: String(success.dropLast())),
        .init(testDescription: "200 with an array", status: 200, body: "[]"),
        .init(
            testDescription: "200 with a member twice", status: 200,
            body: #"{"token_type":"Bearer","access_token":"a","access_token":"b","expires_in":1}"#),
        .init(testDescription: "200 without a token", status: 200, body: #"{"token_type":"Bearer","expires_in":1}"#),
        .init(
            testDescription: "200 with an empty token", status: 200, body: #"{"token_type":"Bearer","access_token":""}"#
        ),
        .init(testDescription: "200 without a token type", status: 200, body: #"{"access_token":"a","expires_in":1}"#),
        .init(
            testDescription: "200 with another token type", status: 200,
            body: #"{"token_type":"mac","access_token":"a"}"#),
        .init(
            testDescription: "expires_in is a word", status: 200,
            body: #"{"token_type":"Bearer","access_token":"a","expires_in":"soon"}"#),
        .init(
            testDescription: "expires_in is negative", status: 200,
            body: #"{"token_type":"Bearer","access_token":"a","expires_in":-1}"#),
        .init(
            testDescription: "expires_in is true", status: 200,
            body: #"{"token_type":"Bearer","access_token":"a","expires_in":true}"#),
    ]

    @Test(arguments: transient)
    func `a transient answer is no verdict on the grant`(_ row: Transient) async throws {
        let error = try #require(
            await refreshError(response(row.body, status: row.status, type: row.type, retryAfter: row.retryAfter)))
        #expect(error.code == row.code)
        #expect(error.isTransient)
        #expect(!error.isInteractionNeeded)
        #expect(error.retryAfter == row.pause)
    }

    @Test(
        arguments: [
            ("invalid_request", true), ("invalid_token", true), ("access_denied", true), ("expired_token", true),
            ("invalid_grant", true), ("invalid_client", false), ("unauthorized_client", false),
            ("unsupported_grant_type", false), ("invalid_scope", false), ("temporarily_unavailable", false),
            ("server_error", false),
        ])
    func `a refused refresh asks for a sign-in, whatever its word, unless it is temporary or the client's fault`(
        _ word: String, _ isRefused: Bool
    ) async throws {
        for status in [400, 401, 403] {
            let error = try #require(await refreshError(response(json(["error": word]), status: status)))
            #expect(error.asRefusedRefresh?.code == (isRefused ? .interactionRequired : nil), "\(status)")
            #expect(error.asRefusedRefresh?.providerError == (isRefused ? word : nil))
        }
        for status in [429, 500, 503] {
            let error = try #require(await refreshError(response(json(["error": word]), status: status)))
            #expect(error.asRefusedRefresh == nil, "\(status)")
        }
    }

    @Test func `an error with status 200 is an error`() async throws {
        #expect(await refreshError(response(#"{"error":"invalid_grant"}"#))?.code == .interactionRequired)
    }

    /// A success answer, and the tokens that are read from it.
    struct Success: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let more: String
        var refreshToken: String?
        var scopes = ["User.Read"]
        var lifetime: TimeInterval = 3600
        var refreshIn: TimeInterval?
    }

    @Test(
        arguments: [
            Success(testDescription: "the least", more: ""),
            .init(testDescription: "expires_in as a number", more: #","expires_in":4242"#, lifetime: 4242),
            .init(testDescription: "expires_in as a string", more: #","expires_in":"4242""#, lifetime: 4242),
            .init(
                testDescription: "expires_in of a hundred years", more: #","expires_in":3153600000"#,
                lifetime: 31_536_000),
            .init(
                testDescription: "refresh_in", more: #","expires_in":86400,"refresh_in":43200"#, lifetime: 86400,
                refreshIn: 43200),
            .init(
                testDescription: "refresh_in as a string", more: #","expires_in":86400,"refresh_in":"43200""#,
                lifetime: 86400,
                refreshIn: 43200),
            .init(
                testDescription: "refresh_in after the end", more: #","expires_in":100,"refresh_in":100"#, lifetime: 100
            ),
            .init(testDescription: "refresh_in negative", more: #","expires_in":100,"refresh_in":-1"#, lifetime: 100),
            .init(testDescription: "a new refresh token", more: #","refresh_token":"r""#, refreshToken: "r"),
            .init(testDescription: "an empty refresh token", more: #","refresh_token":"""#),
            .init(
                testDescription: "granted scopes", more: #","scope":"Mail.Read  User.Read openid""#,
                scopes: ["Mail.Read", "User.Read", "openid"]),
            .init(testDescription: "empty scope", more: #","scope":"""#),
            .init(
                testDescription: "members that nobody knows",
                more: #","ext_expires_in":1,"x":{"y":[1.5e3,null,"\ud83d\ude00"]}"#),
        ])
    func `a token answer is read`(_ row: Success) async throws {
        for type in ["application/json", "application/json;charset=UTF-8", "Application/JSON", nil] {
            let answer = response(#"{"token_type":"bearer","access_token":"the-token"\#(row.more)}"#, type: type)
            let refreshed = try await refresh(answer)
            #expect(refreshed.idTokenClaims == nil)
            #expect(refreshed.tokens.accessToken == "the-token")
            #expect(refreshed.tokens.refreshToken == row.refreshToken)
            #expect(refreshed.tokens.scopes == row.scopes)
            #expect(refreshed.tokens.expiresOn == testTime + row.lifetime)
            #expect(refreshed.tokens.refreshOn == row.refreshIn.map { testTime + $0 })
            #expect("\(refreshed) \(refreshed.tokens)" == "RefreshedTokens(redacted) GrantedTokens(redacted)")
        }
    }

    static let account = KnownIdentity(issuer: issuer, subject: "subject-1", tenantID: tenantID.uppercased())

    @Test func `a refreshed ID token is checked without a nonce`() async throws {
        let claims = try await refresh(tokenAnswer(idToken: TestToken().text())).idTokenClaims
        #expect(claims?.name == "Adele Vance")
    }

    static let refusedRefreshes: [RejectedToken] = [
        .init("about another subject", .otherAccount, change: { $0.claims["sub"] = "subject-2" }),
        .init(
            "of another tenant", .otherAccount,
            change: { token in
                token.claims["tid"] = otherTenantID
                token.claims["iss"] = "\(origin)/\(otherTenantID)/v2.0"
            }),
        .init("of another audience", .audience, change: { $0.claims["aud"] = "another-client" }),
        .init("expired", .expired, change: { $0.claims["exp"] = Int(testTime.timeIntervalSince1970) - 300 }),
        .init("with another key's signature", .signature, change: { $0.signature = .otherRSAKey }),
    ]

    @Test(arguments: refusedRefreshes)
    func `an invalid refreshed ID token is refused`(_ row: RejectedToken) async throws {
        var token = TestToken()
        row.change(&token)
        let error = try await refreshError(tokenAnswer(idToken: token.text()))
        #expect(error == OpenIDError(row.fault))
        #expect(error?.isInteractionNeeded == false)
    }

    @Test func `a refreshed ID token of another tenant is refused even if its issuer does not name the tenant`()
        async throws
    {
        let provider = try TestProvider(KindTests.provider, kind: .oidc)
        let directory = provider.directory()
        let request = try await RefreshRequest(
            refreshToken: "r",
            account: KnownIdentity(issuer: KindTests.provider, subject: "subject-1", tenantID: tenantID.uppercased()),
            metadata: directory.metadata(for: provider.authority), client: client())
        for (tenant, fault) in [(tenantID, nil), (otherTenantID, .otherAccount), (nil, .otherAccount)]
            as [(String?, IDTokenFault?)]
        {
            var token = TestToken()
            token.claims["iss"] = KindTests.provider
            token.claims["tid"] = tenant
            let answer = try tokenAnswer(idToken: token.text())
            let error = await openIDError { () async throws(OpenIDError) in
                _ = try await request.answer(from: answer, directory: directory).tokens()
            }
            #expect(error?.idTokenFault == fault, "\(tenant ?? "no tenant")")
        }
    }

    @Test func `a refresh at another authority gives tokens only of tenants that the configured one admits`()
        async throws
    {
        let own = try TestProvider(
            "\(origin)/\(otherTenantID)", discovery: ["issuer": "\(origin)/\(otherTenantID)/v2.0"])
        let other = try TestProvider("\(origin)/\(tenantID)")
        let directory = other.directory()
        let answer = try tokenAnswer(idToken: TestToken().text())
        for (listed, fault) in [([], .tenant), ([tenantID], nil)] as [([String], IDTokenFault?)] {
            let request = try await RefreshRequest(
                refreshToken: "r", account: Self.account, metadata: directory.metadata(for: other.authority),
                client: client(allowedTenants: listed),
                configured: own.directory().metadata(for: own.authority))
            let error = await openIDError { () async throws(OpenIDError) in
                _ = try await request.answer(from: answer, directory: directory).tokens()
            }
            #expect(error?.idTokenFault == fault, "\(listed)")
        }
    }

    /// A request's form, as the provider reads it.
    private func form(_ request: ProviderRequest) throws -> [String: String] {
        let fields = try FormFields(body: request.body).fields
        return Dictionary(fields.map { ($0.name, $0.value) }) { "\($0) and \($1)" }
    }

    @Test func `a code is redeemed with a secret, as a public client, and with claims`() async throws {
        let provider = try TestProvider()
        let callback = try await Callback(query: "code=the-code%2B&state=\(attempt.state)")
            .validated(against: attempt, metadata: provider.directory().metadata(for: provider.authority))
        let expected = [
            "client_id": clientID, "grant_type": "authorization_code", "code": "the-code+",
            "redirect_uri": "http://localhost:8080/auth/callback", "code_verifier": attempt.codeVerifier,
            "scope": "User.Read openid profile offline_access", "client_info": "1",
        ]
        let open = try CodeRequest(redeeming: callback, client: client(.publicClient))
        #expect(try form(open.providerRequest) == expected)
        let secret = try CodeRequest(redeeming: callback, client: client(.secret("s3cr&t=~ ")))
        #expect(try form(secret.providerRequest) == expected.merging(["client_secret": "s3cr&t=~ "]) { $1 })
        let more = try CodeRequest(
            redeeming: callback, scopes: ["Mail.Read"], claims: ClaimsRequest(json: #"{"a":1}"#),
            client: client(.publicClient, clientCapabilities: ["cp1"]))
        #expect(
            try form(more.providerRequest)
                == expected.merging([
                    "scope": "Mail.Read openid profile offline_access",
                    "claims": #"{"a":1,"access_token":{"xms_cc":{"values":["cp1"]}}}"#,
                ]) { $1 })
        let head = secret.providerRequest.head
        #expect(head.method == .post)
        #expect(head.scheme == "https")
        #expect(head.authority == "login.microsoftonline.com")
        #expect(head.path == "/common/oauth2/v2.0/token")
        #expect(head.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(head.headerFields[.accept] == "application/json")
        #expect("\(secret) \(secret.providerRequest)" == "CodeRequest(redacted) ProviderRequest(redacted)")
    }

    @Test func `a refresh sends its secret and claims`() async throws {
        let provider = try TestProvider()
        let request = try await RefreshRequest(
            refreshToken: "the-refresh-token", account: Self.account, claims: ClaimsRequest(json: #"{"a":1}"#),
            metadata: provider.directory().metadata(for: provider.authority), client: client())
        #expect(
            try form(request.providerRequest) == [
                "client_id": clientID, "client_secret": "the-client-secret", "grant_type": "refresh_token",
                "refresh_token": "the-refresh-token", "scope": "User.Read openid profile offline_access",
                "client_info": "1", "claims": #"{"a":1}"#,
            ])
        #expect(
            "\(request) \(client().authentication)" == "RefreshRequest(redacted) ClientAuthentication(redacted)")
    }

    private func refresh(_ answer: ProviderResponse) async throws -> RefreshedTokens {
        let provider = try TestProvider()
        let directory = provider.directory()
        let request = try await RefreshRequest(
            refreshToken: "old", account: Self.account, metadata: directory.metadata(for: provider.authority),
            client: client())
        return try await request.answer(from: answer, directory: directory).tokens()
    }

    private func refreshError(_ answer: ProviderResponse) async -> OpenIDError? {
        do {
            _ = try await refresh(answer)
            return nil
        } catch {
            return error as? OpenIDError
        }
    }
}
