import Cryptography
import Foundation
import TenantDirectory
import WebFormats

/// Authenticates a client by a signed assertion (RFC 7523).
enum ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// The longest validity of an assertion in seconds. Clocks may differ by five minutes.
    fileprivate static let leeway: TimeInterval = 300
    fileprivate static let schemes: [String: SignatureScheme] = ["RS256": .rs256, "PS256": .ps256]
}

extension DemoClient.Certificate {
    /// Whether the header of an assertion names this certificate: by a thumbprint, or as older libraries do by a key ID.
    ///
    /// MSAL for Python pads a thumbprint (`_encode_thumbprint` of its assertion.py).
    fileprivate func isNamed(by header: JSONValue) -> Bool {
        func names(_ member: String, _ own: String) -> Bool {
            header[member]?.string.map { $0 == own || $0 == own + "=" } ?? false
        }
        if names("x5t#S256", thumbprint) { return true }
        guard !der.isEmpty else { return false }
        let hash = SHA1.hash(data: der)
        return names("x5t", Base64URL.encode(hash))
            || header["kid"]?.string?.lowercased() == Hex.encode(hash)
    }
}

extension JSONValue {
    /// A time, which may have a fraction (RFC 7519 section 2).
    fileprivate var seconds: TimeInterval? {
        switch self {
        case .integer(let value): TimeInterval(value)
        case .number(let value): value
        default: nil
        }
    }
}

extension PlatformError {
    fileprivate static let assertionOfAnother = Self(
        error: "invalid_client", number: 50048,
        message: "The subject of the client assertion is not its issuer.", status: .unauthorized)

    /// The assertion is not valid yet, or no longer (AzureAD/microsoft-authentication-library-for-dotnet issue 4951).
    fileprivate static func assertionOfAnotherTime(now: TimeInterval, start: TimeInterval?, end: TimeInterval) -> Self {
        func text(_ seconds: TimeInterval?) -> String {
            Date(timeIntervalSince1970: seconds ?? now).formatted(.iso8601)
        }
        return Self(
            error: "invalid_client", number: 700024,
            message: "Client assertion is not within its valid time range. Current time: \(text(now)), assertion valid "
                + "from \(text(start)), expiry time of assertion \(text(end)).", status: .unauthorized)
    }

    /// The certificate has ended (t2-cert-16).
    fileprivate static func certificateExpired(_ certificate: DemoClient.Certificate) -> Self {
        func text(_ date: Date) -> String {
            let parts = date.formatted(.iso8601).split { "-TZ".contains($0) }
            return parts.count == 4 ? "\(parts[1])/\(parts[2])/\(parts[0]) \(parts[3])" : ""
        }
        return Self(
            error: "invalid_client", number: 700027,
            message: "The certificate with identifier used to sign the client assertion is expired on application. "
                + "[Reason - The key used is expired., Thumbprint of key used by client: "
                + "'\(Hex.encode(SHA1.hash(data: certificate.der)).uppercased())', Found key "
                + "'Start=\(text(certificate.start)), End=\(text(certificate.end))']", status: .unauthorized)
    }

    static let assertionInvalid = Self(
        error: "invalid_client", number: 700027,
        message: "The certificate with identifier used to sign the client assertion is not registered on application, "
            + "or the assertion itself is not in order.", status: .unauthorized)
}

extension IdentityPlatform {
    /// Throws unless an assertion is the client's federated token, or is correctly signed with its certificate as
    /// Microsoft's libraries do: with RS256 or PS256, a thumbprint of one that has not ended, this tenant as audience, valid
    /// now, and not used before.
    func check(_ assertion: String, of client: DemoClient, at exchange: Exchange) throws(PlatformError) {
        if let token = client.federatedToken, assertion == token { return }
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard let certificate = client.certificate, parts.count == 3,
            let header = Base64URL.decode(parts[0].utf8).flatMap({ JSONValue(parsing: $0) }),
            let claims = Base64URL.decode(parts[1].utf8).flatMap({ JSONValue(parsing: $0) }),
            let signature = Base64URL.decode(parts[2].utf8),
            let scheme = ClientAssertion.schemes[header["alg"]?.string ?? ""], certificate.isNamed(by: header),
            let key = PublicKey(pem: certificate.publicKeyPEM),
            key.isSignature(signature, of: "\(parts[0]).\(parts[1])".utf8, scheme: scheme)
        else { throw .assertionInvalid }
        guard claims["iss"]?.string == claims["sub"]?.string else { throw .assertionOfAnother }
        guard exchange.diagnostics.time <= certificate.end else { throw .certificateExpired(certificate) }
        let now = exchange.diagnostics.time.timeIntervalSince1970
        let leeway = ClientAssertion.leeway
        guard claims["iss"]?.string == client.id, claims["aud"]?.string.map(isOurs) == true,
            let expiry = claims["exp"]?.seconds
        else { throw .assertionInvalid }
        let start = claims["nbf"]?.seconds
        guard expiry > now - leeway, start ?? now <= now + leeway else {
            throw .assertionOfAnotherTime(now: now, start: start, end: expiry)
        }
        guard let id = claims["jti"]?.string else { return }
        let isFirst = state.note { record in
            record.redeemedCodes.updateValue(
                Date(timeIntervalSince1970: expiry + leeway), forKey: "assertion \(id)")
                == nil
        }
        guard isFirst else { throw .assertionInvalid }
    }

    /// Whether an audience is a token endpoint here, or an issuer: by name or ID of any tenant, in both versions.
    private func isOurs(_ audience: String) -> Bool {
        guard audience.hasPrefix(addresses.baseURL + "/") else { return false }
        let path = audience.dropFirst(addresses.baseURL.count + 1)
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let rests = ["oauth2/v2.0/token", "oauth2/token", "v2.0", ""]
        return (1...min(3, max(1, parts.count))).contains { count in
            TenantSegment(parts.prefix(count).joined(separator: "/")) != nil
                && rests.contains(parts.dropFirst(count).joined(separator: "/"))
        }
    }
}
