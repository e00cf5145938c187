import Crypto
import CryptoExtras
import Foundation
import WebFormats

/// Authenticates a client by a signed assertion (RFC 7523).
enum ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The longest validity of an assertion in seconds. Clocks may differ by five minutes.
    fileprivate static let leeway = 300
}

extension PlatformError {
    fileprivate static let assertionOfAnother = Self(
        error: "invalid_client", number: 50048,
        message: "The subject of the client assertion is not its issuer.", status: .unauthorized)
    static let assertionInvalid = Self(
        error: "invalid_client", number: 700027,
        message: "The certificate with identifier used to sign the client assertion is not registered on application, "
            + "or the assertion itself is not in order.", status: .unauthorized)
}

extension Platform {
    /// Throws unless an assertion is the client's federated token, or is correctly signed with its certificate: with
    /// PS256, its thumbprint and the token endpoint as audience, valid now, and not used before.
    func check(_ assertion: String, of client: DemoClient, at exchange: Exchange) throws(PlatformError) {
        if let token = client.federatedToken, assertion == token { return }
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard let certificate = client.certificate, parts.count == 3,
            let header = Base64URL.decode(parts[0].utf8).flatMap({ JSONValue(parsing: $0) }),
            let claims = Base64URL.decode(parts[1].utf8).flatMap({ JSONValue(parsing: $0) }),
            let signature = Base64URL.decode(parts[2].utf8),
            header["alg"]?.string == "PS256", header["x5t#S256"]?.string == certificate.thumbprint,
            let key = try? _RSA.Signing.PublicKey(pemRepresentation: certificate.publicKeyPEM),
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: Data(signature)),
                for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .PSS)
        else { throw .assertionInvalid }
        guard claims["iss"]?.string == claims["sub"]?.string else { throw .assertionOfAnother }
        let now = Int(exchange.diagnostics.time.timeIntervalSince1970)
        let path = exchange.request.head.path
        guard claims["iss"]?.string == client.id,
            claims["aud"]?.string == baseURL + path, let expiry = claims["exp"]?.integer,
            let notBefore = claims["nbf"]?.integer, expiry > now - ClientAssertion.leeway,
            notBefore <= now + ClientAssertion.leeway, let id = claims["jti"]?.string
        else { throw .assertionInvalid }
        let isFirst = state.note { record in
            record.redeemedCodes.updateValue(
                Date(timeIntervalSince1970: TimeInterval(expiry + ClientAssertion.leeway)), forKey: "assertion \(id)")
                == nil
        }
        guard isFirst else { throw .assertionInvalid }
    }
}
