public import Foundation
import WebFormats

/// A sign-in that the browser keeps until it comes back. It is sealed for its `state` and for the browser, so that it
/// opens for no other callback and in no other browser.
public struct SealedSignIn: Sendable {
    /// The maximum size in bytes. In base64url, with a cookie's name, this stays below the 4,096 bytes that browsers
    /// keep.
    public static let maxBytes = 2_900
    private static let timeBytes = 8

    /// The time when it began. This is not secret: the oldest sign-ins make room for new ones.
    public let begunAt: Date
    let sealed: Data

    /// The text to be kept in a cookie.
    public var text: String { Base64URL.encode(Self.time(begunAt) + sealed) }

    /// Returns a name that distinguishes the sign-ins of one browser, and reveals nothing about the `state`: 8
    /// hexadecimal digits.
    public static func name(of state: String) -> String { Hex.encode(SHA256Hash(of: state).blob.prefix(4)) }

    init(begunAt: Date, sealed: Data) {
        self.begunAt = begunAt
        self.sealed = sealed
    }

    /// Reads the text of a cookie; nil if its form is wrong. It may still fail to open.
    public init?(_ text: String) {
        guard text.utf8.count <= 4_096, let bytes = Base64URL.decode(text.utf8.span), bytes.count > Self.timeBytes
        else {
            return nil
        }
        let time = bytes.prefix(Self.timeBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        begunAt = Date(milliseconds: Int64(bitPattern: time))
        sealed = Data(bytes.dropFirst(Self.timeBytes))
    }

    private static func time(_ date: Date) -> [UInt8] {
        withUnsafeBytes(of: date.milliseconds.bigEndian) { Array($0) }
    }
}
