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

/// The choices of people at the external tenant.
extension People {
    /// Returns the newest password of a person of which only the hash is kept; nil if it is the one of the directory.
    package func chosenPassword(of account: DemoAccount) -> StoredPassword? {
        state.read { $0.passwords?[account.username]?.newest } ?? account.storedPassword
    }

    /// Whether a person's password is the one that everyone knows.
    package func hasKnownPassword(_ account: DemoAccount) -> Bool {
        account.password == DemoAccount.demoPassword && chosenPassword(of: account) == nil
    }

    /// Returns the rule that a new password of a person breaks; nil if it breaks none.
    package func refusal(of password: String, for account: DemoAccount) -> PasswordRefusal? {
        let isUsed =
            (!account.password.isEmpty && account.password == password)
            || account.storedPassword?.matches(password) == true
            || state.read { $0.passwords?[account.username]?.contains(password) == true }
        let names = [account.username, displayName(of: account), account.givenName, account.surname]
        return PasswordRefusal.of(password, names: names, isUsed: isUsed)
    }

    /// Gives a person a new password, and ends everything that was issued under the one before.
    package func choose(_ password: StoredPassword, for account: DemoAccount) {
        state.change { record in
            record.passwords = record.passwords ?? [:]
            record.passwords?[account.username, default: ChosenPasswords()].add(password)
            record.revoke(account.username, at: clock.now())
        }
    }

    /// Returns the second factors that a person can use.
    package func contacts(of account: DemoAccount) -> [VerifiedContact] {
        if let registered = state.read({ $0.contacts?[account.username] }) { return [registered] }
        let phone = account.mobilePhone.map { VerifiedContact(channel: .sms, target: $0) }
        switch account.secondFactor {
        case .email: return [VerifiedContact(channel: .email, target: account.username)]
        case .sms: return phone.map { [$0] } ?? []
        case .unregistered: return []
        // The mailbox that has the first code cannot be the second factor.
        case nil:
            return account.signInMethod == .code
                ? phone.map { [$0] } ?? [] : [VerifiedContact(channel: .email, target: account.username)]
        }
    }

    /// Registers a second factor.
    package func register(_ contact: VerifiedContact, for account: DemoAccount) {
        state.change { record in
            record.contacts = record.contacts ?? [:]
            record.contacts?[account.username] = contact
        }
    }
}
