import Crypto
import Foundation
import WebFormats

extension DemoClient {
    /// The lifetime of a secret whose end is not configured: two years, the longest that the portal offers.
    private static let secretSeconds: TimeInterval = 2 * 365 * 24 * 3600

    /// Returns the secret in Graph's form, without the secret itself.
    ///
    /// - Parameter start: The time at which a secret without a configured end was made.
    func passwordCredentials(from start: Date) -> [JSONValue] {
        guard let secret else { return [] }
        let end = secretExpires ?? start.addingTimeInterval(Self.secretSeconds)
        let start = min(start, end.addingTimeInterval(-Self.secretSeconds))
        return [
            [
                "keyId": .string(nameBasedID("secret", id)), "displayName": "Secret", "customKeyIdentifier": .null,
                "startDateTime": .string(start.formatted(.iso8601)), "endDateTime": .string(end.formatted(.iso8601)),
                "hint": .string(String(secret.prefix(3))), "secretText": .null,
            ]
        ]
    }

    /// Returns the certificate in Graph's form.
    ///
    /// - Parameter showsKeys: Whether its bytes are shown.
    func keyCredentials(showsKeys: Bool) -> [JSONValue] {
        guard let certificate else { return [] }
        let thumbprint = Insecure.SHA1.hash(data: Data(certificate.der)).map { String(format: "%02X", $0) }.joined()
        return [
            [
                "keyId": .string(nameBasedID("certificate", certificate.thumbprint)),
                "displayName": .string(certificate.subject), "customKeyIdentifier": .string(thumbprint),
                "startDateTime": .string(certificate.start.formatted(.iso8601)),
                "endDateTime": .string(certificate.end.formatted(.iso8601)), "type": "AsymmetricX509Cert",
                "usage": "Verify", "key": showsKeys ? .string(Data(certificate.der).base64EncodedString()) : .null,
            ]
        ]
    }
}
