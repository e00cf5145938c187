import Cryptography
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

    fileprivate var scheme: SignatureScheme {
        switch self {
        case .rs256: .rs256
        case .ps256: .ps256
        case .es256: .es256
        }
    }
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

    private let key: PublicKey

    /// Reads a key; nil if it is not for signatures, or has a type, curve, size or algorithm that is not accepted.
    init?(_ jwk: JSONValue) {
        guard jwk["use"]?.string ?? "sig" == "sig" else { return nil }
        if let operations = jwk["key_ops"]?.array, !operations.contains(.string("verify")) { return nil }
        guard let key = PublicKey(jwk: jwk) else { return nil }
        var algorithms: Set<SigningAlgorithm> = key.kind == .rsa ? [.rs256, .ps256] : [.es256]
        if let name = jwk["alg"] { algorithms = algorithms.filter { .string($0.rawValue) == name } }
        guard !algorithms.isEmpty else { return nil }
        id = jwk["kid"]?.string
        issuer = jwk["issuer"]?.string
        self.algorithms = algorithms
        self.key = key
    }

    /// Whether this key signed `input` with this algorithm, which is one of ``algorithms``.
    func isValidSignature(_ signature: [UInt8], of input: [UInt8], algorithm: SigningAlgorithm) -> Bool {
        algorithms.contains(algorithm) && key.isSignature(signature, of: input, scheme: algorithm.scheme)
    }
}

extension PublicKey {
    /// Reads the parameters of RFC 7518 section 6. Zeros before a modulus count for nothing (section 3.3).
    fileprivate convenience init?(jwk: JSONValue) {
        func bytes(_ name: String) -> [UInt8]? { (jwk[name]?.string?.utf8).flatMap(Base64URL.decode) }
        switch jwk["kty"]?.string {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            self.init(modulus: modulus, exponent: exponent)
        case "EC":
            guard jwk["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y") else { return nil }
            self.init(x: x, y: y)
        default: return nil
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
