import TenantControl
import TenantDirectory
import WebFormats

extension DemoIDTokenFault {
    /// Returns a token with these claims that is invalid in this one way.
    func token(_ claims: [String: JSONValue], key: DemoSigningKey) throws -> String {
        var claims = claims
        switch self {
        case .signature:
            let token = try key.sign(claims)
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, var signature = Base64URL.decode(parts[2].utf8), !signature.isEmpty else {
                return token
            }
            signature[signature.count / 2] ^= 0x01
            return "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))"
        case .algorithmNone:
            let header: JSONValue = ["typ": "JWT", "alg": "none"]
            return "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(JSONValue.object(claims).bytes))."
        case .unknownKeyID:
            return try key.sign(claims, keyID: "a-key-that-is-not-published")
        case .issuer:
            claims["iss"] = "https://issuer.example/\(Tenant.contoso)/v2.0"
        case .audience:
            claims["aud"] = "0d4f3b6e-1c52-4f0b-9a77-2f6f3a1f8f10"
        case .nonce:
            claims["nonce"] = "the-nonce-of-another-request"
        case .expired:
            shift(&claims, by: -7200)
        case .notYetValid:
            shift(&claims, by: 7200)
        case .tenant:
            claims["tid"] = "b1f2f0f4-6a52-4f3c-8c8e-6f1d7a0f2c55"
        }
        return try key.sign(claims)
    }

    private func shift(_ claims: inout [String: JSONValue], by seconds: Int) {
        for name in ["iat", "nbf", "exp"] {
            if let time = claims[name]?.integer { claims[name] = .integer(time + seconds) }
        }
    }
}
