import Cryptography
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import WebFormats

@testable import OpenIDConnect

let tenantID = "11111111-2222-3333-4444-555555555555"
let otherTenantID = "99999999-2222-3333-4444-555555555555"
let clientID = "00000000-aaaa-bbbb-cccc-000000000000"
let origin = "https://login.microsoftonline.com"
let issuer = "\(origin)/\(tenantID)/v2.0"
/// The time at which the tests take place.
let testTime = Date(timeIntervalSince1970: 1_800_000_000)

/// Keys made once for the whole run: making an RSA key takes a while.
enum TestKeys {
    static let rsa = PrivateKey(.rsa)
    static let otherRSA = PrivateKey(.rsa)
    /// Too short to be accepted.
    static let weakRSA = Result { try WeakKey() }
    static let ec = PrivateKey(.p256)

    /// An RSA key of 1024 bits, which OpenSSL makes and uses, because we do not.
    struct WeakKey: Sendable {
        private let pem: String
        let modulus: [UInt8]

        init() throws {
            let folder = try TemporaryFolder(isMade: true)
            _ = try openssl("genrsa", "-out", folder.path + "/key.pem", "1024")
            let printed = try openssl("rsa", "-in", folder.path + "/key.pem", "-noout", "-modulus").output
            pem = try folder.text("key.pem")
            modulus = Hex.decode(printed.trimmingCharacters(in: .newlines).replacing("Modulus=", with: "")) ?? []
        }

        func signature(of input: [UInt8]) throws -> [UInt8] {
            let folder = try TemporaryFolder(isMade: true)
            try folder.write(pem, to: "key.pem")
            try folder.write(input, to: "input")
            let path = folder.path
            _ = try openssl(
                "dgst", "-sha256", "-sign", "\(path)/key.pem", "-out", "\(path)/signature", "\(path)/input")
            return try folder.bytes("signature")
        }
    }

    static func rsaJWK(
        _ id: String?, _ modulus: [UInt8] = rsa.publicKey.modulus, _ more: [String: Any] = [:]
    ) throws -> [String: Any] {
        var jwk: [String: Any] = ["kty": "RSA", "use": "sig", "n": Base64URL.encode(modulus), "e": "AQAB"]
        jwk["kid"] = id
        return jwk.merging(more) { $1 }
    }

    static func ecJWK(_ id: String) -> [String: Any] {
        [
            "kty": "EC", "crv": "P-256", "kid": id, "x": Base64URL.encode(ec.publicKey.x),
            "y": Base64URL.encode(ec.publicKey.y),
        ]
    }
}

/// The way in which a test's token is signed.
enum Signature {
    case rs256, ps256, es256, otherRSAKey, weakRSAKey, hs256WithPublicKey, none
    /// ECDSA as X.509 has it: a sequence of two integers.
    case derES256
    /// ECDSA with a byte behind it.
    case longES256
    /// No key's: the padded hash itself (RFC 8017 section 9.2), which the exponent 1 would leave as it is.
    case paddedHash

    func bytes(of input: [UInt8]) throws -> [UInt8] {
        func signature(_ key: PrivateKey, _ scheme: SignatureScheme) -> [UInt8] {
            key.signature(of: input, scheme: scheme) ?? []
        }
        switch self {
        case .rs256: return signature(TestKeys.rsa, .rs256)
        case .otherRSAKey: return signature(TestKeys.otherRSA, .rs256)
        case .weakRSAKey: return try TestKeys.weakRSA.get().signature(of: input)
        case .ps256: return signature(TestKeys.rsa, .ps256)
        case .es256: return signature(TestKeys.ec, .es256)
        case .derES256: return der(signature(TestKeys.ec, .es256))
        case .longES256: return signature(TestKeys.ec, .es256) + [0]
        case .hs256WithPublicKey:
            return Array(AuthenticationKey(TestKeys.rsa.publicKey.pem.utf8).code(for: input))
        case .paddedHash:
            let sha256: [UInt8] = [
                0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
                0x04, 0x20,
            ]
            let end = [0x00] + sha256 + SHA256.hash(data: input)
            return [0x00, 0x01] + Array(repeating: 0xFF, count: 256 - 2 - end.count) + end
        case .none: return []
        }
    }

    /// The DER of r and s: two integers, with a zero before a high bit.
    private func der(_ numbers: [UInt8]) -> [UInt8] {
        var integers: [UInt8] = []
        for number in [numbers.prefix(32), numbers.suffix(32)] {
            var value = Array(number.drop { $0 == 0 })
            if value.first.map({ $0 >= 0x80 }) ?? true { value.insert(0, at: 0) }
            integers += [2, UInt8(value.count)] + value
        }
        return [0x30, UInt8(integers.count)] + integers
    }
}

/// A token in the making: changes to it are what the tests are about.
struct TestToken {
    var header: [String: Any] = ["alg": "RS256", "typ": "JWT", "kid": "rsa-1"]
    var claims: [String: Any]
    var signature = Signature.rs256
    /// Instead of the JSON of `header` or `claims`.
    var headerText: String?
    var claimsText: String?

    /// A token that is right in every respect.
    init(nonce: String? = nil) {
        let time = Int(testTime.timeIntervalSince1970)
        claims = [
            "iss": issuer, "sub": "subject-1", "aud": clientID, "tid": tenantID, "oid": "object-1",
            "iat": time, "nbf": time, "exp": time + 3600, "name": "Adele Vance",
            "preferred_username": "adele@contoso.example", "sid": "session-1", "login_hint": "opaque-hint",
        ]
        claims["nonce"] = nonce
    }

    func text() throws -> String {
        let header = try headerText ?? json(self.header)
        let claims = try claimsText ?? json(self.claims)
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        return input + "." + Base64URL.encode(try signature.bytes(of: Array(input.utf8)))
    }
}

func json(_ value: Any) throws -> String {
    String(
        decoding: try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed]),
        as: UTF8.self)
}

func response(
    _ body: String, status: Int = 200, type: String? = "application/json; charset=utf-8", retryAfter: String? = nil
) -> ProviderResponse {
    var fields = HTTPFields()
    fields[.contentType] = type
    fields[.retryAfter] = retryAfter
    return ProviderResponse(
        head: HTTPResponse(status: .init(code: status), headerFields: fields), body: Array(body.utf8))
}

/// A provider in memory: documents that a test can change, a clock that it can turn, and a count of what was fetched.
final class TestProvider: Sendable {
    private struct State {
        var time = testTime
        var discovery = ""
        var keys = ""
        var failure: ProviderResponse?
        var isUnreachable = false
        var fetches: [String] = []
        var gate: [CheckedContinuation<Void, Never>]?
    }

    private let state = Mutex(State())
    let authority: Authority

    init(
        _ authority: String = "\(origin)/common", kind: Authority.Kind = .workforce, keys: [[String: Any]]? = nil,
        discovery: [String: Any] = [:]
    ) throws {
        self.authority = try Authority(authority, kind: kind)
        try setDiscovery(discovery)
        try setKeys(keys ?? [TestKeys.rsaJWK("rsa-1"), TestKeys.ecJWK("ec-1")])
    }

    func setDiscovery(_ changes: [String: Any], removing: String? = nil) throws {
        let base = authority.description
        let issuer =
            switch authority.kind {
            case .workforce:
                authority.segment == .common || authority.segment == .organizations
                    ? "\(authority.origin)/{tenantid}/v2.0" : "\(authority.origin)/\(tenantID)/v2.0"
            case .external: "https://\(tenantID).ciamlogin.com/\(tenantID)/v2.0"
            case .b2c: "\(authority.origin)/tfp/\(tenantID)/\(authority.policy ?? "")/v2.0/"
            case .oidc: base
            }
        var document: [String: Any] = [
            "issuer": issuer,
            "authorization_endpoint": "\(base)/oauth2/v2.0/authorize", "token_endpoint": "\(base)/oauth2/v2.0/token",
            "jwks_uri": "\(base)/discovery/v2.0/keys", "end_session_endpoint": "\(base)/oauth2/v2.0/logout",
        ]
        document.merge(changes) { $1 }
        if let removing { document[removing] = nil }
        let text = try json(document)
        state.withLock { $0.discovery = text }
    }

    func setKeys(_ keys: [[String: Any]]) throws {
        let text = try json(["keys": keys])
        state.withLock { $0.keys = text }
    }

    func fail(_ response: ProviderResponse?) { state.withLock { $0.failure = response } }
    func setUnreachable(_ isUnreachable: Bool) { state.withLock { $0.isUnreachable = isUnreachable } }
    func advance(seconds: TimeInterval) { state.withLock { $0.time += seconds } }
    func fetches(_ suffix: String) -> Int { state.withLock { $0.fetches.filter { $0.hasSuffix(suffix) }.count } }
    var now: ProviderClock { { self.state.withLock { $0.time } } }

    /// From here on requests wait until `openGate`.
    func closeGate() { state.withLock { $0.gate = [] } }
    var waiting: Int { state.withLock { $0.gate?.count ?? 0 } }
    func openGate() {
        let waiters = state.withLock { state in
            defer { state.gate = nil }
            return state.gate ?? []
        }
        for waiter in waiters { waiter.resume() }
    }

    func directory(
        configured: Set<Authority>? = nil, keyRefetchInterval: Duration = .seconds(300)
    ) -> ProviderDirectory {
        ProviderDirectory(
            configured: configured, keyRefetchInterval: keyRefetchInterval, transport: { try await self.answer($0) },
            now: now)
    }

    private struct Unreachable: Error {}

    func answer(_ request: ProviderRequest) async throws -> ProviderResponse {
        let path = request.head.path ?? ""
        state.withLock { $0.fetches.append(path) }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.gate?.append(continuation)
                return state.gate == nil
            }
            if isOpen { continuation.resume() }
        }
        return try state.withLock { state in
            if state.isUnreachable { throw Unreachable() }
            if let failure = state.failure { return failure }
            return response(path.hasSuffix("/openid-configuration") ? state.discovery : state.keys)
        }
    }
}

/// The client of the tests.
func client(
    _ authentication: ClientAuthentication = .secret("the-client-secret"), allowedTenants: [String] = [],
    clientCapabilities: [String] = []
) -> AuthenticatedClient {
    AuthenticatedClient(
        registration(allowedTenants: allowedTenants, clientCapabilities: clientCapabilities),
        authentication: authentication)
}

func registration(allowedTenants: [String] = [], clientCapabilities: [String] = []) -> ClientRegistration {
    ClientRegistration(
        clientID: clientID, redirectURI: "http://localhost:8080/auth/callback",
        scopes: ["User.Read"], allowedTenants: allowedTenants, clientCapabilities: clientCapabilities)
}

let attempt = AuthorizationAttempt(
    state: "state-of-this-attempt", nonce: "nonce-of-this-attempt",
    codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")

/// A token answer as the platform sends it.
func tokenAnswer(idToken: String?, _ changes: [String: Any] = [:]) throws -> ProviderResponse {
    var body: [String: Any] = [
        "token_type": "Bearer", "scope": "User.Read openid profile", "expires_in": 3599, "ext_expires_in": 3599,
        "access_token": "the-access-token", "refresh_token": "the-refresh-token",
        "client_info": Base64URL.encode(#"{"uid":"uid-1","utid":"utid-1"}"#.utf8),
    ]
    body["id_token"] = idToken
    return response(try json(body.merging(changes) { $1 }))
}

/// The error that the body throws; a test that expects one fails without it.
func openIDError<Value>(_ body: () async throws(OpenIDError) -> Value) async -> OpenIDError? {
    do throws(OpenIDError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
