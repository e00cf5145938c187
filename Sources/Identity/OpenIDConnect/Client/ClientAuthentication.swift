import Cryptography
public import Foundation
public import WebFormats

/// The way in which the client authenticates at the token endpoint (OpenID Connect Core section 9).
public enum ClientAuthentication: Sendable, Redacted {
    /// No authentication: a redirect URI of the type *mobile and desktop*. PKCE alone protects the code.
    case publicClient
    /// A secret: a redirect URI of the type *web*. Without a method, the provider's metadata decides.
    case secret(String, method: SecretMethod? = nil)
    /// A certificate: `private_key_jwt`.
    case certificate(ClientCertificate)
    /// The current token of another identity system that the provider trusts (federated credential).
    case assertion(String)

    /// The part of the request that carries the secret.
    public enum SecretMethod: String, Sendable, CaseIterable {
        /// `client_secret_post`: in the form.
        case post
        /// `client_secret_basic`: in the `Authorization` field.
        case basic
    }
}

/// A certificate that is registered at the provider, and its private key.
public struct ClientCertificate: Sendable, Redacted {
    /// The reason for which the certificate or key cannot be used; `reason` says what to provide instead.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The reason, for the operator. It contains nothing of the key.
        public let reason: String
        /// The reason.
        public var description: String { reason }
    }

    /// The lifetime of an assertion, in seconds: the platform recommends 5 to 10 minutes.
    static let lifetime = 300

    /// The time when the certificate expires.
    public let notValidAfter: Date
    /// The SHA-1 of the certificate, by which Graph names it.
    public let sha1: [UInt8]
    private let thumbprint: String
    private let key: PrivateKey
    private let now: ProviderClock
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - certificatePEM: the certificate, or a chain whose first certificate is used.
    ///   - privateKeyPEM: its RSA private key, not encrypted.
    ///   - now: the wall clock.
    ///   - randomBytes: the source for each assertion's identifier.
    /// - Throws: when the certificate cannot be read, or the key is not an RSA key, has a passphrase or belongs to
    ///   another certificate.
    public init(
        certificatePEM: String, privateKeyPEM: String, now: @escaping ProviderClock,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) throws(Failure) {
        let certificate: Certificate
        do throws(Certificate.Failure) {
            certificate = try Certificate(pem: certificatePEM)
        } catch {
            throw Failure(
                reason: error == .notPEM
                    ? "the certificate is not PEM: it has to begin with -----BEGIN CERTIFICATE-----"
                    : "the certificate cannot be read")
        }
        guard let key = PrivateKey(pem: privateKeyPEM), key.kind == .rsa else {
            throw Failure(reason: "the private key is not an RSA key in PEM without a passphrase")
        }
        guard certificate.publicKey == key.publicKey else {
            throw Failure(reason: "the private key is not the certificate's")
        }
        self.key = key
        notValidAfter = Date(timeIntervalSince1970: TimeInterval(certificate.end))
        sha1 = SHA1.hash(data: certificate.der)
        thumbprint = Base64URL.encode(SHA256.hash(data: certificate.der))
        self.now = now
        self.randomBytes = randomBytes
    }

    /// Returns a fresh assertion (RFC 7523 section 3) in the form that the platform expects: PS256, `x5t#S256`, the
    /// token endpoint as audience.
    func assertion(clientID: String, audience: Endpoint) throws(OpenIDError) -> String {
        let issuedAt = Int(now().timeIntervalSince1970)
        let claims = JSONValue.object([
            "aud": .string(audience.description), "iss": .string(clientID), "sub": .string(clientID),
            "jti": .string(RandomUUID.text(randomBytes(16))), "nbf": .integer(issuedAt), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + Self.lifetime),
        ])
        let header = JSONValue.object([
            "alg": .string("PS256"), "typ": .string("JWT"), "x5t#S256": .string(thumbprint),
        ])
        let input = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
        guard let signature = key.signature(of: input.utf8, scheme: .ps256) else {
            throw OpenIDError(.providerRejectedClient, "The client certificate's private key cannot sign: replace it.")
        }
        return input + "." + Base64URL.encode(signature)
    }
}
