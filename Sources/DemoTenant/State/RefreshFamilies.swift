import Foundation

/// Refresh-token rotation with detection of reuse (RFC 9700 section 4.14.2). If tokens are valid for one use, a second
/// use means that two parties have the token. It revokes all tokens from the same sign-in.
struct RefreshFamilies: Codable, Sendable {
    /// The outcome of using a token.
    enum Use { case first, again, afterRevocation }

    /// The token that replaces the used one.
    struct Renewal {
        var family: String
        var successor: String
        /// The expiry date of the new token.
        var expires: Date
    }

    private struct Family: Codable, Sendable {
        /// The token that has not been used yet; nil if all of them are revoked.
        var unused: String?
        /// The date after which all of the family's tokens have expired anyway.
        var expires: Date
    }

    private var families: [String: Family] = [:]

    /// Uses a token.
    ///
    /// - Parameter isSingleUse: whether uses count. If not, only earlier revocations are observed.
    mutating func use(_ token: RefreshToken, renewal: Renewal, isSingleUse: Bool, now: Date) -> Use {
        let family = families[renewal.family]
        if let family, family.unused == nil { return .afterRevocation }
        guard isSingleUse else {
            families[renewal.family] = nil
            return .first
        }
        let isFirst = family == nil || family?.unused == token.id
        if family == nil, families.count.isMultiple(of: 256) { families = families.filter { $0.value.expires > now } }
        families[renewal.family] = Family(unused: isFirst ? renewal.successor : nil, expires: renewal.expires)
        return isFirst ? .first : .again
    }
}
