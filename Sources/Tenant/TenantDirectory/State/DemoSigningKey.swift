import Cryptography
package import Foundation
package import WebFormats

/// One RSA key of the tenant. Work accounts and consumers have separate keys, as on the real platform, where the
/// consumers' key names its issuer.
package struct DemoSigningKey: Sendable {
    /// The form in the state file.
    package struct Stored: Codable, Sendable {
        package var id: String
        package var forConsumers: Bool
        /// The key in PKCS #1 form.
        package var der: Data
        /// The self-signed certificate. A key of an older version has none; it gets one when it is read, which the state keeps.
        package var certificate: Data?
    }

    let stored: Stored
    private let key: PrivateKey
    /// The modulus and the exponent as base64url, computed once.
    private let modulus: String
    private let exponent: String
    /// The certificate's SHA-1, by which older clients choose a key.
    private let thumbprint: String

    package var id: String { stored.id }
    package var forConsumers: Bool { stored.forConsumers }

    /// Creates a new 2048-bit key.
    package init(forConsumers: Bool) throws {
        let key = PrivateKey(.rsa)
        let certificate = try Self.certificate(of: key)
        let stored = Stored(
            id: Base64URL.encode(SHA1.hash(data: certificate)), forConsumers: forConsumers,
            der: Data(key.traditionalDER),
            certificate: certificate)
        try self.init(stored)
    }

    /// Makes the keys that a tenant begins with: two of each kind, as there is always more than one (jwks-09). The second
    /// signs.
    package static let first: @Sendable () throws -> [DemoSigningKey] = {
        try [false, false, true, true].map(DemoSigningKey.init(forConsumers:))
    }

    /// Makes a certificate as the real platform's keys have one, which nobody has to trust.
    private static func certificate(of key: PrivateKey) throws -> Data {
        let start = Int64(Date().timeIntervalSince1970) - 86400
        return Data(
            try Certificate(
                of: key.publicKey, commonName: "accounts.accesscontrol.windows.net",
                validity: start...(start + 5 * 365 * 86400), extensions: [], signedBy: key
            ).der)
    }

    package init(_ stored: Stored) throws {
        guard let key = PrivateKey(der: stored.der), key.kind == .rsa else { throw CocoaError(.coderReadCorrupt) }
        let certificate = try stored.certificate ?? Self.certificate(of: key)
        self.stored = Stored(
            id: stored.id, forConsumers: stored.forConsumers, der: stored.der, certificate: certificate)
        thumbprint = Base64URL.encode(SHA1.hash(data: certificate))
        self.key = key
        modulus = Base64URL.encode(key.publicKey.modulus)
        exponent = Base64URL.encode(key.publicKey.exponent)
    }

    /// Returns a compact JWS (RFC 7515) with RS256.
    ///
    /// - Parameters:
    ///   - keyID: Another key's ID for the header of a deliberately invalid token.
    ///   - nonce: A value for the header, whose hash is signed in its place. Nobody but ``claims(of:)`` can check such a
    ///     token; the real platform's for Graph are so (truth at-v1-03).
    package func sign(_ claims: [String: JSONValue], keyID: String? = nil, nonce: String? = nil) throws -> String {
        var header: [String: JSONValue] = ["typ": "JWT", "alg": "RS256", "kid": .string(keyID ?? id)]
        // Tokens of version 1 name the certificate, and no others do (truth at-v1-02, at-v2-08, id-work-01).
        if claims["iss"]?.string?.contains("/sts/") == true { header["x5t"] = .string(keyID ?? thumbprint) }
        header["nonce"] = nonce.map(JSONValue.string)
        let payload = Base64URL.encode(JSONValue.object(claims).platformBytes)
        guard let signature = key.signature(of: Self.signed(header, payload).utf8, scheme: .rs256) else {
            throw CocoaError(.coderInvalidValue)
        }
        return "\(Base64URL.encode(JSONValue.object(header).bytes)).\(payload).\(Base64URL.encode(signature))"
    }

    /// Returns the claims of a token that this key has signed.
    func claims(of parts: [Substring], header: [String: JSONValue]) -> JSONValue? {
        guard parts.count == 3, header["alg"]?.string == "RS256", let signature = Base64URL.decode(parts[2].utf8)
        else { return nil }
        let input =
            header["nonce"] == nil ? "\(parts[0]).\(parts[1])" : Self.signed(header, String(parts[1]))
        guard key.publicKey.isSignature(signature, of: input.utf8, scheme: .rs256) else { return nil }
        return Base64URL.decode(parts[1].utf8).flatMap { JSONValue(parsing: $0) }
    }

    /// Returns the signed text: the header with the hash of its nonce, and the payload.
    private static func signed(_ header: [String: JSONValue], _ payload: String) -> String {
        var header = header
        header["nonce"] = header["nonce"]?.string.map { .string(Base64URL.encode(SHA256.hash(data: $0.utf8))) }
        return "\(Base64URL.encode(JSONValue.object(header).bytes)).\(payload)"
    }

    /// Returns the published form, like the real platform's keys without `alg`.
    ///
    /// - Parameters:
    ///   - issuer: The issuer for which it signs; nil at version 1 addresses, whose keys name none.
    ///   - cloud: The name of the cloud's instance, which goes with the issuer.
    package func jwk(issuer: String?, cloud: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "kty": "RSA", "use": "sig", "kid": .string(id), "x5t": .string(thumbprint), "n": .string(modulus),
            "e": .string(exponent), "x5c": [.string((stored.certificate ?? Data()).base64EncodedString())],
        ]
        if let issuer { (members["issuer"], members["cloud_instance_name"]) = (.string(issuer), .string(cloud)) }
        return .object(members)
    }
}
