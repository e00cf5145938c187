/// The rules for new passwords at the external tenant, by which each refusal of native authentication can be seen.
package enum PasswordRefusal: String, Sendable, Hashable, CaseIterable, Codable {
    case tooShort = "password_too_short"
    case tooLong = "password_too_long"
    case invalid = "password_is_invalid"
    case banned = "password_banned"
    case recentlyUsed = "password_recently_used"
    case tooWeak = "password_too_weak"

    package static let leastCharacters = 8
    package static let mostCharacters = 256

    /// Returns the first rule that a password breaks; nil if it breaks none.
    ///
    /// - Parameters:
    ///   - names: The person's address and names, whose words of four or more letters a password must not contain.
    ///   - isUsed: Whether the person has, or had, this password.
    package static func of(_ password: String, names: [String], isUsed: Bool = false) -> PasswordRefusal? {
        if password.count < leastCharacters { return .tooShort }
        if password.count > mostCharacters { return .tooLong }
        guard password.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return .invalid }
        let text = password.lowercased()
        let words = names.flatMap { $0.prefix { $0 != "@" }.lowercased().split { !$0.isLetter } }
        if words.contains(where: { $0.count >= 4 && text.contains($0) }) { return .banned }
        if isUsed { return .recentlyUsed }
        let kinds: [(Character) -> Bool] = [
            \.isLowercase, \.isUppercase, \.isNumber, { !$0.isLetter && !$0.isNumber },
        ]
        return kinds.count { password.contains(where: $0) } < 3 ? .tooWeak : nil
    }
}
