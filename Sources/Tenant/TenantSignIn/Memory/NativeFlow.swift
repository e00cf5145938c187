import Foundation
import HTTPServer
import TenantDirectory

/// A sign-in, a sign-up or a password reset in an app's own screens, or a code for which a page asks.
struct NativeFlow: Sendable {
    enum Kind: String, Sendable, Codable {
        case signIn = "sign_in", signUp = "sign_up", passwordReset = "password_reset"
    }

    /// The point that a flow has reached, which decides the requests that may come next.
    enum Step: String, Sendable, Codable {
        /// A challenge has to be asked for.
        case begun
        /// A code was sent.
        case code
        /// The password is asked for.
        case password
        /// The address is confirmed, and a challenge has to be asked for that wants a password.
        case credential
        /// Attributes are asked for.
        case attributes
        /// A second factor has to be chosen.
        case secondFactor
        /// A code was sent to the second factor.
        case secondFactorCode
        /// A second factor has to be registered.
        case registration
        /// A code was sent to the new second factor.
        case registrationCode
        /// The new second factor is an address that was confirmed before.
        case preverified
        /// The new password is asked for.
        case newPassword
        /// The new password is being set.
        case submitted
        /// The tokens can be fetched.
        case done
    }

    /// A code that was sent.
    struct SentCode: Sendable {
        let text: String
        let contact: VerifiedContact
        let expires: Date
    }

    let id: String
    let kind: Kind
    let clientID: String
    /// In lower case.
    let username: String
    let network: PeerAddress.Network
    /// The ways in which the app can ask a person, and the demands that it can meet.
    let challengeTypes: Set<String>
    let capabilities: Set<String>
    var step = Step.begun
    /// The number of the continuation token that is valid.
    fileprivate(set) var number = 0
    /// The tries that are left for codes and passwords.
    fileprivate(set) var triesLeft = NativeFlows.mostTries
    /// The time at which the newest continuation token expires.
    fileprivate(set) var expires = Date.distantFuture
    var code: SentCode?
    /// Whether the second factor was shown.
    var hasSecondFactor = false
    /// The values of a sign-up so far.
    var password: StoredPassword?
    var attributes: [String: String] = [:]
    /// The time from which a new password is in force.
    var settled: Date?
}

/// A continuation token. The token is this value, encrypted, and valid for one step of one flow.
struct ContinuationToken: Sendable, Codable {
    static let lifetime = 600

    var flow: String
    var kind: NativeFlow.Kind
    var clientID: String
    var username: String
    var step: NativeFlow.Step
    var number: Int
    var time: Date
}

/// The flows that have not ended. They are in memory: after a restart the app begins again.
struct NativeFlows: Sendable {
    static let mostCount = 1000
    /// The number of wrong codes and passwords that end a flow.
    static let mostTries = 5

    private var flows: [String: NativeFlow] = [:]

    var count: Int { flows.count }

    subscript(_ id: String) -> NativeFlow? { flows[id] }

    mutating func add(_ flow: NativeFlow, now: Date) {
        makeRoom(now: now)
        var flow = flow
        flow.expires = now.addingTimeInterval(TimeInterval(ContinuationToken.lifetime))
        flows[flow.id] = flow
    }

    /// Removes the flows that have expired. If there are still too many, the network that has the most loses its oldest
    /// one, so that a stranger's flows displace their own.
    private mutating func makeRoom(now: Date) {
        guard flows.count >= Self.mostCount else { return }
        flows = flows.filter { now < $0.value.expires }
        while flows.count >= Self.mostCount,
            let most = Dictionary(grouping: flows, by: \.value.network).values.max(by: { $0.count < $1.count }),
            let oldest = most.min(by: { $0.value.expires < $1.value.expires })
        {
            flows[oldest.key] = nil
        }
    }

    /// Takes a flow to its next step, which spends the token of the step before. Of two requests with one token, one
    /// succeeds.
    ///
    /// - Returns: the flow as it is now; nil if the token was spent meanwhile.
    mutating func advance(_ flow: NativeFlow, now: Date) -> NativeFlow? {
        guard let known = flows[flow.id], known.number == flow.number else { return nil }
        var next = flow
        next.number += 1
        next.triesLeft = known.triesLeft
        next.expires = now.addingTimeInterval(TimeInterval(ContinuationToken.lifetime))
        flows[flow.id] = next
        return next
    }

    /// Takes one of the tries of a flow, before the comparison, so that simultaneous guesses get no more.
    ///
    /// - Returns: false if none was left.
    mutating func takeTry(_ id: String) -> Bool {
        guard let left = flows[id]?.triesLeft, left > 0 else { return false }
        flows[id]?.triesLeft = left - 1
        return true
    }

    /// Gives a try back that was right.
    mutating func returnTry(_ id: String) {
        if let left = flows[id]?.triesLeft { flows[id]?.triesLeft = left + 1 }
    }

    /// Ends a flow without tries.
    ///
    /// - Returns: whether it has ended.
    mutating func endIfExhausted(_ id: String) -> Bool {
        guard flows[id]?.triesLeft == 0 else { return false }
        flows[id] = nil
        return true
    }

    mutating func end(_ id: String) { flows[id] = nil }

    /// Ends a flow whose code was right. Of two requests with the code, one succeeds.
    mutating func finish(_ id: String) -> Bool { flows.removeValue(forKey: id) != nil }

    mutating func endAll() { flows = [:] }
}
