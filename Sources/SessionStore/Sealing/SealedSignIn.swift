public import Foundation
import WebFormats

/// A sign-in as the browser keeps it until it comes back: sealed for the `state` and for the browser, so that it opens for no
/// other callback and nowhere else.
public struct SealedSignIn: Sendable {
    /// The most bytes that it may have. In base64url, with a cookie's name, they stay below the 4,096 that browsers keep.
    public static let maxBytes = 2_900
    private static let timeBytes = 8

    /// When it began, which is no secret: the oldest make room.
    public let begunAt: Date
    let sealed: Data

    /// As a cookie holds it.
    public var text: String { Base64URL.encode(Self.time(begunAt) + sealed) }

    /// Tells the sign-ins of one browser apart, and says nothing about the `state`: 8 hexadecimal digits.
    public static func name(of state: String) -> String { Hex.encode(SHA256Hash(of: state).blob.prefix(4)) }

    init(begunAt: Date, sealed: Data) {
        self.begunAt = begunAt
        self.sealed = sealed
    }

    /// Nil for what has not its form. Whether it opens is another question.
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

    /// A `state` for a sign-in: chance, the time, and a signature, so that an answer to none of ours is refused without
    /// looking anything up.
    public func newState() -> String {
        let time = withUnsafeBytes(of: now.bigEndian) { Array($0) }
        let content = randomBytes(Self.stateBytes.chance) + time
        return Base64URL.encode(content + sign(content, as: .state))
    }

    /// Whether a `state` is one of ours whose sign-in is not over.
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

    /// Seals an attempt before the browser leaves. Nothing is stored.
    ///
    /// - Parameters:
    ///   - session: the browser's, with the id that its cookie has.
    ///   - browser: what only this browser has beside: its mark.
    /// - Returns: what the browser keeps; nil when it is too large for a cookie.
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

    /// Opens what a browser kept.
    ///
    /// - Returns: nil when it was sealed for another state or browser, by another version, or with a key that is no more.
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
