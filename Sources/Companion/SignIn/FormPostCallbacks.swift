import Foundation
import OpenIDConnect
import Synchronization

/// Answers of the provider that came as a cross-site POST (`response_mode=form_post`), until the browser, now with its
/// cookie, fetches them. They are kept for a minute; that each is redeemed once is the store's duty.
final class FormPostCallbacks: Sendable {
    private struct Kept {
        var callback: Callback
        var until: Date
    }

    private static let lifetime: TimeInterval = 60
    private static let maxKept = 1_000
    private let kept = Mutex<[String: Kept]>([:])
    private let now: @Sendable () -> Date
    private let randomBytes: @Sendable (Int) -> [UInt8]

    init(now: @escaping @Sendable () -> Date, randomBytes: @escaping @Sendable (Int) -> [UInt8]) {
        self.now = now
        self.randomBytes = randomBytes
    }

    /// Keeps an answer; the handle says nothing about it.
    func keep(_ callback: Callback) -> String {
        let handle = randomBytes(16).map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }.joined()
        let now = now()
        kept.withLock { kept in
            if kept.count >= FormPostCallbacks.maxKept { kept = kept.filter { $0.value.until > now } }
            if kept.count >= FormPostCallbacks.maxKept { kept.removeAll() }
            kept[handle] = Kept(callback: callback, until: now.addingTimeInterval(FormPostCallbacks.lifetime))
        }
        return handle
    }

    /// The answer that a handle stands for; nil when it is unknown or too old.
    func find(_ handle: String) -> Callback? {
        let now = now()
        return kept.withLock { kept in kept[handle].flatMap { $0.until > now ? $0.callback : nil } }
    }
}
