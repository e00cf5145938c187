import Cryptography
import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import OpenIDConnect

@Suite("Client authentication")
struct ClientAuthenticationTests {
    private func form(_ request: ProviderRequest) throws -> [String: String] {
        Dictionary(try FormFields(body: request.body).fields.map { ($0.name, $0.value) }) { "\($0) and \($1)" }
    }

    private func request(
        _ authentication: ClientAuthentication, _ provider: TestProvider
    ) async throws -> ProviderRequest {
        try await RefreshRequest(
            refreshToken: "r", account: KnownIdentity(issuer: "i", subject: "s", tenantID: nil),
            metadata: provider.directory().metadata(for: provider.authority),
            client: client(authentication)
        ).providerRequest
    }

    @Test(
        arguments: [
            (.workforce, nil, nil, .post), (.workforce, ["client_secret_basic"], nil, .post),
            (.workforce, nil, .basic, .basic),
            (.oidc, nil, nil, .basic), (.oidc, ["client_secret_post"], nil, .post),
            // The field would encode this secret, which some providers do not decode.
            (.oidc, ["client_secret_post", "client_secret_basic"], nil, .post),
            (.oidc, ["private_key_jwt"], nil, .basic),
            (.oidc, ["client_secret_basic"], .post, .post),
        ] as [(Authority.Kind, [String]?, ClientAuthentication.SecretMethod?, ClientAuthentication.SecretMethod)])
    func `a secret goes where the configuration, else the metadata, else the specification says`(
        _ kind: Authority.Kind, _ announced: [String]?, _ configured: ClientAuthentication.SecretMethod?,
        _ expected: ClientAuthentication.SecretMethod
    ) async throws {
        let provider = try TestProvider(
            kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind,
            discovery: announced.map { ["token_endpoint_auth_methods_supported": $0] } ?? [:])
        let request = try await request(.secret("s:e=c ré", method: configured), provider)
        let credentials = "\(clientID):s%3Ae%3Dc%20r%C3%A9"
        switch expected {
        case .post:
            #expect(try form(request)["client_secret"] == "s:e=c ré")
            #expect(request.head.headerFields[.authorization] == nil)
        case .basic:
            #expect(try form(request)["client_secret"] == nil)
            #expect(
                request.head.headerFields[.authorization] == "Basic " + Data(credentials.utf8).base64EncodedString())
        }
    }

    /// The outcome of a trial, in one word.
    private func word(_ verdict: CredentialTrial.Verdict) -> String {
        switch verdict {
        case .accepted: "accepted"
        case .unassigned: "unassigned"
        case .refused(let error): "refused \(error.code.rawValue)"
        case .unavailable(let error): "unavailable \(error.code.rawValue)"
        case .unknown(let error): "unknown \(error ?? "-")"
        }
    }

    @Test(
        arguments: [
            (200, #"{"access_token":"a","token_type":"Bearer"}"#, "accepted", "unknown -"),
            (200, "{}", "unknown -", "unknown -"), (200, "<h1>", "unknown -", "unknown -"),
            (400, #"{"error":"invalid_grant"}"#, "unknown invalid_grant", "accepted at another's"),
            (400, #"{"error":"invalid_scope"}"#, "unknown invalid_scope", "unknown invalid_scope"),
            (
                400, #"{"error":"unsupported_grant_type"}"#, "unknown unsupported_grant_type",
                "unknown unsupported_grant_type"
            ),
            (400, #"{"error":"unauthorized_client"}"#, "unknown unauthorized_client", "unknown unauthorized_client"),
            (
                401, #"{"error":"invalid_client","error_codes":[500112]}"#, "unknown invalid_client",
                "unknown invalid_client"
            ),
            (
                401, #"{"error":"invalid_client","error_codes":[7000215]}"#, "refused provider_rejected_client",
                "refused provider_rejected_client"
            ),
            (
                400, #"{"error":"unauthorized_client","error_codes":[7000222]}"#, "refused provider_rejected_client",
                "refused provider_rejected_client"
            ),
            (
                400, #"{"error":"invalid_request","error_description":"AADB2C90079: Clients must send a secret.\r\n"}"#,
                "refused provider_rejected_client", "refused provider_rejected_client"
            ),
            (401, #"{"error":"invalid_client","error_codes":[501051]}"#, "unassigned", "unassigned"),
            (400, #"{"error":"invalid_grant","error_codes":[501051]}"#, "unassigned", "unassigned"),
            (
                401, #"{"error":"invalid_client"}"#, "refused provider_rejected_client",
                "refused provider_rejected_client"
            ),
            (403, "", "unknown -", "unknown -"), (429, "", "unavailable throttled", "unavailable throttled"),
            (503, "<h1>", "unavailable provider_unavailable", "unavailable provider_unavailable"),
        ] as [(Int, String, String, String)])
    func `the answer to a trial shows whether the credential is accepted, or nothing`(
        _ status: Int, _ body: String, _ own: String, _ code: String
    ) async throws {
        let answer = ProviderResponse(head: HTTPResponse(status: .init(code: status)), body: Array(body.utf8))
        for kind in [Authority.Kind.workforce, .oidc] {
            let provider = try TestProvider(kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind)
            let metadata = try await provider.directory().metadata(for: provider.authority)
            for (grant, expected) in [(CredentialTrial.Grant.clientCredentials, own), (.madeUpCode, code)] {
                let trial = try CredentialTrial(
                    grant, metadata: metadata, client: client(),
                    randomBytes: { [UInt8](repeating: 0xAB, count: $0) })
                let expected =
                    expected != "accepted at another's"
                    ? expected : kind == .oidc ? "accepted" : "unknown invalid_grant"
                #expect(trial.map { word($0.verdict(on: answer, now: { testTime })) } == expected, "\(kind) \(grant)")
            }
        }
    }

    @Test(
        arguments: [
            (.basic, ["client_secret_basic", "client_secret_post"], .post), (.post, nil, .basic), (.basic, nil, nil),
            (.post, ["client_secret_basic", "client_secret_post"], .basic),
            (.post, ["client_secret_post", "none"], nil),
        ] as [(ClientAuthentication.SecretMethod, [String]?, ClientAuthentication.SecretMethod?)])
    func `the other way of sending a secret is one that the metadata lists`(
        method: ClientAuthentication.SecretMethod, listed: [String]?, expected: ClientAuthentication.SecretMethod?
    ) async throws {
        let provider = try TestProvider(
            KindTests.provider, kind: .oidc,
            discovery: listed.map { ["token_endpoint_auth_methods_supported": $0] } ?? [:])
        let metadata = try await provider.directory().metadata(for: provider.authority)
        let own = client(.secret("s", method: method))
        #expect(own.withOtherSecretMethod(at: metadata)?.method == expected)
        #expect(client(.publicClient).withOtherSecretMethod(at: metadata) == nil)
        let platform = try TestProvider("\(origin)/common", kind: .workforce)
        #expect(own.withOtherSecretMethod(at: try await platform.directory().metadata(for: platform.authority)) == nil)
    }

    @Test func `a trial sends client credentials or a made-up code, and for a public client only the code`()
        async throws
    {
        for kind in [Authority.Kind.workforce, .oidc] {
            let provider = try TestProvider(kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind)
            let metadata = try await provider.directory().metadata(for: provider.authority)
            func fields(_ grant: CredentialTrial.Grant) throws -> [String: String] {
                let trial = try CredentialTrial(
                    grant, metadata: metadata, client: client(.secret("s", method: .post)),
                    randomBytes: { [UInt8](repeating: 0xAB, count: $0) })
                return try form(try #require(trial).providerRequest)
            }
            let own = try fields(.clientCredentials)
            #expect(own["grant_type"] == "client_credentials" && own["client_secret"] == "s")
            #expect(own["scope"] == (kind == .oidc ? nil : "\(clientID)/.default"))
            let code = try fields(.madeUpCode)
            #expect(code["grant_type"] == "authorization_code" && code["client_secret"] == "s")
            #expect(code["code"]?.count == 43 && code["code_verifier"]?.count == 43)
            #expect(code["redirect_uri"] == "http://localhost:8080/auth/callback")
            func open(_ grant: CredentialTrial.Grant) throws -> CredentialTrial? {
                try CredentialTrial(
                    grant, metadata: metadata, client: client(.publicClient),
                    randomBytes: { [UInt8](repeating: 0xAB, count: $0) })
            }
            #expect(try open(.clientCredentials) == nil)
            let request = try #require(try open(.madeUpCode)).providerRequest
            #expect(try form(request)["client_id"] == clientID && form(request)["client_secret"] == nil)
            #expect(request.head.headerFields[.authorization] == nil)
        }
    }

    @Test(
        arguments: [
            (
                .workforce, nil, nil, "User.Read Mail.Read openid profile offline_access", ["User.Read", "Mail.Read"],
                []
            ),
            (
                .workforce, ["user.read"], nil, "User.Read Mail.Read openid profile offline_access",
                ["User.Read", "Mail.Read"], []
            ),
            (.oidc, ["user.read"], nil, nil, ["user.read"], ["Mail.Read"]),
            (.oidc, nil, nil, nil, ["User.Read", "Mail.Read"], []),
            (.oidc, ["user.read"], "user.read mail.read", nil, ["user.read", "mail.read"], []),
        ] as [(Authority.Kind, [String]?, String?, String?, [String], [String])])
    func `at other providers a refresh names no scope, and unmentioned scopes stay as granted`(
        _ kind: Authority.Kind, _ before: [String]?, _ said: String?, _ sent: String?, _ granted: [String],
        _ declined: [String]
    ) async throws {
        let provider = try TestProvider(kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind)
        let directory = provider.directory()
        let request = try await RefreshRequest(
            refreshToken: "r", account: KnownIdentity(issuer: "i", subject: "s", tenantID: nil),
            scopes: ["User.Read", "Mail.Read"], granted: before,
            metadata: directory.metadata(for: provider.authority), client: client())
        #expect(try form(request.providerRequest)["scope"] == sent)
        let answer = try tokenAnswer(idToken: nil, ["scope": said ?? ""])
        let tokens = try await request.answer(from: answer, directory: directory).tokens().tokens
        #expect(tokens.scopes == granted && tokens.declinedScopes == declined)
    }

    @Test func `a federated token is sent as the assertion, and a public client sends its id alone`() async throws {
        let fields = try form(await request(.assertion("a.b.c"), TestProvider()))
        #expect(fields["client_assertion"] == "a.b.c")
        #expect(fields["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let open = try form(await request(.publicClient, TestProvider()))
        #expect(open["client_assertion"] == nil && open["client_secret"] == nil && open["client_id"] == clientID)
    }

    private func certificate(
        _ key: PrivateKey, until end: Date = testTime.addingTimeInterval(86_400)
    ) throws -> String {
        try Certificate(
            of: key.publicKey, commonName: "a client", validity: -1...Int64(end.timeIntervalSince1970), extensions: [],
            signedBy: key
        ).pem
    }

    @Test func `a certificate signs a fresh assertion with PS256 for the token endpoint`() async throws {
        let key = TestKeys.rsa
        let pem = try certificate(key)
        let credential = try ClientCertificate(
            certificatePEM: "chain:\n" + pem, privateKeyPEM: key.pem, now: { testTime },
            randomBytes: { [UInt8](repeating: 0xAB, count: $0) })
        let fields = try form(await request(.certificate(credential), TestProvider()))
        let parts = try #require(fields["client_assertion"]).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try #require(JSONValue(parsing: Base64URL.decode(parts[0].utf8) ?? []))
        let claims = try #require(JSONValue(parsing: Base64URL.decode(parts[1].utf8) ?? []))
        let der = Data(base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined()) ?? Data()
        #expect(credential.notValidAfter == testTime.addingTimeInterval(86_400))
        #expect(header["alg"] == .string("PS256"))
        #expect(header["typ"] == .string("JWT"))
        #expect(header["x5t#S256"] == .string(Base64URL.encode(SHA256.hash(data: der))))
        let time = Int(testTime.timeIntervalSince1970)
        #expect(claims["aud"] == .string("\(origin)/common/oauth2/v2.0/token"))
        #expect(claims["iss"] == .string(clientID) && claims["sub"] == .string(clientID))
        #expect(claims["jti"] == .string("abababab-abab-4bab-abab-abababababab"))
        #expect(
            claims["nbf"] == .integer(time) && claims["iat"] == .integer(time) && claims["exp"] == .integer(time + 300))
        let signature = Base64URL.decode(parts[2].utf8) ?? []
        #expect(key.publicKey.isSignature(signature, of: "\(parts[0]).\(parts[1])".utf8, scheme: .ps256))
    }

    @Test(arguments: [0, 2_524_607_999, 2_524_608_000, 4_102_444_800])
    func `a certificate's end is read from both of the forms that it may have`(_ seconds: Double) throws {
        let (key, end) = (TestKeys.rsa, Date(timeIntervalSince1970: seconds))
        let credential = try ClientCertificate(
            certificatePEM: certificate(key, until: end), privateKeyPEM: key.pem, now: { testTime },
            randomBytes: { [UInt8](repeating: 0xAB, count: $0) })
        #expect(credential.notValidAfter == end)
    }

    @Test func `unusable certificates and keys are refused with a reason that contains nothing of the key`() throws {
        let key = TestKeys.rsa
        let other = TestKeys.otherRSA
        let rows = [
            ("no PEM", key.pem, "the certificate is not PEM"),
            (
                "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----", key.pem,
                "the certificate is not PEM"
            ),
            (
                "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", key.pem,
                "the certificate cannot be read"
            ),
            (key.publicKey.pem, key.pem, "the certificate is not PEM"),
            (try certificate(key), "no key", "not an RSA key"),
            (try certificate(key), TestKeys.ec.pem, "not an RSA key"),
            (try certificate(key), other.pem, "not the certificate's"),
        ]
        for (certificate, privateKey, reason) in rows {
            #expect {
                try ClientCertificate(
                    certificatePEM: certificate, privateKeyPEM: privateKey, now: { testTime }, randomBytes: { _ in [] })
            } throws: { error in
                (error as? ClientCertificate.Failure)?.reason.contains(reason) ?? false
            }
        }
    }

    @Test(
        arguments: [
            (["User.Read", "Mail.Read"], "user.read openid profile", ["Mail.Read"]),
            (["https://graph.microsoft.com/User.Read"], "User.Read", []),
            (["https://graph.microsoft.us/User.Read"], "User.Read", []),
            (["User.Read"], "https://microsoftgraph.chinacloudapi.cn/User.Read", []),
            (["User.Read", "openid", "offline_access", "email"], "User.Read", []),
            (["api://x/tasks.read"], "api://x/tasks.write", ["api://x/tasks.read"]),
            (["https://graph.microsoft.com/.default"], "User.Read", []),
            (["User.Read"], "", []),
        ])
    func `declined scopes are those asked for and not granted`(
        _ requested: [String], _ granted: String, _ expected: [String]
    ) async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let request = try await RefreshRequest(
            refreshToken: "r", account: KnownIdentity(issuer: "i", subject: "s", tenantID: nil), scopes: requested,
            metadata: directory.metadata(for: provider.authority), client: client())
        let answer = try tokenAnswer(idToken: nil, ["scope": granted])
        #expect(try await request.answer(from: answer, directory: directory).tokens().tokens.declinedScopes == expected)
    }

    @Test func `a guest's refresh is known to be about the same person by client_info alone`() async throws {
        let provider = try TestProvider("\(origin)/\(tenantID)")
        let directory = provider.directory()
        var token = TestToken()
        token.claims["sub"] = "another-subject-there"
        let answer = try tokenAnswer(idToken: token.text())
        for (id, fault) in [("uid-1.utid-1", nil), ("uid-2.utid-1", IDTokenFault.otherAccount)] {
            let request = try await RefreshRequest(
                refreshToken: "r", account: KnownIdentity(issuer: "home", subject: "home", tenantID: otherTenantID),
                metadata: directory.metadata(for: provider.authority), client: client(), guestAccountID: id)
            let error = await openIDError { () async throws(OpenIDError) in
                _ = try await request.answer(from: answer, directory: directory).tokens()
            }
            #expect(error?.idTokenFault == fault)
        }
    }

    @Test func `an empty 400 refuses a grant of other providers, and is no verdict at Microsoft's`() async throws {
        for (kind, code) in [
            (Authority.Kind.oidc, OpenIDError.Code.interactionRequired), (.workforce, .providerUnavailable),
        ] {
            let provider = try TestProvider(kind == .oidc ? KindTests.provider : "\(origin)/common", kind: kind)
            let directory = provider.directory()
            let request = try await RefreshRequest(
                refreshToken: "r", account: KnownIdentity(issuer: "i", subject: "s", tenantID: nil),
                metadata: directory.metadata(for: provider.authority), client: client())
            let error = await openIDError { () async throws(OpenIDError) in
                _ = try await request.answer(from: response("", status: 400, type: nil), directory: directory).tokens()
            }
            #expect(error?.code == code)
        }
    }

    @Test func `extra parameters are added, and never replace one of ours`() async throws {
        let provider = try TestProvider()
        var request = AuthorizationRequest()
        request.extraParameters = [("ui_locales", "sv"), ("redirect_uri", "https://evil.example"), ("nonce", "n")]
        let url = try await request.url(
            metadata: provider.directory().metadata(for: provider.authority), registration: registration(),
            attempt: attempt)
        let query = try #require(URLComponents(string: url)?.queryItems)
        #expect(query.filter { $0.name == "redirect_uri" }.map(\.value) == ["http://localhost:8080/auth/callback"])
        #expect(query.filter { $0.name == "nonce" }.map(\.value) == [attempt.nonce])
        #expect(query.filter { $0.name == "ui_locales" }.map(\.value) == ["sv"])
    }
}
