import Cryptography
import Foundation
import TenantDirectory
import WebFormats

/// Authenticates a client by a signed assertion (RFC 7523).
enum ClientAssertion {
    static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    /// Clocks may differ by five minutes.
    fileprivate static let leeway: TimeInterval = 300
    fileprivate static let schemes: [String: SignatureScheme] = ["RS256": .rs256, "PS256": .ps256]

    /// Returns base64url without its padding: the asynchronous credentials of azure-identity pad each part of
    /// an assertion (`_get_client_certificate_assertion` of its aad_client_base.py), MSAL for Python a thumbprint
    /// (`_encode_thumbprint` of its assertion.py).
    fileprivate static func unpadded(_ text: some StringProtocol) -> String {
        String(text.reversed().drop { $0 == "=" }.reversed())
    }

    /// Returns the bytes of base64url, padded or not; nil for anything else.
    fileprivate static func bytes(_ text: some StringProtocol) -> [UInt8]? { Base64URL.decode(unpadded(text).utf8) }

    /// Returns the thumbprint with which a header names a key, as the platform writes it; nil without one.
    fileprivate static func thumbprint(in header: JSONValue) -> String? {
        for name in ["x5t", "x5t#S256"] {
            if let bytes = header[name]?.string.flatMap({ bytes($0) }) { return Hex.encode(bytes).uppercased() }
        }
        return header["kid"]?.string.flatMap(Hex.decode).map { Hex.encode($0).uppercased() }
    }
}

extension DemoClient.Certificate {
    /// Whether the header of an assertion names this certificate: by a thumbprint, or as older libraries do by a key ID.
    fileprivate func isNamed(by header: JSONValue) -> Bool {
        func names(_ member: String, _ own: String) -> Bool {
            header[member]?.string.map(ClientAssertion.unpadded) == own
        }
        if names("x5t#S256", thumbprint) { return true }
        guard !der.isEmpty else { return false }
        let hash = SHA1.hash(data: der)
        return names("x5t", Base64URL.encode(hash))
            || header["kid"]?.string?.lowercased() == Hex.encode(hash)
    }

    /// The thumbprint and the times, as the platform writes them (t2-cert-16).
    fileprivate var found: String {
        func text(_ date: Date) -> String {
            let parts = date.formatted(.iso8601).split { "-TZ".contains($0) }
            return parts.count == 4 ? "\(parts[1])/\(parts[2])/\(parts[0]) \(parts[3])" : ""
        }
        return "Thumbprint of key used by client: '\(Hex.encode(SHA1.hash(data: der)).uppercased())', "
            + "Found key 'Start=\(text(start)), End=\(text(end))'"
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

// The faults of an assertion, each with its number and sentence
extension PlatformError {
    private static let guide =
        "Review the documentation at https://learn.microsoft.com/entra/identity-platform/certificate-credentials ."

    private static func assertionRefused(_ number: Int, _ message: String) -> Self {
        Self(error: "invalid_client", number: number, message: message, status: .unauthorized)
    }

    /// t2-cert-12. The platform takes two more that no library of its own writes; here they are refused.
    fileprivate static func assertionAlgorithm(_ name: String) -> Self {
        let isTakenThere = ["RS384", "RS512"].contains(name)
        return assertionRefused(
            5_002_738,
            "Invalid JWT token. '\(name)' is not a supported signature algorithm. Supported signing algorithms are: "
                + (isTakenThere ? "'RS256,PS256'" : "'RS256,RS384,RS512,PS256'"))
    }

    /// t2-cert-10.
    fileprivate static let assertionNamesNoKey = assertionRefused(
        5_002_723,
        "Invalid JWT token. No certificate SHA-1 thumbprint, certificate SHA-256 thumbprint, nor keyId specified in token "
            + "header.")

    /// t2-cert-01; the sentence is that of Azure/azure-sdk-for-net issue 29007 and keycloak/keycloak issue 19425, which has
    /// no thumbprint.
    fileprivate static func assertionKeyUnknown(_ header: JSONValue, _ client: DemoClient) -> Self {
        let thumbprint = ClientAssertion.thumbprint(in: header).map { "Thumbprint of key used by client: '\($0)', " }
        return assertionRefused(
            700_027,
            "The certificate with identifier used to sign the client assertion is not registered on application. [Reason - "
                + "The key was not found., \(thumbprint ?? "")Please visit the Azure Portal, Graph Explorer or directly use MS "
                + "Graph to see configured keys for app Id '\(client.id)'.]")
    }

    /// The reason is captured of another number (AzureAD/azure-activedirectory-library-for-dotnet issue 1234), the sentence
    /// before it is inferred.
    fileprivate static func assertionSignature(_ certificate: DemoClient.Certificate) -> Self {
        assertionRefused(
            700_027,
            "Client assertion failed signature validation. [Reason - The provided signature value did not match the expected "
                + "signature value., \(certificate.found)]")
    }

    /// The certificate has ended (t2-cert-16).
    fileprivate static func certificateExpired(_ certificate: DemoClient.Certificate) -> Self {
        assertionRefused(
            700_027,
            "The certificate with identifier used to sign the client assertion is expired on application. [Reason - The key "
                + "used is expired., \(certificate.found)]")
    }

    fileprivate static let assertionSubject = assertionRefused(
        50048, "The subject of the client assertion is not its issuer.")

    /// t2-cert-13.
    fileprivate static let assertionOfAnother = assertionRefused(
        700_021, "Client assertion application identifier doesn't match 'client_id' parameter. \(guide)")

    /// AzureAD/microsoft-authentication-library-for-dotnet issue 2746.
    fileprivate static let assertionAudience = assertionRefused(
        700_023, "Client assertion audience claim does not match Realm issuer. \(guide)")

    /// The assertion is not valid yet, or no longer (t2-cert-05, t2-cert-07). One that does not say from when on begins in
    /// 1970.
    fileprivate static func assertionTime(now: Date, start: TimeInterval?, end: TimeInterval) -> Self {
        func text(_ seconds: TimeInterval) -> String { Date(timeIntervalSince1970: seconds).withSevenDecimals }
        return assertionRefused(
            700_024,
            "Client assertion is not within its valid time range. Current time: \(now.withSevenDecimals), assertion valid "
                + "from \(text(start ?? 0)), expiry time of assertion \(text(end)). \(guide)")
    }

    /// Of what the platform's libraries never send.
    static let assertionInvalid = assertionRefused(
        700_027,
        "The client assertion is not in order: it is no signed JWT with an expiry time, was used before, or has another "
            + "client_assertion_type than \(ClientAssertion.type).")
}

extension IdentityPlatform {
    /// Throws unless an assertion is the client's federated token, or is correctly signed with its certificate as
    /// Microsoft's libraries do: with RS256 or PS256, a thumbprint of one that has not ended, this tenant as audience, valid
    /// now, and not used before.
    func check(
        _ assertion: String, of client: DemoClient, at segment: TenantSegment, now: Date
    ) throws(PlatformError) {
        if let token = client.federatedToken, assertion == token { return }
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = ClientAssertion.bytes(parts[0]).flatMap({ JSONValue(parsing: $0) }),
            let claims = ClientAssertion.bytes(parts[1]).flatMap({ JSONValue(parsing: $0) }),
            let signature = ClientAssertion.bytes(parts[2]), let algorithm = header["alg"]?.string
        else { throw .assertionInvalid }
        guard let scheme = ClientAssertion.schemes[algorithm] else { throw .assertionAlgorithm(algorithm) }
        guard ["x5t", "x5t#S256", "kid"].contains(where: { header[$0]?.string != nil }) else {
            throw .assertionNamesNoKey
        }
        guard let certificate = client.certificate, certificate.isNamed(by: header) else {
            throw .assertionKeyUnknown(header, client)
        }
        guard let key = PublicKey(pem: certificate.publicKeyPEM),
            key.isSignature(signature, of: "\(parts[0]).\(parts[1])".utf8, scheme: scheme)
        else { throw .assertionSignature(certificate) }
        guard now <= certificate.end else { throw .certificateExpired(certificate) }
        guard claims["iss"]?.string == claims["sub"]?.string else { throw .assertionSubject }
        guard claims["iss"]?.string == client.id else { throw .assertionOfAnother }
        guard let audience = claims["aud"]?.string, isOurs(audience, at: segment) else { throw .assertionAudience }
        guard let expiry = claims["exp"]?.seconds else { throw .assertionInvalid }
        let (time, leeway) = (now.timeIntervalSince1970, ClientAssertion.leeway)
        let start = claims["nbf"]?.seconds
        guard expiry > time - leeway, start ?? time <= time + leeway else {
            throw .assertionTime(now: now, start: start, end: expiry)
        }
        guard let id = claims["jti"]?.string else { return }
        let isFirst = state.note { record in
            record.redeemedCodes.updateValue(
                Date(timeIntervalSince1970: expiry + leeway), forKey: "assertion \(id)")
                == nil
        }
        guard isFirst else { throw .assertionInvalid }
    }

    /// Whether an audience is a token endpoint of the tenant that was asked, or its issuer: by name or ID, in both versions.
    /// Where several tenants are asked, each of ours is right.
    private func isOurs(_ audience: String, at segment: TenantSegment) -> Bool {
        // The metadata's own words may have the user flow behind the path, or the external tenant's issuer on its host.
        let published = ["\(addresses.baseURL)/\(segment.path(of: "oauth2/v2.0/token"))", issuer(of: segment)]
        if published.contains(audience) { return true }
        guard audience.hasPrefix(addresses.baseURL + "/") else { return false }
        let path = audience.dropFirst(addresses.baseURL.count + 1)
        let parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let rests = ["oauth2/v2.0/token", "oauth2/token", "v2.0", ""]
        return (1...min(3, max(1, parts.count))).contains { count in
            guard let named = TenantSegment(parts.prefix(count).joined(separator: "/")),
                rests.contains(parts.dropFirst(count).joined(separator: "/"))
            else { return false }
            return segment.oneTenant == nil || named.oneTenant == segment.oneTenant
        }
    }
}

extension TenantSegment {
    /// The ID of the tenant, if it is one.
    fileprivate var oneTenant: String? {
        switch self {
        case .common, .organizations: nil
        case .consumers: Tenant.consumers
        case .tenant(let id): id
        case .userFlow: Tenant.fabrikamB2C
        }
    }
}
