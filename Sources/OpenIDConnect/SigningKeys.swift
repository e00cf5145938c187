import Crypto
import FoundationEssentials
import JWTKit

/// The signature algorithms that are accepted, whatever a token asks for.
public enum SigningAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
}

/// One public key of the provider. JWTKit is given exactly this key with the algorithm pinned, once, when the set is
/// read: its own key collection would fall back to a default key on an unknown `kid`, keep the algorithm that a token
/// asked for, and refuse a whole set for one key it does not know.
public struct SigningKey: Sendable {
    /// The key's `kid`.
    public let id: String?
    /// The key's `issuer`, which the keys of `common` carry; may hold `{tenantid}`.
    public let issuer: String?
    /// What the key may be used for.
    public var algorithms: Set<SigningAlgorithm> { Set(verifiers.keys) }

    private let verifiers: [SigningAlgorithm: any JWTAlgorithm]

    /// Nil for a key that is not for signatures, or of a type, curve, size or algorithm that we do not accept.
    init?(_ jwk: JSONValue) async {
        guard jwk["use"]?.string ?? "sig" == "sig" else { return nil }
        if let operations = jwk["key_ops"]?.array, !operations.contains(.string("verify")) { return nil }
        var verifiers = await Self.verifiers(for: jwk)
        if let name = jwk["alg"] { verifiers = verifiers.filter { .string($0.key.rawValue) == name } }
        guard !verifiers.isEmpty else { return nil }
        id = jwk["kid"]?.string
        issuer = jwk["issuer"]?.string
        self.verifiers = verifiers
    }

    func isValidSignature(_ signature: [UInt8], of input: [UInt8], algorithm: SigningAlgorithm) -> Bool {
        guard let verifier = verifiers[algorithm] else { return false }
        return (try? verifier.verify(signature, signs: input)) ?? false
    }

    private static func verifiers(for jwk: JSONValue) async -> [SigningAlgorithm: any JWTAlgorithm] {
        switch jwk["kty"]?.string {
        case "RSA":
            guard let modulus = jwk["n"]?.string, Base64URL.decode(modulus.utf8) != nil,
                let exponent = jwk["e"]?.string, Base64URL.decode(exponent.utf8) != nil,
                let key = try? Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent),
                let rs256 = try? await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256).getKey(),
                let ps256 = try? await JWTKeyCollection().add(pss: key, digestAlgorithm: .sha256).getKey()
            else { return [:] }
            return [.rs256: rs256, .ps256: ps256]
        case "EC":
            guard jwk["crv"]?.string == "P-256", let x = (jwk["x"]?.string?.utf8).flatMap(Base64URL.decode),
                let y = (jwk["y"]?.string?.utf8).flatMap(Base64URL.decode), x.count == 32, y.count == 32,
                let point = try? P256.Signing.PublicKey(x963Representation: [4] + x + y),
                let key = try? ES256PublicKey(backing: point),
                let es256 = try? await JWTKeyCollection().add(ecdsa: key).getKey()
            else { return [:] }
            return [.es256: es256]
        default: return [:]
        }
    }
}

/// A JSON Web Key Set (RFC 7517) without the keys that we have no use for.
public struct SigningKeySet: Sendable {
    /// In the document's order.
    public let keys: [SigningKey]

    init(parsing response: ProviderResponse, now: ProviderClock) async throws(OpenIDError) {
        let document = try ProviderAnswer(response, now: now).document(named: "keys")
        var keys: [SigningKey] = []
        for jwk in document["keys"]?.array ?? [] {
            if let key = await SigningKey(jwk) { keys.append(key) }
        }
        guard !keys.isEmpty else {
            throw ProviderMetadata.invalid("The provider's key set holds no usable signing key.")
        }
        self.keys = keys
    }

    /// The key for a token's header; its one key for a header without `kid`.
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
