import Foundation
package import WebFormats

/// All people: those of the directory, and those who signed up.
package struct People: Sendable {
    private let directory: Directory
    let state: TenantState
    let clock: TenantClock

    package init(directory: Directory, state: TenantState, clock: TenantClock) {
        self.directory = directory
        self.state = state
        self.clock = clock
    }

    /// The state file may be one of a tenant at which people signed up with the password that everyone knows.
    private var signUps: [DemoAccount] {
        let allowsKnownPassword = directory.signUpPassword != nil
        return state.read { record in
            (record.signUps ?? []).filter { allowsKnownPassword || $0.method != nil }.map(\.account)
        }
    }

    /// Everyone, those of the directory first.
    package var accounts: [DemoAccount] { directory.accounts + signUps }

    /// Returns the account with a username, in any case.
    package func account(username: String) -> DemoAccount? {
        directory.account(username: username) ?? signUps.first { $0.username == username.lowercased() }
    }

    /// Returns the person of a token's claims; nil for an application's own one. B2C's name no tenant.
    package func account(of claims: JSONValue) -> DemoAccount? {
        guard let objectID = claims["oid"]?.string else { return nil }
        let tenantID = claims["tid"]?.string ?? Tenant.fabrikamB2C
        return directory.account(objectID: objectID, in: tenantID)
            ?? signUps.first { $0.objectID(in: tenantID) == objectID }
    }

    /// Returns the account for a username or for the value of the claim `login_hint`.
    package func account(hint: String) -> DemoAccount? {
        account(loginHintClaim: hint) ?? account(username: hint)
    }

    /// Returns the account for the value of the claim `login_hint`, which is also the `logout_hint`.
    package func account(loginHintClaim: String) -> DemoAccount? {
        directory.account(loginHintClaim: loginHintClaim) ?? signUps.first { $0.loginHint == loginHintClaim }
    }

    /// Returns the person's current display name, which B2C's profile page can change.
    package func displayName(of account: DemoAccount) -> String {
        state.read { $0.displayNames?[account.username] } ?? account.displayName
    }

    /// Returns the customer who signs in at the social provider with an address; nil if nobody has yet.
    package func socialAccount(address: String, isB2C: Bool) -> DemoAccount? {
        guard directory.signUpPassword != nil else { return nil }
        return state.read { record in
            record.signUps?.first { $0.socialAddress == address.lowercased() && $0.isB2C == isB2C }?.account
        }
    }

    /// Returns the customer for an account of the social provider. The first sign-in makes one.
    package func socialAccount(of person: DemoAccount, isB2C: Bool) -> DemoAccount {
        if let known = socialAccount(address: person.username, isB2C: isB2C) { return known }
        let id = clock.newID()
        let signUp = SignUp(
            username: "\(id)@\(isB2C ? Tenant.fabrikamB2CDomain : Tenant.fabrikamDomain)",
            displayName: displayName(of: person), objectID: id, isB2C: isB2C, socialAddress: person.username)
        state.change { $0.add(signUp) }
        return signUp.account
    }

    /// Returns the person whose account can be created, or the reason why it cannot.
    ///
    /// - Parameter method: The way in which they will sign in; nil for the password that everyone knows.
    package func newcomer(
        username: String, displayName: String, isB2C: Bool, method: SignInMethod? = nil
    ) -> Result<SignUp, SignUp.Refusal> {
        let username = SignUp.comparable(username)
        let displayName = displayName.trimmingCharacters(in: .whitespacesAndNewlines)
        if let refusal = SignUp.refusal(username: username, displayName: displayName) {
            return .failure(SignUp.Refusal(message: refusal))
        }
        guard account(username: username) == nil else { return .failure(.isKnown) }
        return .success(
            SignUp(
                username: username, displayName: displayName, objectID: clock.newID(), isB2C: isB2C, method: method))
    }

    /// Creates the account of a person whose address is confirmed; nil if there is one of that name by now.
    package func signUp(_ newcomer: SignUp) -> DemoAccount? { add(newcomer) { _ in } ? newcomer.account : nil }

    /// Adds a person. Of two simultaneous ones, the first counts.
    private func add(_ signUp: SignUp, _ more: (inout TenantState.Record) -> Void) -> Bool {
        guard directory.account(username: signUp.username) == nil else { return false }
        return state.change { record in
            guard record.signUps?.contains(where: { $0.username == signUp.username }) != true else { return false }
            record.add(signUp)
            more(&record)
            return true
        }
    }

    /// Creates the account of a person who signed up natively; nil if there is one of that name by now.
    ///
    /// - Parameters:
    ///   - username: An address that ``SignUp/refusal(username:displayName:)`` accepts, in lower case.
    ///   - password: The password that the person has chosen; nil for sign-ins by a code.
    package func signUp(
        username: String, password: StoredPassword?, attributes: [String: String]
    ) -> DemoAccount? {
        let names = [attributes["givenName"], attributes["surname"]].compactMap(\.self).joined(separator: " ")
        let local = username.prefix { $0 != "@" }
        let displayName =
            [attributes["displayName"], names].compactMap(\.self).first { !$0.isEmpty } ?? String(local)
        let signUp = SignUp(
            username: username, displayName: displayName, objectID: clock.newID(), isB2C: false,
            method: password == nil ? .code : .password, attributes: attributes)
        let isNew = add(signUp) { record in
            guard let password else { return }
            record.passwords = record.passwords ?? [:]
            record.passwords?[username, default: ChosenPasswords()].add(password)
        }
        return isNew ? signUp.account : nil
    }
}
