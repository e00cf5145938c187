import Expiring
import Foundation
import HTTPServer
import TenantDirectory

/// The sign-ins of devices that wait for a person, or whose person has finished, by user code. They are in memory: after a
/// restart a device asks for another code.
struct DeviceSignIns: Sendable {
    /// The lifetime of a code, in seconds.
    static let lifetime = 900
    static let mostCount = 1000
    /// The largest number of codes that one browser may try in a minute.
    static let mostTries = 30
    /// The largest number of codes that one network may try in a minute, without browsers in which a person has signed in.
    /// A guesser gets as many browsers' cookies as they like, and at this pace takes eight years to find one of 1,000
    /// codes.
    static let mostTriesOfNetwork = 600
    /// Without vowels, so that no code is a word, and without characters that look like others.
    static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ3479")

    /// The person's decision.
    enum Decision: Sendable {
        case approved(username: String, Authentication)
        case declined(PlatformError)
    }

    struct SignIn: Sendable {
        let clientID: String
        let segment: TenantSegment
        let scopes: [String]
        /// The claims that the request for the codes asks for.
        var claims = RequestedClaims.none
        /// The network of the device.
        let network: PeerAddress.Network
        let expires: Date
        fileprivate(set) var decision: Decision?
        /// The person who has approved it.
        var username: String? { if case .approved(let username, _) = decision { username } else { nil } }
    }

    private var signIns: [String: SignIn] = [:]
    private var tries = RecentTimes<String>(most: mostTries, within: 60, maxKeys: mostCount)
    private var triesOfNetworks = RecentTimes<PeerAddress.Network>(
        most: mostTriesOfNetwork, within: 60, maxKeys: mostCount)

    /// Returns the sign-in of a user code, for a while also after the code has expired.
    subscript(_ userCode: String) -> SignIn? { signIns[userCode] }

    /// Adds a sign-in under a new user code of 9 characters.
    ///
    /// - Parameter randomBytes: Returns unpredictable bytes.
    /// - Returns: the user code.
    mutating func add(_ signIn: SignIn, now: Date, randomBytes: (Int) -> [UInt8]) -> String {
        makeRoom(now: now)
        let bytes = randomBytes(18)
        let code = String(
            stride(from: 0, to: bytes.count, by: 2).map { index in
                Self.alphabet[(Int(bytes[index]) * 256 + Int(bytes[index + 1])) % Self.alphabet.count]
            })
        signIns[code] = signIn
        return code
    }

    /// Removes the codes that expired long ago. If there are still too many, the network that has the most loses its
    /// oldest one, so that a stranger's codes displace their own.
    private mutating func makeRoom(now: Date) {
        guard signIns.count >= Self.mostCount else { return }
        signIns = signIns.filter { now < $0.value.expires.addingTimeInterval(TimeInterval(Self.lifetime)) }
        while signIns.count >= Self.mostCount,
            let most = Dictionary(grouping: signIns, by: \.value.network).values.max(by: { $0.count < $1.count }),
            let oldest = most.min(by: { $0.value.expires < $1.value.expires })
        {
            signIns[oldest.key] = nil
        }
    }

    /// Notes the person's decision.
    ///
    /// - Returns: false if there is one already, or the code has expired.
    mutating func decide(_ userCode: String, _ decision: Decision, now: Date) -> Bool {
        guard let signIn = signIns[userCode], signIn.decision == nil, now < signIn.expires else { return false }
        signIns[userCode]?.decision = decision
        return true
    }

    /// Returns the code that a person means, whatever the case, the spaces and the hyphens.
    static func userCode(_ text: String) -> String {
        String(text.uppercased().filter { !$0.isWhitespace && $0 != "-" })
    }

    /// Counts a code that a browser tries, and returns whether it may.
    ///
    /// - Parameters:
    ///   - browserID: nil if the browser has no cookie of ours. It then counts by its network alone.
    ///   - isKnown: whether a person has signed in in the browser, which then does not depend on its network.
    mutating func mayTry(
        browserID: String?, isKnown: Bool, _ network: PeerAddress.Network, now: Date
    ) -> Bool {
        if let browserID, tries.add(browserID, now: now) != nil { return false }
        return isKnown || triesOfNetworks.add(network, now: now) == nil
    }
}
