import Crypto
import Foundation
import WebFormats

/// What a sealed value is for; a value that was sealed for one purpose does not open for another.
enum SealPurpose: String {
    case flow, code, logout
    case refreshToken = "refresh token"
    case signOn = "sign-on"
}

/// Seals values for a round trip through a browser or a client: opaque, tamper-proof, and good over a restart as long
/// as the key is kept.
struct DemoSealer: Sendable {
    private let key: SymmetricKey

    init(key: [UInt8]) { self.key = SymmetricKey(data: key) }

    /// Returns the value's JSON, sealed with AES-GCM, as base64url.
    func seal(_ value: some Encodable, for purpose: SealPurpose) throws -> String {
        let box = try AES.GCM.seal(
            try JSONEncoder().encode(value), using: key, authenticating: Data(purpose.rawValue.utf8))
        return Base64URL.encode(Data(box.nonce) + box.ciphertext + box.tag)
    }

    /// Returns the value; nil unless it is unchanged and was sealed for this purpose.
    func open<Value: Decodable>(_ text: String, for purpose: SealPurpose, as type: Value.Type) -> Value? {
        guard let bytes = Base64URL.decode(text.utf8), let box = try? AES.GCM.SealedBox(combined: bytes),
            let plain = try? AES.GCM.open(box, using: key, authenticating: Data(purpose.rawValue.utf8))
        else { return nil }
        return try? JSONDecoder().decode(type, from: plain)
    }
}
