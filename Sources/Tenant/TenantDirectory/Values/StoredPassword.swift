import Cryptography
import Foundation

/// A password that a person has chosen, as the state file has it. The file also has the keys that sign for everyone, so
/// the salt only hides which passwords are equal.
package struct StoredPassword: Sendable, Codable, Hashable {
    private var salt: Data
    private var hash: Data

    package init(_ password: String, clock: TenantClock) {
        salt = Data(clock.randomBytes(16))
        hash = Data(SHA256.hash(data: salt + Data(password.utf8)))
    }

    package func matches(_ password: String) -> Bool {
        let given = Data(SHA256.hash(data: salt + Data(password.utf8)))
        // Digests of digests compare in constant time.
        return SHA256.hash(data: given) == SHA256.hash(data: hash)
    }
}

/// The passwords that a person has chosen, the newest last.
package struct ChosenPasswords: Sendable, Codable, Hashable {
    /// The number of passwords that are kept, the newest with them.
    private static let most = 4

    private var all: [StoredPassword] = []

    package var newest: StoredPassword? { all.last }

    /// Whether one of them is this one.
    func contains(_ password: String) -> Bool { all.contains { $0.matches(password) } }

    mutating func add(_ password: StoredPassword) { all = all.suffix(Self.most - 1) + [password] }
}

/// An address or a number that a person has registered as the second factor.
package struct VerifiedContact: Sendable, Codable, Hashable {
    /// The ways on which a code is sent.
    package enum Channel: String, Sendable, Codable { case email, sms }

    package var channel: Channel
    package var target: String

    package init(channel: Channel, target: String) {
        self.channel = channel
        self.target = target
    }

    /// The target as an app shows it: the ends alone.
    package var label: String {
        switch channel {
        case .email:
            let parts = target.split(separator: "@", maxSplits: 1)
            let name = parts.first ?? ""
            return "\(name.prefix(1))***\(name.count > 1 ? name.suffix(1) : "")@\(parts.count > 1 ? parts[1] : "")"
        case .sms: return "\(target.prefix(2))******\(target.suffix(2))"
        }
    }
}
