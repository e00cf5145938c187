import Crypto
import CryptoExtras
import FoundationEssentials
import WebFormats

/// The accepted signature algorithms, whatever a token asks for.
public enum SigningAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
}

/// A public key of the provider, for those allowed algorithms that suit its type. A token's header only chooses among
/// them.
public struct SigningKey: Sendable {
    /// The key's `kid`.
    public let id: String?
    /// The key's `issuer`, which the keys of `common` carry; may hold `{tenantid}`.
    public let issuer: String?
    /// The algorithms for which the key may be used; never empty.
    public let algorithms: Set<SigningAlgorithm>

    private let material: Material

    /// Reads a key; nil if it is not for signatures, or has a type, curve, size or algorithm that is not accepted.
    init?(_ jwk: JSONValue) {
        guard jwk["use"]?.string ?? "sig" == "sig" else { return nil }
        if let operations = jwk["key_ops"]?.array, !operations.contains(.string("verify")) { return nil }
        guard let material = Material(jwk) else { return nil }
        var algorithms = material.algorithms
        if let name = jwk["alg"] { algorithms = algorithms.filter { .string($0.rawValue) == name } }
        guard !algorithms.isEmpty else { return nil }
        id = jwk["kid"]?.string
        issuer = jwk["issuer"]?.string
        self.algorithms = algorithms
        self.material = material
    }

    /// Whether this key signed `input` with this algorithm, which is one of ``algorithms``.
    func isValidSignature(_ signature: [UInt8], of input: [UInt8], algorithm: SigningAlgorithm) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        let digest = SHA256.hash(data: input)
        switch (material, algorithm) {
        case (.rsa(let key), .rs256):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5)
        case (.rsa(let key), .ps256):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
            return key.isValidSignature(signature, for: digest, padding: .PSS)
        case (.p256(let key), .es256):
            // R and S, 32 bytes each (RFC 7518 section 3.4), and not DER.
            guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: digest)
        case (.rsa, .es256), (.p256, .rs256), (.p256, .ps256): return false
        }
    }

    /// The parameters of RFC 7518 section 6, as a key.
    private enum Material: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)

        init?(_ jwk: JSONValue) {
            func bytes(_ name: String) -> [UInt8]? { (jwk[name]?.string?.utf8).flatMap(Base64URL.decode) }
            switch jwk["kty"]?.string {
            case "RSA":
                // CryptoExtras refuses a modulus of fewer than 2048 bits, regardless of leading zeros (RFC 7518 section
                // 3.3), and an exponent that is even or 1.
                guard let modulus = bytes("n"), let exponent = bytes("e"),
                    let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent)
                else { return nil }
                self = .rsa(key)
            case "EC":
                guard jwk["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"), x.count == 32,
                    y.count == 32, let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
                else { return nil }
                self = .p256(key)
            default: return nil
            }
        }

        var algorithms: Set<SigningAlgorithm> {
            switch self {
            case .rsa: [.rs256, .ps256]
            case .p256: [.es256]
            }
        }
    }
}

/// A JSON Web Key Set (RFC 7517) without the keys that cannot be used.
public struct SigningKeySet: Sendable {
    /// The keys in the document's order.
    public let keys: [SigningKey]

    init(parsing response: ProviderResponse, now: ProviderClock) throws(OpenIDError) {
        let document = try ProviderAnswer(response, now: now).document(named: "keys")
        let keys = (document["keys"]?.array ?? []).compactMap(SigningKey.init)
        guard !keys.isEmpty else {
            throw ProviderMetadata.invalid("The provider's key set holds no usable signing key.")
        }
        self.keys = keys
    }

    /// Returns the key that a token's header names. Without `kid`, returns the provider's key if it has exactly one.
    func key(id: String?, algorithm: SigningAlgorithm) throws(OpenIDError) -> SigningKey {
        let candidates: [SigningKey]
        if let id {
            candidates = keys.filter { $0.id == id }
            if candidates.isEmpty { throw OpenIDError(.unknownKey) }
        } else {
            candidates = keys
            if keys.count > 1 { throw OpenIDError(.ambiguousKey) }
        }
        guard let key = candidates.first(where: { $0.algorithms.contains(algorithm) }) else {
            throw OpenIDError(.algorithm)
        }
        return key
    }
}
