import Cryptography
import Foundation
package import HTTPServer
import TenantDirectory

extension IdentityPlatform {
    /// The outcome of a comparison with a secret.
    package enum Verdict: Sendable, Hashable {
        case right, wrong
        /// Wrong, as too many others of the same network.
        case tooMany(seconds: Int)
    }

    /// Compares a text with a secret. Wrong ones count, but not while everyone knows the passwords.
    package func judge(
        _ text: String, against secret: String, from peer: PeerAddress, alwaysCounts: Bool = false
    ) -> Verdict {
        // Digests compare in constant time.
        let isRight = SHA256.hash(data: Data(text.utf8)) == SHA256.hash(data: Data(secret.utf8))
        return judge(isRight, from: peer, alwaysCounts: alwaysCounts)
    }

    /// Compares a text with a person's password. A person without a password has no right one.
    func judge(_ text: String, of account: DemoAccount, from peer: PeerAddress) -> Verdict {
        if let chosen = people.chosenPassword(of: account) { return judge(chosen.matches(text), from: peer) }
        return account.password.isEmpty ? judge(false, from: peer) : judge(text, against: account.password, from: peer)
    }

    /// Counts a wrong guess.
    func judge(_ isRight: Bool, from peer: PeerAddress, alwaysCounts: Bool = false) -> Verdict {
        if isRight { return .right }
        guard alwaysCounts || !directory.hasDemoAccounts else { return .wrong }
        let now = clock.now()
        return wrongGuesses.withLock { $0.add(peer.network, now: now) }.map(Verdict.tooMany) ?? .wrong
    }
}
