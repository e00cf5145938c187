import Foundation
import HTTPServer
import TenantDirectory

/// The codes that are sent to people, for an app's own screens and for the tenant's pages.
extension IdentityPlatform {
    static let codeLength = 8

    /// The outcome of one try.
    enum Guess: Sendable, Hashable {
        case right, wrong
        /// It was wrong, and has ended the flow.
        case last
        /// Its network has had too many wrong ones.
        case tooMany(seconds: Int)
        /// The flow has ended before.
        case over
    }

    /// Sends a code, and takes the flow to its next step. The code before is void.
    ///
    /// - Returns: the flow as it is now; nil if the token of its step was spent meanwhile.
    func sendCode(to contact: VerifiedContact, _ flow: NativeFlow) -> NativeFlow? {
        let now = clock.now()
        let digits = String(clock.randomBytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000_000)
        let code = NativeFlow.SentCode(
            text: String(repeating: "0", count: Self.codeLength - digits.count) + digits, contact: contact,
            expires: now.addingTimeInterval(TimeInterval(ContinuationToken.lifetime)))
        var flow = flow
        flow.code = code
        guard let next = nativeFlows.withLock({ $0.advance(flow, now: now) }) else { return nil }
        outbox.send(
            Outbox.Delivery(
                time: now, contact: contact, code: code.text, flowKind: flow.kind.rawValue, clientID: flow.clientID,
                username: flow.username, expires: code.expires, flow: flow.id, network: flow.network))
        return next
    }

    /// Compares a text with the code that was sent, as one of the flow's tries.
    func guess(_ text: String, codeOf flow: NativeFlow, from peer: PeerAddress) -> Guess {
        let guess = guess(flow) {
            guard let code = flow.code, clock.now() < code.expires else { return .wrong }
            return judge(text, against: code.text, from: peer)
        }
        if guess == .right { outbox.use(flow.id) }
        return guess
    }

    /// Takes one of the flow's tries. Five wrong ones end the flow.
    func guess(_ flow: NativeFlow, _ isRight: () -> Verdict) -> Guess {
        guard nativeFlows.withLock({ $0.takeTry(flow.id) }) else { return .over }
        let verdict = isRight()
        guard verdict != .right else {
            nativeFlows.withLock { $0.returnTry(flow.id) }
            return .right
        }
        let hasEnded = nativeFlows.withLock { $0.endIfExhausted(flow.id) }
        if hasEnded { outbox.end(flow.id) }
        if case .tooMany(let seconds) = verdict { return .tooMany(seconds: seconds) }
        return hasEnded ? .last : .wrong
    }
}
