import Foundation
import Testing
import WebFormats

@testable import OpenIDConnect

/// One way to make a token wrong, and what it is refused for.
struct RejectedToken: CustomTestStringConvertible, Sendable {
    let name: String
    let fault: IDTokenFault
    let authority: String
    let allowedTenants: [String]
    let keys: @Sendable () throws -> [[String: Any]]?
    let change: @Sendable (inout TestToken) -> Void
    let distort: @Sendable (String) -> String

    init(
        _ name: String, _ fault: IDTokenFault, authority: String = "\(origin)/common", allowedTenants: [String] = [],
        keys: @escaping @Sendable () throws -> [[String: Any]]? = { nil },
        distort: @escaping @Sendable (String) -> String = { $0 },
        change: @escaping @Sendable (inout TestToken) -> Void = { _ in }
    ) {
        self.name = name
        self.fault = fault
        self.authority = authority
        self.allowedTenants = allowedTenants
        self.keys = keys
        self.change = change
        self.distort = distort
    }

    var testDescription: String { name }
}

private let time = Int(testTime.timeIntervalSince1970)

@Suite("ID tokens at sign-in")
struct IDTokenTests {
    static let rejected: [RejectedToken] = [
        // Shape (RFC 7515 section 7.1).
        .init("one part", .malformed, distort: { _ in "e30" }),
        .init("two parts", .malformed, distort: { $0.split(separator: ".").prefix(2).joined(separator: ".") }),
        .init("four parts", .malformed, distort: { $0 + ".e30" }),
        .init("five parts, encrypted", .malformed, distort: { $0 + ".e30.e30" }),
        .init("not base64url in the header", .malformed, distort: { "*" + $0.dropFirst() }),
        .init("base64 with padding", .malformed, distort: { $0 + "==" }),
        .init("base64 with the other alphabet", .malformed, distort: { $0 + "+/" }),
        .init("a signature with bits left over", .malformed, distort: { $0.dropLast() + "x" }),
        .init("a line break at the end", .malformed, distort: { $0 + "\n" }),
        .init("larger than 64 KiB", .malformed, change: { $0.claims["name"] = String(repeating: "x", count: 70_000) }),
        .init("header is not JSON", .malformed, change: { $0.headerText = "alg=RS256" }),
        .init("header is an array", .malformed, change: { $0.headerText = #"["RS256"]"# }),
        .init(
            "header names alg twice", .malformed,
            change: { $0.headerText = #"{"alg":"RS256","kid":"rsa-1","alg":"none"}"# }),
        .init("header without alg", .malformed, change: { $0.header["alg"] = nil }),
        .init("alg is a number", .malformed, change: { $0.header["alg"] = 256 }),
        .init("kid is a number", .malformed, change: { $0.header["kid"] = 1 }),
        .init("critical extension", .malformed, change: { $0.header["crit"] = ["b64"] }),
        .init("type of an access token", .malformed, change: { $0.header["typ"] = "at+jwt" }),
        .init("type of a logout token", .malformed, change: { $0.header["typ"] = "logout+jwt" }),
        .init("claims are not JSON", .malformed, change: { $0.claimsText = "iss" }),
        .init("claims are a string", .malformed, change: { $0.claimsText = #""iss""# }),
        .init(
            "claims name aud twice", .malformed,
            change: { token in
                token.claimsText = ((try? json(token.claims)) ?? "").dropLast() + #","aud":"\#(clientID)"}"#
            }),
        .init(
            "claims with text behind", .malformed,
            change: { token in
                token.claimsText = ((try? json(token.claims)) ?? "") + "{}"
            }),
        // Required claims (OpenID Connect Core section 2).
        .init("no issuer", .malformed, change: { $0.claims["iss"] = nil }),
        .init("no subject", .malformed, change: { $0.claims["sub"] = nil }),
        .init("empty subject", .malformed, change: { $0.claims["sub"] = "" }),
        .init("NUL in the subject", .malformed, change: { $0.claims["sub"] = "subject\u{0}1" }),
        .init("line break in the object ID", .malformed, change: { $0.claims["oid"] = "object-1\n" }),
        .init("NUL in the object ID", .malformed, change: { $0.claims["oid"] = "\u{0}" }),
        .init("control character in the tenant ID", .malformed, change: { $0.claims["tid"] = tenantID + "\u{9F}" }),
        .init("no audience", .malformed, change: { $0.claims["aud"] = nil }),
        .init("audience holds a number", .malformed, change: { $0.claims["aud"] = [clientID, 1] as [Any] }),
        .init("no expiry", .malformed, change: { $0.claims["exp"] = nil }),
        .init("expiry is a string", .malformed, change: { $0.claims["exp"] = "\(time + 3600)" }),
        .init("expiry beyond all dates", .malformed, change: { $0.claims["exp"] = 1e300 }),
        .init("no time of issue", .malformed, change: { $0.claims["iat"] = nil }),
        .init("nbf is a string", .malformed, change: { $0.claims["nbf"] = "now" }),
        .init("nonce is a number", .malformed, change: { $0.claims["nonce"] = 1 }),
        .init("azp is a number", .malformed, change: { $0.claims["azp"] = 1 }),
        // 2: issuer and tenant.
        .init(
            "issuer of another host", .issuer, change: { $0.claims["iss"] = "https://evil.example/\(tenantID)/v2.0" }),
        .init(
            "issuer of another tenant than tid", .issuer,
            change: { $0.claims["iss"] = "\(origin)/\(otherTenantID)/v2.0" }),
        .init("issuer with a slash more", .issuer, change: { $0.claims["iss"] = issuer + "/" }),
        .init("issuer in another case", .issuer, change: { $0.claims["iss"] = issuer.uppercased() }),
        .init("issuer is the template itself", .issuer, change: { $0.claims["iss"] = "\(origin)/{tenantid}/v2.0" }),
        .init("issuer of version 1", .issuer, change: { $0.claims["iss"] = "https://sts.windows.net/\(tenantID)/" }),
        .init("no tid", .tenant, change: { $0.claims["tid"] = nil }),
        .init(
            "tid is not a GUID", .tenant,
            change: { token in
                token.claims["tid"] = "evil"
                token.claims["iss"] = "\(origin)/evil/v2.0"
            }),
        .init(
            "tid is the placeholder", .tenant,
            change: { token in
                token.claims["tid"] = "{tenantid}"
                token.claims["iss"] = "\(origin)/{tenantid}/v2.0"
            }),
        .init(
            "another tenant at a tenant's authority", .issuer, authority: "\(origin)/\(tenantID)",
            change: { token in
                token.claims["tid"] = otherTenantID
                token.claims["iss"] = "\(origin)/\(otherTenantID)/v2.0"
            }),
        .init(
            "tid of another tenant beside the right issuer", .tenant, authority: "\(origin)/\(tenantID)",
            change: {
                $0.claims["tid"] = otherTenantID
            }),
        .init("tenant is not on the list", .tenant, allowedTenants: [otherTenantID]),
        .init(
            "personal account at organizations", .tenant, authority: "\(origin)/organizations",
            change: { token in
                token.claims["tid"] = Authority.consumersTenantID
                token.claims["iss"] = "\(origin)/\(Authority.consumersTenantID)/v2.0"
            }),
        // 3, 4, 5: audience and authorized party.
        .init("audience is another client", .audience, change: { $0.claims["aud"] = "another-client" }),
        .init("audience is empty", .audience, change: { $0.claims["aud"] = [String]() }),
        .init(
            "audience holds somebody else too", .audience, change: { $0.claims["aud"] = [clientID, "another-client"] }),
        .init("authorized party is another client", .authorizedParty, change: { $0.claims["azp"] = "another-client" }),
        // 6, 7, 8: key, algorithm and signature.
        .init(
            "not signed, alg none", .algorithm,
            change: { token in
                token.header["alg"] = "none"
                token.signature = .none
            }),
        .init(
            "alg None in another case", .algorithm,
            change: { token in
                token.header["alg"] = "nOnE"
                token.signature = .none
            }),
        .init(
            "HS256 with the public key as secret", .algorithm,
            change: { token in
                token.header["alg"] = "HS256"
                token.signature = .hs256WithPublicKey
            }),
        .init("RS256 that is HS256 with the public key", .signature, change: { $0.signature = .hs256WithPublicKey }),
        .init("RS512 is not on the list", .algorithm, change: { $0.header["alg"] = "RS512" }),
        .init("RS256 announced for an elliptic key", .algorithm, change: { $0.header["kid"] = "ec-1" }),
        .init(
            "ES256 announced for an RSA key", .algorithm,
            change: { token in
                token.header["alg"] = "ES256"
                token.signature = .es256
            }),
        .init(
            "PS256 with a key that is for RS256 alone", .algorithm,
            keys: { [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["alg": "RS256"])] },
            change: { token in
                token.header["alg"] = "PS256"
                token.signature = .ps256
            }),
        .init(
            "key is for encryption", .unknownKey,
            keys: {
                [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["use": "enc"]), TestKeys.ecJWK("ec-1")]
            }),
        .init("unknown kid", .unknownKey, change: { $0.header["kid"] = "rsa-2" }),
        .init("no kid among several keys", .ambiguousKey, change: { $0.header["kid"] = nil }),
        .init(
            "key of another issuer", .keyIssuer,
            keys: {
                [
                    try TestKeys.rsaJWK(
                        "rsa-1", TestKeys.rsa.publicKey.modulus, ["issuer": "\(origin)/\(otherTenantID)/v2.0"])
                ]
            }),
        .init(
            "key of the consumers' issuer", .keyIssuer,
            keys: {
                [
                    try TestKeys.rsaJWK(
                        "rsa-1", TestKeys.rsa.publicKey.modulus,
                        ["issuer": "\(origin)/\(Authority.consumersTenantID)/v2.0"])
                ]
            }),
        .init("signed with another key", .signature, change: { $0.signature = .otherRSAKey }),
        .init("signature is empty", .signature, change: { $0.signature = .none }),
        .init("RS256 announced, PS256 signed", .signature, change: { $0.signature = .ps256 }),
        .init("PS256 announced, RS256 signed", .signature, change: { $0.header["alg"] = "PS256" }),
        .init(
            "ES256 in DER", .signature,
            change: { token in
                token.header.merge(["alg": "ES256", "kid": "ec-1"]) { $1 }
                token.signature = .derES256
            }),
        .init(
            "ES256 with a byte more", .signature,
            change: { token in
                token.header.merge(["alg": "ES256", "kid": "ec-1"]) { $1 }
                token.signature = .longES256
            }),
        .init(
            "modulus of 1024 bits", .unknownKey,
            keys: { [try TestKeys.rsaJWK("rsa-1", TestKeys.weakRSA.get().modulus), TestKeys.ecJWK("ec-1")] },
            change: { $0.signature = .weakRSAKey }),
        .init(
            "modulus of 1024 bits, padded with zeros to 2048", .unknownKey,
            keys: {
                let modulus = try TestKeys.weakRSA.get().modulus
                let padded = Base64URL.encode([UInt8](repeating: 0, count: 256 - modulus.count) + modulus)
                return [
                    try TestKeys.rsaJWK("rsa-1", TestKeys.weakRSA.get().modulus, ["n": padded]), TestKeys.ecJWK("ec-1"),
                ]
            },
            change: { $0.signature = .weakRSAKey }),
        .init(
            "exponent 1, which any hash is signed for", .unknownKey,
            keys: {
                [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["e": "AQ"]), TestKeys.ecJWK("ec-1")]
            },
            change: { $0.signature = .paddedHash }),
        .init(
            "exponent 1, padded with zeros", .unknownKey,
            keys: {
                [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["e": "AAAB"]), TestKeys.ecJWK("ec-1")]
            },
            change: { $0.signature = .paddedHash }),
        .init(
            "exponent 2", .unknownKey,
            keys: {
                [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["e": "Ag"]), TestKeys.ecJWK("ec-1")]
            }),
        .init(
            "exponent 65536", .unknownKey,
            keys: {
                [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["e": "AQAA"]), TestKeys.ecJWK("ec-1")]
            }),
        .init(
            "claims exchanged under the signature", .signature,
            distort: { text in
                let parts = text.split(separator: ".", omittingEmptySubsequences: false)
                var token = TestToken(nonce: attempt.nonce)
                token.claims["oid"] = "somebody-else"
                return "\(parts[0]).\(Base64URL.encode(((try? json(token.claims)) ?? "").utf8)).\(parts[2])"
            }),
        // 9, 10: times, with five minutes' leeway.
        .init("expired five minutes ago", .expired, change: { $0.claims["exp"] = time - 300 }),
        .init("valid in more than five minutes", .notYetValid, change: { $0.claims["nbf"] = time + 301 }),
        .init("issued in more than five minutes", .issuedInFuture, change: { $0.claims["iat"] = time + 301 }),
        // 11: nonce.
        .init("no nonce", .nonce, change: { $0.claims["nonce"] = nil }),
        .init("empty nonce", .nonce, change: { $0.claims["nonce"] = "" }),
        .init("another attempt's nonce", .nonce, change: { $0.claims["nonce"] = "nonce-of-another-attempt" }),
    ]

    @Test(arguments: ["iss", "sub", "aud", "exp", "iat"], [nil, true] as [Bool?])
    func `the error names the required claim that is missing or of a wrong type`(
        _ name: String, _ value: Bool?
    ) async throws {
        let provider = try TestProvider()
        var token = TestToken(nonce: attempt.nonce)
        token.claims[name] = value
        let text = try token.text()
        let error = await openIDError { () async throws(OpenIDError) in try await signIn(text, provider) }
        #expect(error?.code == .invalidIDToken && error?.idTokenFault == .malformed)
        #expect(error?.claim == name)
        #expect(error?.reason == "The ID token has no usable claim \(name), which is required.")
    }

    @Test(arguments: rejected)
    func `an invalid ID token is refused`(_ row: RejectedToken) async throws {
        let provider = try TestProvider(row.authority, keys: row.keys())
        var token = TestToken(nonce: attempt.nonce)
        row.change(&token)
        let text = row.distort(try token.text())
        let error = await openIDError { () async throws(OpenIDError) in
            try await signIn(text, provider, allowedTenants: row.allowedTenants)
        }
        #expect(error == (error?.claim.map(OpenIDError.init(missingClaim:)) ?? OpenIDError(row.fault)))
        #expect(error?.idTokenFault == row.fault)
        #expect(error?.code == (row.fault == .nonce ? .nonceMismatch : .invalidIDToken))
        #expect(error?.isInteractionNeeded == false)
    }

    /// A way to be right.
    struct Accepted: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var authority = "\(origin)/common"
        var allowedTenants: [String] = []
        var keys: @Sendable () throws -> [[String: Any]]? = { nil }
        var change: @Sendable (inout TestToken) -> Void = { _ in }
    }

    static let accepted: [Accepted] = [
        .init(testDescription: "as the platform sends it"),
        .init(testDescription: "from a tenant's authority", authority: "\(origin)/\(tenantID)"),
        .init(testDescription: "from a domain's authority", authority: "\(origin)/contoso.onmicrosoft.com"),
        .init(testDescription: "from organizations", authority: "\(origin)/organizations"),
        .init(testDescription: "from an allowed tenant", allowedTenants: [tenantID.uppercased()]),
        .init(testDescription: "audience in an array", change: { $0.claims["aud"] = [clientID] }),
        .init(testDescription: "authorized party is this client", change: { $0.claims["azp"] = clientID }),
        .init(
            testDescription: "PS256",
            change: { token in
                token.header["alg"] = "PS256"
                token.signature = .ps256
            }),
        .init(
            testDescription: "ES256",
            change: { token in
                token.header["alg"] = "ES256"
                token.header["kid"] = "ec-1"
                token.signature = .es256
            }),
        .init(
            testDescription: "no kid and one key", keys: { [try TestKeys.rsaJWK(nil)] },
            change: { $0.header["kid"] = nil }),
        .init(
            testDescription: "modulus of 2048 bits with a zero before it",
            keys: {
                let modulus = TestKeys.rsa.publicKey.modulus
                return [
                    try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["n": Base64URL.encode([0] + modulus)])
                ]
            }),
        .init(testDescription: "no type", change: { $0.header["typ"] = nil }),
        .init(
            testDescription: "key with the issuer's template",
            keys: {
                [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["issuer": "\(origin)/{tenantid}/v2.0"])]
            }),
        .init(
            testDescription: "key with the issuer",
            keys: { [try TestKeys.rsaJWK("rsa-1", TestKeys.rsa.publicKey.modulus, ["issuer": issuer])] }),
        .init(
            testDescription: "among keys of unknown types",
            keys: {
                [
                    ["kty": "AKP", "kid": "pq", "alg": "ML-DSA-44"],
                    ["kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": "AA"],
                    ["kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"], ["kid": "nothing"],
                    try TestKeys.rsaJWK("rsa-1"),
                ]
            }),
        .init(testDescription: "expired just within the leeway", change: { $0.claims["exp"] = time - 299 }),
        .init(testDescription: "valid just within the leeway", change: { $0.claims["nbf"] = time + 300 }),
        .init(testDescription: "issued just within the leeway", change: { $0.claims["iat"] = time + 300 }),
        .init(testDescription: "times with a fraction", change: { $0.claims["iat"] = Double(time) + 0.5 }),
        .init(testDescription: "no nbf", change: { $0.claims["nbf"] = nil }),
    ]

    @Test(arguments: accepted)
    func `a valid ID token is accepted`(_ row: Accepted) async throws {
        let provider = try TestProvider(row.authority, keys: row.keys())
        var token = TestToken(nonce: attempt.nonce)
        row.change(&token)
        let signedIn = try await signIn(token.text(), provider, allowedTenants: row.allowedTenants)
        #expect(signedIn.homeAccountID == "uid-1.utid-1")
        let claims = signedIn.idTokenClaims
        #expect([claims.issuer, claims.subject, claims.tenantID] == [issuer, "subject-1", tenantID])
        #expect(claims.objectID == "object-1")
        #expect(claims.username == "adele@contoso.example")
        #expect(claims.sessionID == "session-1")
        #expect(claims.loginHint == "opaque-hint")
        #expect(try claims.json == json(token.claims))
    }

    @Test func `an answer to a code without an ID token is refused`() async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let request = try await codeRequest(directory, provider.authority)
        let answer = try tokenAnswer(idToken: nil)
        let error = await openIDError { () async throws(OpenIDError) in
            try await request.answer(from: answer, directory: directory).tokens()
        }
        #expect(error == OpenIDError(.missing))
    }

    @Test func `an ID token of another issuer than the callback's is refused`() async throws {
        let provider = try TestProvider()
        let text = try TestToken(nonce: attempt.nonce).text()
        let same = try await signIn(text, provider, callbackIssuer: issuer)
        #expect(same.idTokenClaims.issuer == issuer)
        let error = await openIDError { () async throws(OpenIDError) in
            try await signIn(text, provider, callbackIssuer: "\(origin)/\(otherTenantID)/v2.0")
        }
        #expect(error == OpenIDError(.issuer))
    }

    @Test(
        arguments: [
            (["client_info": Base64URL.encode(#"{"uid":"u","utid":"t"}"#.utf8)], "object-1", "u.t"),
            (["client_info": "not base64!"], "object-1", "object-1.\(tenantID)"),
            (["client_info": Base64URL.encode(#"{"uid":"u"}"#.utf8)], "object-1", "object-1.\(tenantID)"),
            (["client_info": Base64URL.encode(#"{"uid":"a b","utid":"t"}"#.utf8)], "object-1", "object-1.\(tenantID)"),
            (["client_info": ""], nil, "mqxS7eaP5k2DnG733VBBZp8FnH0_AB97JEgm7foqJZg"),
        ])
    func `the account's key is client_info, else oid and tid, else a hash`(
        _ changes: [String: String], _ objectID: String?, _ expected: String
    ) async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        var token = TestToken(nonce: attempt.nonce)
        token.claims["oid"] = objectID
        let request = try await codeRequest(directory, provider.authority)
        let answer = try tokenAnswer(idToken: token.text(), changes)
        #expect(try await request.answer(from: answer, directory: directory).tokens().homeAccountID == expected)
    }

    @Test(
        arguments: [
            ("uid-1", true), ("A_z-09", true), (String(repeating: "a", count: 128), true), ("", false),
            (String(repeating: "a", count: 129), false), ("a.b", false), ("a b", false), ("é", false),
            ("a\u{301}", false), (#"a\r\n"#, false), ("\u{661}", false), ("\u{FF21}", false),
        ])
    func `client_info counts where its identifiers have letters and digits of ASCII, - and _ only`(
        _ uid: String, isUsable: Bool
    ) async throws {
        let provider = try TestProvider()
        let directory = provider.directory()
        let request = try await codeRequest(directory, provider.authority)
        let info = Base64URL.encode(#"{"uid":"\#(uid)","utid":"t"}"#.utf8)
        let answer = try tokenAnswer(idToken: TestToken(nonce: attempt.nonce).text(), ["client_info": info])
        let account = try await request.answer(from: answer, directory: directory).tokens().homeAccountID
        #expect(account == (isUsable ? "\(uid).t" : "object-1.\(tenantID)"))
    }

    @Test func `the control characters are Unicode's`() {
        let wrong = (UInt32(0)...0xFFFF).compactMap { Unicode.Scalar($0) }.filter {
            IDTokenClaims.isControl($0) != ($0.properties.generalCategory == .control)
        }
        #expect(wrong.isEmpty)
    }

    @Test(
        arguments: [
            ("", ""), ("https://a/{tenantid}/v2.0", "https://a/T/v2.0"), ("{tenantid}{tenantid}", "TT"),
            ("{{tenantid}}", "{T}"), ("{tenantid", "{tenantid"), ("{TenantID}", "{TenantID}"), ("a{b", "a{b"),
            ("é{tenantid}é", "éTé"), ("no place", "no place"),
        ])
    func `the tenant takes each of its places in a template`(_ template: String, _ filled: String) {
        #expect(IssuerRule.fill(template, tenantID: "T") == filled)
    }

    private func codeRequest(
        _ directory: ProviderDirectory, _ authority: Authority, allowedTenants: [String] = [],
        callbackIssuer: String? = nil
    ) async throws(OpenIDError) -> CodeRequest {
        var fields = [(name: "code", value: "the-code"), (name: "state", value: attempt.state)]
        if let callbackIssuer { fields.append(("iss", callbackIssuer)) }
        let callback = try await Callback(fields: fields)
            .validated(against: attempt, metadata: directory.metadata(for: authority))
        return try CodeRequest(redeeming: callback, client: client(allowedTenants: allowedTenants))
    }

    private func signIn(
        _ idToken: String, _ provider: TestProvider, allowedTenants: [String] = [], callbackIssuer: String? = nil
    ) async throws(OpenIDError) -> SignedInTokens {
        let directory = provider.directory()
        let request = try await codeRequest(
            directory, provider.authority, allowedTenants: allowedTenants, callbackIssuer: callbackIssuer)
        guard let answer = try? tokenAnswer(idToken: idToken) else { throw OpenIDError(unreachable: "no answer") }
        return try await request.answer(from: answer, directory: directory).tokens()
    }
}
