import Expiring
package import Foundation
import Synchronization
import WebFormats

/// An answer that the provider had the browser post, until the browser fetches it. Anyone who has begun a sign-in may post, so
/// that all of them together are bounded, and what is kept is pushed out by answers from the same address only.
package struct PostedAnswer: Sendable {
    /// How long one is kept.
    package static let lifetime: Duration = .seconds(60)
    /// How many are kept at a time.
    package static let maxCount = 1_000
    /// How many of one address; the oldest make room.
    package static let maxPerAddress = 10
    /// How many bytes they take together.
    package static let maxBytes = 2 << 20

    package let handle: SHA256Hash
    /// Says whether two of them are from one address.
    package let asker: Data
    package let sealed: Data
    /// In milliseconds since 1970.
    package let endsAt: Int64
}

extension SignInRules {
    /// Whether there is room for one more posted answer.
    ///
    /// - Parameters:
    ///   - bytes: of the new one.
    ///   - count: how many there are of others.
    ///   - size: their bytes.
    package static func hasRoom(forAnswer bytes: Int, beside count: Int64, _ size: Int64) -> Bool {
        count < PostedAnswer.maxCount && size + Int64(bytes) <= PostedAnswer.maxBytes
    }
}

/// Keeps posted answers: the place that servers share, or the memory of a server that has its place for itself.
package protocol PostedAnswerKeeper: Sendable {
    /// Keeps a posted answer, in the place of one with the same handle, and deletes those that have ended, and the oldest of
    /// the same asker where there are more than ``PostedAnswer/maxPerAddress``.
    ///
    /// - Returns: false when ``SignInRules/hasRoom(forAnswer:beside:_:)`` says that there is no room.
    func keep(_ answer: PostedAnswer, now: Int64) async throws(StoreError) -> Bool
    /// - Returns: the sealed answer; nil when there is none, or when it has ended.
    func postedAnswer(_ handle: SHA256Hash, now: Int64) async throws(StoreError) -> Data?
}

/// The posted answers of a server that is alone. They end by a clock that nobody sets.
final class PostedAnswersInMemory: PostedAnswerKeeper {
    private struct Kept {
        var answers = ExpiringMap<SHA256Hash, Data>(
            maxCount: PostedAnswer.maxCount, maxBytes: PostedAnswer.maxBytes, whenFull: .refusesNewcomers)
        /// By asker, the oldest first.
        var handles = ExpiringMap<Data, [SHA256Hash]>(maxCount: PostedAnswer.maxCount)
    }

    private let kept = Mutex(Kept())
    private let steady: @Sendable () -> Date

    init(steady: @escaping @Sendable () -> Date) {
        self.steady = steady
    }

    func keep(_ answer: PostedAnswer, now _: Int64) -> Bool {
        let now = steady()
        let end = now.addingTimeInterval(PostedAnswer.lifetime / .seconds(1))
        return kept.withLock { kept in
            var own = kept.handles.value(for: answer.asker, now: now) ?? []
            own.removeAll { $0 == answer.handle }
            while own.count >= PostedAnswer.maxPerAddress { kept.answers.remove(own.removeFirst()) }
            kept.handles.set(own + [answer.handle], for: answer.asker, until: end, now: now)
            return kept.answers.set(
                answer.sealed, for: answer.handle, cost: answer.sealed.count, until: end, now: now)
        }
    }

    func postedAnswer(_ handle: SHA256Hash, now _: Int64) -> Data? {
        let now = steady()
        return kept.withLock { $0.answers.value(for: handle, now: now) }
    }
}

extension SessionStore {
    /// Keeps an answer of the provider's that came as a cross-site POST, without the browser's cookie, until the browser
    /// fetches it with its cookie, at whichever server. An earlier one to the same sign-in is replaced.
    ///
    /// - Parameters:
    ///   - text: the answer. A secret.
    ///   - state: of the sign-in. A secret.
    ///   - address: of whoever posted it.
    /// - Returns: its handle, which says nothing about it; nil when there is no room.
    public func keepAnswer(_ text: String, state: String, from address: [UInt8]) async throws(StoreError) -> String? {
        let handle = Base64URL.encode(SHA256Hash(of: "posted answer \(state)").blob.prefix(16))
        let hash = SHA256Hash(of: handle)
        let answer = PostedAnswer(
            handle: hash, asker: Data(sign(address, as: .address)),
            sealed: try sealer.seal(text, for: .postedAnswer(handle: hash)),
            endsAt: now + PostedAnswer.lifetime.milliseconds)
        return try await answers.keep(answer, now: now) ? handle : nil
    }

    /// The answer that a handle stands for; nil when it is unknown or too old.
    public func answer(_ handle: String) async throws(StoreError) -> String? {
        let hash = SHA256Hash(of: handle)
        guard let sealed = try await answers.postedAnswer(hash, now: now) else { return nil }
        return try sealer.open(sealed, for: .postedAnswer(handle: hash))
    }
}
