import Crypto
import Foundation
import WebFormats

/// The purpose of an encrypted value. A value for one purpose cannot be decrypted for another.
enum SealPurpose: String {
    case flow, code, logout
    case deviceCode = "device code"
    case deviceLogin = "device login"
    case logoutOutcome = "logout outcome"
    case notice
    case refreshToken = "refresh token"
    case signOn = "sign-on"
}

/// Encrypts values for a round trip through a browser or a client. They are opaque, tamper-proof, and valid across
/// restarts as long as the key is kept.
struct DemoSealer: Sendable {
    private let key: SymmetricKey

    init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// Returns the value's JSON, encrypted with AES-GCM, as base64url.
    func seal(_ value: some Encodable, for purpose: SealPurpose) throws -> String {
        let box = try AES.GCM.seal(
            try JSONEncoder().encode(value), using: key, authenticating: Data(purpose.rawValue.utf8))
        return Base64URL.encode(Data(box.nonce) + box.ciphertext + box.tag)
    }

    /// Returns the value; nil if it was changed or encrypted for another purpose.
    func open<Value: Decodable>(_ text: String, for purpose: SealPurpose, as type: Value.Type) -> Value? {
        guard let bytes = Base64URL.decode(text.utf8), let box = try? AES.GCM.SealedBox(combined: bytes),
            let plain = try? AES.GCM.open(box, using: key, authenticating: Data(purpose.rawValue.utf8))
        else { return nil }
        return try? JSONDecoder().decode(type, from: plain)
    }
}
