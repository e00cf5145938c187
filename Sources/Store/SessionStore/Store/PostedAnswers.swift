import Expiring
import Foundation
import Synchronization
import WebFormats

/// The posted responses of a single server. They expire by a monotonic clock.
final class PostedAnswersInMemory: PostedAnswerKeeper {
    private struct Kept {
        var answers = ExpiringMap<SHA256Hash, Data>(
            maxCount: PostedAnswer.maxCount, maxBytes: PostedAnswer.maxBytes, whenFull: .refusesNewcomers)
        /// The handles of each address, the oldest first.
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
            let sizes = own.reversed().map { kept.answers.value(for: $0, now: now)?.count ?? 0 }
            let gone = own.count - SignInRules.answersThatStay(sizes, beside: answer.sealed.count)
            for handle in own.prefix(gone) { kept.answers.remove(handle) }
            own.removeFirst(gone)
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
    private static let handleBytes = 16

    /// Whether a text is the handle of a response that was posted to one of our servers, kept or not.
    public func isHandle(_ text: String) -> Bool {
        name(in: text) != nil
    }

    /// Returns the part of a handle that is the same whatever key has signed it.
    private func name(in handle: String) -> [UInt8]? {
        guard handle.utf8.count <= 64, let bytes = Base64URL.decode(handle.utf8.span),
            bytes.count == Self.handleBytes + SignedPurpose.byteCount
        else { return nil }
        let name = Array(bytes.prefix(Self.handleBytes))
        return isSigned(name, as: .handle, by: bytes.suffix(SignedPurpose.byteCount)) ? name : nil
    }

    private static func hash(ofName name: [UInt8]) -> SHA256Hash { SHA256Hash(of: Base64URL.encode(name)) }

    /// Keeps a provider's response that arrived as a cross-site POST, without the browser's cookie, until the browser
    /// fetches it with its cookie, from any server. It replaces an earlier response to the same sign-in.
    ///
    /// - Parameters:
    ///   - text: the response. A secret.
    ///   - state: the `state` of the sign-in. A secret.
    ///   - address: the address of the client that posted it.
    /// - Returns: a handle, which reveals nothing about the response; nil when there is no room.
    public func keepAnswer(_ text: String, state: String, from address: [UInt8]) async throws(StoreError) -> String? {
        let name = Array(SHA256Hash(of: "posted answer \(state)").blob.prefix(Self.handleBytes))
        let hash = Self.hash(ofName: name)
        let answer = PostedAnswer(
            handle: hash, asker: Data(sign(address, as: .address)),
            sealed: try sealer.seal(text, for: .postedAnswer(handle: hash)),
            endsAt: now + PostedAnswer.lifetime.milliseconds)
        return try await answers.keep(answer, now: now) ? Base64URL.encode(name + sign(name, as: .handle)) : nil
    }

    /// Returns the response for a handle; nil when it is unknown or has expired.
    public func answer(_ handle: String) async throws(StoreError) -> String? {
        guard let name = name(in: handle) else { return nil }
        let hash = Self.hash(ofName: name)
        guard let sealed = try await answers.postedAnswer(hash, now: now) else { return nil }
        return try sealer.open(sealed, for: .postedAnswer(handle: hash))
    }
}
