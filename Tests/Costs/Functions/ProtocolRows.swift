#if DEBUG
    import Foundation
    import HTTPTypes
    import WebFormats
    @testable import OpenIDConnect

    private let time: ProviderClock = { Date(timeIntervalSince1970: 1_800_000_000) }
    private let origin = "https://login.microsoftonline.com"
    private let tenant = "11111111-2222-4333-8444-555555555555"

    private func answer(_ body: String, status: Int = 200) -> ProviderResponse {
        let head = HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"])
        return ProviderResponse(head: head, body: Array(body.utf8))
    }

    private func document(issuer: String, more: String = "") -> String {
        #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(origin)/a","token_endpoint":"\#(origin)/t","jwks_uri":"\#(origin)/k"\#(more)}"#
    }

    /// A text as what stands between quotes in JSON.
    private func json(_ text: String) -> String { JSONValue.string(text).text }

    private func token(_ header: String, _ payload: String) -> String {
        "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8))).AA"
    }

    /// An object of about so many bytes.
    func members(_ bytes: Int) -> String {
        "{" + (0..<max(1, bytes / 10)).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
    }

    func protocolRows() throws -> [Row] {
        let common = try Authority("\(origin)/common")
        let metadata = try ProviderMetadata(
            parsing: answer(document(issuer: "\(origin)/{tenantid}/v2.0")), of: common, now: time)
        return [
            Row(name: "claims requests", frames: [("{\"a\":\"", "\"}")], made: [("members", members)]) { text in
                let request = ClaimsRequest(json: text)
                _ = request.map { $0.merging($0).json }
            },
            Row(
                name: "WWW-Authenticate",
                frames: [
                    ("", ""), ("Bearer ", ""), ("Bearer a=\"", "\""), ("Bearer a=b,", ""), ("a ", " a"),
                    (#"Bearer error="insufficient_claims", claims=""#, "\""),
                    (#"Bearer error="insufficient_scope", scope=""#, "\""),
                ],
                made: [
                    ("challenges", { repeated("Bearer a=b, ", $0) }),
                    (
                        "parameters",
                        { "Bearer " + (0..<max(1, $0 / 10)).map { "a\($0)=b" }.joined(separator: ", ") }
                    ),
                ]
            ) { text in
                let challenges = AuthenticationChallenge.parse([text])
                _ = ClaimsRequest(challenges: challenges)
                _ = AuthenticationChallenge.insufficientScopes(in: challenges)
            },
            Row(
                name: "error answers",
                frames: [("", ""), ("AADSTS", ""), ("Trace ID: ", ""), ("Timestamp: ", ""), ("Correlation ID:", " a")]
            ) { text in
                _ = ErrorAnswer(callback: ["error": "x", "error_description": text])?.openIDError
                _ = ErrorAnswer(callback: ["error": text, "suberror": text, "claims": text])?.openIDError
                let sent = SentValues(in: [.post(metadata.tokenEndpoint, form: [("code", "aaaa"), ("state", "a b")])])
                _ = sent.words(of: text)
            },
            Row(name: "error documents", frames: [("", "")]) { text in
                let quoted = json(text)
                let body = #"{"error":"x","error_description":\#(quoted),"trace_id":\#(quoted),"claims":\#(quoted)}"#
                _ = try ProviderAnswer(answer(body, status: 400), now: time)
            },
            Row(
                name: "URLs",
                frames: [("", ""), ("https://", ""), ("https://a/", ""), ("https://a?", ""), ("https://[", "]:1")]
            ) {
                _ = Endpoint($0)?.description
            },
            Row(
                name: "authorities",
                frames: [("", ""), ("https://a.example/", ""), ("https://a.b2clogin.com/tfp/a.b/", "")]
            ) {
                text in
                for kind in Authority.Kind.allCases { _ = try? Authority(text, kind: kind) }
                _ = try? common.withTenant(text)
            },
            Row(
                name: "callbacks",
                frames: [
                    ("", ""), ("state=", "&code=b"), ("state=a&code=", ""), ("state=a&code=b&iss=", ""),
                    ("state=a&error=x&error_description=", ""), ("state=a&code=b&", ""),
                ],
                made: [("parameters", { "state=a&code=b" + (0..<max(1, $0 / 7)).map { "&c\($0)=1" }.joined() })]
            ) { text in
                let callback = try Callback(query: text)
                let attempt = AuthorizationAttempt(state: callback.state, nonce: "n", codeVerifier: "v")
                _ = try callback.validated(against: attempt, metadata: metadata)
            },
            Row(
                name: "issuers in callbacks",
                frames: [("", ""), ("https://", ""), ("\(origin)/", "/v2.0"), ("\(origin)/\(tenant)", "/v2.0")]
            ) { _ = metadata.issuerRule.mayBe($0) },
            Row(
                name: "signed tokens", frames: [("", ""), ("a.", ".a"), ("e30.e30.", "")],
                made: [
                    ("parts", { repeated("e30.", $0) }),
                    ("a long header", { token(#"{"alg":"RS256","kid":"\#(repeated("a", $0))"}"#, "{}") }),
                    ("many members", { token(#"{"alg":"RS256"}"#, members($0 * 3 / 4)) }),
                    ("an unknown algorithm", { token(#"{"alg":"\#(repeated("\u{301}", $0))"}"#, "{}") }),
                ]
            ) { text in
                _ = LogoutToken.unverifiedIssuer(of: text)
                _ = try IDTokenClaims(SignedToken(parsing: text))
            },
            Row(name: "ID token claims") { text in
                let quoted = json(text)
                let payload =
                    #"{"iss":\#(quoted),"sub":"s","exp":1,"iat":1,"aud":[\#(quoted),\#(quoted)],"tid":\#(quoted),"tfp":\#(quoted),"name":\#(quoted)}"#
                let claims = try IDTokenClaims(SignedToken(parsing: token(#"{"alg":"RS256"}"#, payload)))
                _ = (claims.username, claims.fallbackAccountID, metadata.issuerRule.fault(of: claims))
            },
            Row(
                name: "token answers",
                made: [("scopes", { (0..<max(1, $0 / 6)).map { "s\($0)" }.joined(separator: " ") })],
                isStreamSafe: true
            ) {
                text in
                let quoted = json(text)
                let start = #"{"access_token":"a","token_type":"Bearer","#
                let end = #""scope":\#(quoted),"client_info":\#(quoted)}"#
                for lifetime in [#""expires_in":\#(quoted),"#, ""] {
                    _ = try? TokenResponse(
                        parsing: answer(start + lifetime + end), to: .page(metadata.tokenEndpoint), from: metadata,
                        requestedScopes: text.split(separator: " ").map(String.init),
                        now: time)
                }
            },
            Row(name: "metadata", frames: [("", ""), ("\(origin)/", "/v2.0"), ("\(origin)/{tenantid}", "/v2.0")]) {
                text in
                let issuer = String(json(text).dropFirst().dropLast())
                for kind in [
                    common, try Authority("\(origin)/\(tenant)"), try Authority("https://a.example", kind: .oidc),
                ] {
                    _ = try? ProviderMetadata(parsing: answer(document(issuer: issuer)), of: kind, now: time)
                }
                _ = try? ProviderMetadata(
                    parsing: answer(
                        document(issuer: "\(origin)/{tenantid}/v2.0", more: #","userinfo_endpoint":\#(json(text))"#)),
                    of: common, now: time)
            },
            Row(name: "UserInfo", frames: [("{\"sub\":\"", "\"}")], made: [("members", members)]) {
                _ = UserInfo.isAbout(subject: "a", body: Array($0.utf8))
            },
            Row(name: "authorization URLs", isStreamSafe: true) { text in
                let registration = ClientRegistration(
                    clientID: "c", redirectURI: "https://a/b", scopes: [])
                let attempt = AuthorizationAttempt(state: "s", nonce: "n", codeVerifier: "v")
                _ = AuthorizationRequest(loginHint: text, scopes: text.split(separator: " ").map(String.init)).url(
                    metadata: metadata, registration: registration, attempt: attempt)
            },
        ]
    }
#endif
