import Crypto
import Expiring
import Foundation
import HTTPServer
import OpenIDConnect
import SessionStore
import Synchronization
import WebFormats

/// Answers of the provider that came as a cross-site POST (`response_mode=form_post`), until the browser, now with its
/// cookies, fetches them, within the bounds of ``PostedAnswer``. One is kept for each sign-in; that each is redeemed once is
/// the store's duty, and the caller asks first whether the state is one of ours.
package final class FormPostCallbacks: Sendable {
    /// An entry's own memory, in bytes, beside what was posted.
    private static let ownBytes = 1_000
    private struct Kept {
        var answers = ExpiringMap<String, Callback>(
            maxCount: PostedAnswer.maxCount, maxBytes: PostedAnswer.maxBytes, whenFull: .refusesNewcomers)
        /// The oldest first.
        var handles = ExpiringMap<PeerAddress.Network, [String]>(maxCount: PostedAnswer.maxCount)
    }

    private let kept = Mutex(Kept())
    private let now: @Sendable () -> Date
    private let key: SymmetricKey

    /// - Parameter now: a clock that nobody sets.
    package init(now: @escaping @Sendable () -> Date, randomBytes: @Sendable (Int) -> [UInt8]) {
        self.now = now
        key = SymmetricKey(data: randomBytes(32))
    }

    /// Keeps an answer, in place of an earlier one to the same sign-in, and of the oldest of the same address where there are
    /// too many.
    ///
    /// - Parameters:
    ///   - bytes: how many were posted.
    ///   - address: from where.
    /// - Returns: its handle, which says nothing about it; nil when there is no room.
    package func keep(_ callback: Callback, bytes: Int, from address: PeerAddress.Network) -> String? {
        let code = HMAC<SHA256>.authenticationCode(for: Array(callback.state.utf8), using: key)
        let handle = Base64URL.encode(code.prefix(16))
        let now = now()
        let end = now.addingTimeInterval(PostedAnswer.lifetime / .seconds(1))
        let isKept = kept.withLock { kept in
            var own = kept.handles.value(for: address, now: now) ?? []
            own.removeAll { $0 == handle }
            while own.count >= PostedAnswer.maxPerAddress { kept.answers.remove(own.removeFirst()) }
            kept.handles.set(own + [handle], for: address, until: end, now: now)
            return kept.answers.set(
                callback, for: handle, cost: FormPostCallbacks.ownBytes + bytes * 2, until: end, now: now)
        }
        return isKept ? handle : nil
    }

    /// The answer that a handle stands for; nil when it is unknown or too old.
    package func find(_ handle: String) -> Callback? {
        let now = now()
        return kept.withLock { $0.answers.value(for: handle, now: now) }
    }
}
