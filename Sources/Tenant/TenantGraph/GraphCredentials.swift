import Cryptography
import Foundation
import TenantDirectory
import WebFormats

extension DemoClient {
    /// Returns the secrets in Graph's form, without the texts.
    ///
    /// - Parameter start: The time at which a secret without a configured end was made.
    func passwordCredentials(from start: Date) -> [JSONValue] {
        guard let secret else { return secrets.map { $0.graphCredential() } }
        let end = secretExpires ?? start.addingTimeInterval(ClientSecret.lifetime)
        let start = min(start, end.addingTimeInterval(-ClientSecret.lifetime))
        return [
            .passwordCredential(
                keyID: nameBasedID("secret", id), name: "Secret", hint: String(secret.prefix(3)), start: start,
                end: end)
        ]
    }

    /// Returns the certificate in Graph's form.
    ///
    /// - Parameter showsKeys: Whether its bytes are shown.
    func keyCredentials(showsKeys: Bool) -> [JSONValue] {
        guard let certificate else { return [] }
        let thumbprint = Hex.encode(SHA1.hash(data: certificate.der)).uppercased()
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

extension ClientSecret {
    /// Returns the secret in Graph's form.
    ///
    /// - Parameter text: The secret itself, if it has just been made.
    func graphCredential(text: String? = nil) -> JSONValue {
        .passwordCredential(keyID: keyID, name: name, hint: hint, start: start, end: end, text: text)
    }
}

extension JSONValue {
    fileprivate static func passwordCredential(
        keyID: String, name: String?, hint: String, start: Date, end: Date, text: String? = nil
    ) -> JSONValue {
        [
            "keyId": .string(keyID), "displayName": JSONValue(name), "customKeyIdentifier": .null,
            "startDateTime": .string(start.formatted(.iso8601)), "endDateTime": .string(end.formatted(.iso8601)),
            "hint": .string(hint), "secretText": JSONValue(text),
        ]
    }
}
