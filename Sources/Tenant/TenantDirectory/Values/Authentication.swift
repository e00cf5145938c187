package import Foundation

/// The method and the time of a person's authentication.
package struct Authentication: Sendable, Hashable, Codable {
    package var time: Date
    /// The sign-on session's ID, which is the claim `sid`.
    package var sessionID: String
    /// The second-factor demand that was met; 0 for none.
    package var secondFactor = 0
    /// The authentication contexts that were met by the password. An authentication of an older version has none.
    package var contexts: Set<String>?
    /// The user's revocation count at the time. When the count changes, everything issued under this authentication
    /// ends.
    package var revocations: Int

    package init(
        time: Date, sessionID: String, secondFactor: Int = 0, contexts: Set<String>? = nil, revocations: Int
    ) {
        self.time = time
        self.sessionID = sessionID
        self.secondFactor = secondFactor
        self.contexts = contexts
        self.revocations = revocations
    }
}
