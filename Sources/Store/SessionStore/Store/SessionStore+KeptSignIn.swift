import Foundation
import WebFormats

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
