import Crypto
import CryptoExtras
import Foundation
import WebFormats

/// One RSA key of the tenant. Work accounts and consumers have separate keys, as on the real platform, where the
/// consumers' key names its issuer.
struct DemoSigningKey: Sendable {
    /// The form in the state file.
    struct Stored: Codable, Sendable {
        var id: String
        var forConsumers: Bool
        /// The key in PKCS #1 form.
        var der: Data
    }

    let stored: Stored
    private let key: _RSA.Signing.PrivateKey
    /// The modulus and the exponent as base64url, computed once.
    private let modulus: String
    private let exponent: String

    var id: String { stored.id }
    var forConsumers: Bool { stored.forConsumers }

    /// Creates a new 2048-bit key.
    init(forConsumers: Bool) throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        // The ID is derived from the key, so that no two keys share one.
        let id = Base64URL.encode(SHA256.hash(data: key.publicKey.derRepresentation).prefix(20))
        try self.init(Stored(id: id, forConsumers: forConsumers, der: key.derRepresentation))
    }

    /// Makes the keys that a tenant begins with.
    static let first: @Sendable () throws -> [DemoSigningKey] = {
        [try DemoSigningKey(forConsumers: false), try DemoSigningKey(forConsumers: true)]
    }

    init(_ stored: Stored) throws {
        self.stored = stored
        key = try _RSA.Signing.PrivateKey(derRepresentation: stored.der)
        let primitives = try key.publicKey.getKeyPrimitives()
        modulus = Base64URL.encode(primitives.modulus)
        exponent = Base64URL.encode(primitives.publicExponent)
    }

    /// Returns a compact JWS (RFC 7515) with RS256.
    ///
    /// - Parameter keyID: Another key's ID for the header of a deliberately invalid token.
    func sign(_ claims: [String: JSONValue], keyID: String? = nil) throws -> String {
        let header: JSONValue = ["typ": "JWT", "alg": "RS256", "kid": .string(keyID ?? id)]
        let input = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(JSONValue.object(claims).bytes))"
        let signature = try key.signature(for: SHA256.hash(data: Data(input.utf8)), padding: .insecurePKCS1v1_5)
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }

    func isValidSignature(_ signature: [UInt8], for input: some StringProtocol) -> Bool {
        key.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: Data(signature)),
            for: SHA256.hash(data: Data(input.utf8)), padding: .insecurePKCS1v1_5)
    }

    /// Returns the published form: without `alg` and with `issuer`, like the real platform's keys.
    func jwk(issuer: String) -> JSONValue {
        [
            "kty": "RSA", "use": "sig", "kid": .string(id), "x5t": .string(id), "n": .string(modulus),
            "e": .string(exponent), "issuer": .string(issuer),
        ]
    }
}
