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

extension SessionStore {
    private static let stateBytes = (chance: 16, time: 8)

    /// Returns a new `state` for a sign-in: random bytes, the time and a signature, so that a response to a sign-in of
    /// another server is refused without looking anything up.
    public func newState() -> String {
        let time = withUnsafeBytes(of: now.bigEndian) { Array($0) }
        let content = randomBytes(Self.stateBytes.chance) + time
        return Base64URL.encode(content + sign(content, as: .state))
    }

    /// Whether a `state` is one of ours, and its sign-in has not expired.
    public func isOwn(state: String) -> Bool {
        let (chance, time) = Self.stateBytes
        guard state.utf8.count <= 64, let bytes = Base64URL.decode(state.utf8.span),
            bytes.count == chance + time + SignedPurpose.byteCount
        else { return false }
        let content = Array(bytes.prefix(chance + time))
        guard isSigned(content, as: .state, by: bytes.suffix(SignedPurpose.byteCount)) else { return false }
        let begunAt = Int64(bitPattern: content.suffix(time).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        return begunAt >= rules.oldestAttempt(now: now)
    }

    /// Seals an attempt before the browser leaves for the provider. Nothing is stored.
    ///
    /// - Parameters:
    ///   - session: the browser's session, with the id in its cookie.
    ///   - browser: the browser's mark, which no other browser has.
    /// - Returns: the value that the browser keeps; nil when it is too large for a cookie.
    public func seal(_ new: NewSignInAttempt, in session: (key: SessionKey, id: SessionID)?, for browser: [UInt8])
        throws(StoreError) -> SealedSignIn?
    {
        let begun = BegunSignIn(
            new, origin: session.map { BegunSignIn.Origin(session: $0.key, idHash: $0.id.hash) },
            begunAt: Date(milliseconds: now))
        let sealed = try sealer.seal(begun.packed, for: place(of: begun.stateHash, begun.begunAt, browser))
        guard sealed.count <= SealedSignIn.maxBytes else { return nil }
        return SealedSignIn(begunAt: begun.begunAt, sealed: sealed)
    }

    /// Opens a sign-in that a browser kept.
    ///
    /// - Returns: nil when it was sealed for another state or browser, by another version, or with a key that is gone.
    public func open(_ signIn: SealedSignIn, state: String, for browser: [UInt8]) -> BegunSignIn? {
        let hash = SHA256Hash(of: state)
        guard let packed = try? sealer.openBytes(signIn.sealed, for: place(of: hash, signIn.begunAt, browser)) else {
            return nil
        }
        return BegunSignIn(packed: packed, state: hash, begunAt: signIn.begunAt.milliseconds)
    }

    private func place(of state: SHA256Hash, _ begunAt: Date, _ browser: [UInt8]) -> SealedPlace {
        .signIn(state: state, browser: browser, begunAt: begunAt.milliseconds)
    }
}
