import Crypto
import CryptoExtras
public import Foundation
import HTTPTypes
import SwiftASN1
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
    private let key: _RSA.Signing.PrivateKey
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
        let documents = try? PEMDocument.parseMultiple(pemString: certificatePEM)
        guard let document = documents?.first(where: { $0.discriminator == CertificateFields.pemType }) else {
            throw Failure(reason: "the certificate is not PEM: it has to begin with -----BEGIN CERTIFICATE-----")
        }
        guard let certificate = try? CertificateFields(der: document.derBytes) else {
            throw Failure(reason: "the certificate cannot be read")
        }
        do {
            key = try _RSA.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
        } catch {
            throw Failure(reason: "the private key is not an RSA key in PEM without a passphrase")
        }
        guard certificate.publicKey == key.publicKey.derRepresentation else {
            throw Failure(reason: "the private key is not the certificate's")
        }
        notValidAfter = certificate.notValidAfter
        sha1 = Array(Insecure.SHA1.hash(data: document.derBytes))
        thumbprint = Base64URL.encode(SHA256.hash(data: document.derBytes))
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
        do {
            let signature = try key.signature(for: SHA256.hash(data: Array(input.utf8)), padding: .PSS)
            return input + "." + Base64URL.encode(signature.rawRepresentation)
        } catch {
            throw OpenIDError(.providerRejectedClient, "The client certificate's private key cannot sign: replace it.")
        }
    }
}

extension ProviderRequest {
    /// Returns a POST to an endpoint at which the client authenticates.
    static func authenticated(
        _ endpoint: Endpoint, metadata: ProviderMetadata, client: AuthenticatedClient,
        form: [(name: String, value: String)]
    ) throws(OpenIDError) -> ProviderRequest {
        let clientID = client.registration.clientID
        var fields = [(name: "client_id", value: clientID)]
        var authorization: String?
        switch client.authentication {
        case .publicClient: break
        case .secret(let secret, let method):
            switch method ?? metadata.secretMethod {
            case .post: fields.append(("client_secret", secret))
            case .basic:
                // RFC 6749 section 2.3.1: both are form-encoded first, so that a colon in them is not a separator.
                let credentials = FormEncoding.escaped(clientID) + ":" + FormEncoding.escaped(secret)
                authorization = "Basic " + Data(credentials.utf8).base64EncodedString()
                fields = []
            }
        case .certificate(let certificate):
            let assertion = try certificate.assertion(clientID: clientID, audience: metadata.tokenEndpoint)
            fields += assertionFields(assertion)
        case .assertion(let assertion):
            fields += assertionFields(assertion)
        }
        var request = ProviderRequest.post(endpoint, form: fields + form)
        if let authorization { request.head.headerFields[.authorization] = authorization }
        return request
    }

    private static func assertionFields(_ assertion: String) -> [(name: String, value: String)] {
        [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
        ]
    }
}

extension ProviderMetadata {
    /// The method for a secret unless one is configured. Microsoft's platforms take it in the form. Other providers
    /// announce their methods; the default is the `Authorization` field (RFC 8414 section 2). If a provider supports
    /// both, the form is used, because providers disagree on the encoding of special characters in the field.
    var secretMethod: ClientAuthentication.SecretMethod {
        guard authority.kind == .oidc else { return .post }
        guard let secretMethods else { return .basic }
        return secretMethods.contains("client_secret_post") ? .post : .basic
    }
}
