import Cryptography
import Foundation
import WebFormats

/// The purpose of an encrypted value. A value for one purpose cannot be decrypted for another.
package enum SealPurpose: String {
    case flow, code, logout
    case accessToken = "access token"
    case continuation = "continuation token"
    case deviceCode = "device code"
    case deviceLogin = "device login"
    case logoutOutcome = "logout outcome"
    case notice
    case refreshToken = "refresh token"
    case signOn = "sign-on"
}

/// Encrypts values for a round trip through a browser or a client. They are opaque, tamper-proof, and valid across
/// restarts as long as the key is kept.
package struct DemoSealer: Sendable {
    private let key: SealingKey

    /// - Parameter key: 32 bytes: those of a state file are counted when it is read.
    package init(key: [UInt8]) {
        guard let key = SealingKey(key) else { preconditionFailure("a key of \(key.count) bytes") }
        self.key = key
    }

    /// Returns the value's JSON, encrypted with AES-GCM, as base64url.
    package func seal(_ value: some Encodable, for purpose: SealPurpose) throws -> String {
        guard let sealed = key.seal(try JSONEncoder().encode(value), for: purpose.rawValue.utf8) else {
            throw CocoaError(.coderInvalidValue)
        }
        return Base64URL.encode(sealed)
    }

    /// Returns the value; nil if it was changed or encrypted for another purpose.
    package func open<Value: Decodable>(_ text: String, for purpose: SealPurpose, as type: Value.Type) -> Value? {
        guard let bytes = Base64URL.decode(text.utf8), let plain = key.open(bytes, for: purpose.rawValue.utf8) else {
            return nil
        }
        return try? JSONDecoder().decode(type, from: Data(plain))
    }
}
