import Foundation

/// A person who signed up on a page of the external or the B2C tenant. It is kept in the state file.
struct SignUp: Sendable, Codable, Hashable {
    var username: String
    var displayName: String
    var objectID: String
    /// Whether the person signed up at the B2C tenant.
    var isB2C: Bool

    /// Returns the reason why a name cannot be used to sign up, as a sentence for the person; nil if it can.
    static func refusal(username: String, displayName: String) -> String? {
        let parts = username.split(separator: "@", omittingEmptySubsequences: false)
        let isAddress =
            parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && username.count <= 64
            && username.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "@.-_+".contains($0)) }
        guard isAddress else { return "Give an e-mail address, as casey@customer.example." }
        guard (1...64).contains(displayName.count) else { return "Give a name of 1 to 64 characters." }
        return nil
    }

    var account: DemoAccount {
        let names = displayName.split(separator: " ", maxSplits: 1).map(String.init)
        return DemoAccount(
            username: username, kind: isB2C ? .b2c : .external, objectID: objectID, givenName: names.first ?? "",
            surname: names.count > 1 ? names[1] : "", displayName: displayName, hint: "Signed up here")
    }
}

/// All accounts: the built-in ones, and those of people who signed up.
extension Platform {
    private var signUps: [DemoAccount] { state.read { ($0.signUps ?? []).map(\.account) } }

    var accounts: [DemoAccount] { directory.accounts + signUps }

    /// Returns the account with a username, in any case.
    func account(username: String) -> DemoAccount? {
        directory.account(username: username) ?? signUps.first { $0.username == username.lowercased() }
    }

    /// Returns the account for a username or for the value of the claim `login_hint`.
    func account(hint: String) -> DemoAccount? {
        account(loginHintClaim: hint) ?? account(username: hint)
    }

    /// Returns the account for the value of the claim `login_hint`, which is also the `logout_hint`.
    func account(loginHintClaim: String) -> DemoAccount? {
        directory.account(loginHintClaim: loginHintClaim) ?? signUps.first { $0.loginHint == loginHintClaim }
    }

    func accounts(of session: SignOnSession) -> [DemoAccount] {
        session.entries.compactMap { account(username: $0.username) }
    }

    func account(of flow: DemoSignInFlow) -> DemoAccount? { flow.username.flatMap(account(username:)) }

    /// Creates an account, or returns the reason why it cannot be created.
    func signUp(username: String, displayName: String, isB2C: Bool) -> Result<DemoAccount, SignIn.Notice.Refusal> {
        let username = username.trimmingCharacters(in: .whitespaces).lowercased()
        let displayName = displayName.trimmingCharacters(in: .whitespacesAndNewlines)
        if let refusal = SignUp.refusal(username: username, displayName: displayName) {
            return .failure(SignIn.Notice.Refusal(message: refusal))
        }
        guard account(username: username) == nil else {
            return .failure(
                SignIn.Notice.Refusal(message: "There is an account of that name already. Sign in with it."))
        }
        let signUp = SignUp(username: username, displayName: displayName, objectID: newID(), isB2C: isB2C)
        state.change { $0.signUps = ($0.signUps ?? []).suffix(999) + [signUp] }
        return .success(signUp.account)
    }
}
