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
