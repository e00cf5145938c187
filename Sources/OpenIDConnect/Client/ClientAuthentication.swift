import Crypto
import CryptoExtras
public import Foundation
import HTTPTypes
import SwiftASN1
public import WebFormats

/// How the client proves to the token endpoint who it is (OpenID Connect Core section 9).
public enum ClientAuthentication: Sendable, Redacted {
    /// Not at all: a redirect URI of the type *mobile and desktop*. PKCE alone protects the code.
    case publicClient
    /// A secret: a redirect URI of the type *web*. Without a method the provider's metadata decides.
    case secret(String, method: SecretMethod? = nil)
    /// A certificate: `private_key_jwt`.
    case certificate(ClientCertificate)
    /// A token of another identity system that the provider trusts (federated credential), as it is right now.
    case assertion(String)

    /// Where the secret stands.
    public enum SecretMethod: String, Sendable, CaseIterable {
        /// `client_secret_post`: in the form.
        case post
        /// `client_secret_basic`: in the `Authorization` field.
        case basic
    }
}

/// A certificate that is registered at the provider, and its private key.
public struct ClientCertificate: Sendable, Redacted {
    /// Why certificate or key cannot be used; `reason` says what to give instead.
    public struct Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// For the operator; nothing of the key is in it.
        public let reason: String
        /// The same.
        public var description: String { reason }
    }

    /// How long an assertion is good, in seconds: the platform advises 5 to 10 minutes.
    static let lifetime = 300

    /// When the certificate ends.
    public let notValidAfter: Date
    private let thumbprint: String
    private let key: _RSA.Signing.PrivateKey
    private let now: ProviderClock
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - certificatePEM: the certificate, the first one where there is a chain.
    ///   - privateKeyPEM: its RSA private key, not encrypted.
    ///   - now: the wall clock.
    ///   - randomBytes: for each assertion's identifier.
    /// - Throws: when the certificate cannot be read, or the key is none of RSA, has a passphrase or is another's.
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
        thumbprint = Base64URL.encode(SHA256.hash(data: document.derBytes))
        self.now = now
        self.randomBytes = randomBytes
    }

    /// A fresh assertion (RFC 7523 section 3) as the platform wants it: PS256, `x5t#S256`, the token endpoint as audience.
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
    /// A POST to an endpoint at which the client proves who it is.
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
                // RFC 6749 section 2.3.1: both are form-encoded first, so that a colon in them is no separator.
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
    /// Where a secret goes unless configured: Microsoft's platforms take it in the form; others as they announce, and
    /// in the `Authorization` field where they announce nothing (RFC 8414 section 2). Of both, the form: providers
    /// disagree on how the other one encodes special characters.
    var secretMethod: ClientAuthentication.SecretMethod {
        guard authority.kind == .oidc else { return .post }
        guard let secretMethods else { return .basic }
        return secretMethods.contains("client_secret_post") ? .post : .basic
    }
}
