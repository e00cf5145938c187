import Foundation

/// A person who signed up on a page of the external or the B2C tenant. It is kept in the state file.
package struct SignUp: Sendable, Codable, Hashable {
    package var username: String
    package var displayName: String
    package var objectID: String
    /// Whether the person signed up at the B2C tenant.
    package var isB2C: Bool
    /// The way in which the person signs in; nil if they signed up on a page, with the password that everyone knows.
    package var method: SignInMethod?
    /// The attributes that the person gave natively.
    package var attributes: [String: String]?
    /// The address of a person who signs in at the social provider; nil for others, and in a file of an older version.
    package var socialAddress: String?

    /// The reason why an account cannot be created, as a sentence for the person.
    package struct Refusal: Error, Codable {
        package static let isKnown = Refusal(message: "There is an account of that name already. Sign in with it.")

        package var message: String
    }

    /// Returns a name as names are compared: without spaces around it, in lower case.
    package static func comparable(_ username: String) -> String {
        username.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Returns the reason why a name cannot be used to sign up, as a sentence for the person; nil if it can.
    package static func refusal(username: String, displayName: String) -> String? {
        let parts = username.split(separator: "@", omittingEmptySubsequences: false)
        let isAddress =
            parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && username.count <= 64
            && username.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "@.-_+".contains($0)) }
        guard isAddress else { return "Give an e-mail address, as casey@customer.example." }
        guard (1...64).contains(displayName.count) else { return "Give a name of 1 to 64 characters." }
        return nil
    }

    package var account: DemoAccount {
        let names = displayName.split(separator: " ", maxSplits: 1).map(String.init)
        var account = DemoAccount(
            username: username, kind: isB2C ? .b2c : .external,
            identityProvider: socialAddress == nil ? nil : SocialProvider.id, email: socialAddress, objectID: objectID,
            givenName: names.first ?? "", surname: names.count > 1 ? names[1] : "", displayName: displayName,
            hint: socialAddress == nil ? "Signed up here" : "Signs in with Contoso Social")
        if let method { (account.signInMethod, account.password) = (method, "") }
        account.givenName = attributes?["givenName"] ?? account.givenName
        account.surname = attributes?["surname"] ?? account.surname
        account.jobTitle = attributes?["jobTitle"]
        return account
    }
}
