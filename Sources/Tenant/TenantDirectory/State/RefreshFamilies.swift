package import Foundation

/// Refresh-token rotation with detection of reuse (RFC 9700 section 4.14.2). If tokens are valid for one use, a second
/// use means that two parties have the token. It revokes all tokens from the same sign-in.
package struct RefreshFamilies: Codable, Sendable {
    /// The outcome of using a token.
    package enum Use { case first, again, afterRevocation }

    /// The token that replaces the used one.
    package struct Renewal {
        package var family: String
        package var successor: String
        /// The expiry date of the new token.
        package var expires: Date

        package init(family: String, successor: String, expires: Date) {
            self.family = family
            self.successor = successor
            self.expires = expires
        }
    }

    private struct Family: Codable, Sendable {
        /// The token that has not been used yet; nil if all of them are revoked.
        var unused: String?
        /// The date after which all of the family's tokens have expired anyway.
        var expires: Date
    }

    private var families: [String: Family] = [:]

    package init() {}

    /// Uses a token.
    ///
    /// - Parameters:
    ///   - tokenID: the token's ID.
    ///   - isSingleUse: whether uses count. If not, only earlier revocations are observed.
    package mutating func use(_ tokenID: String, renewal: Renewal, isSingleUse: Bool, now: Date) -> Use {
        let family = families[renewal.family]
        if let family, family.unused == nil { return .afterRevocation }
        guard isSingleUse else {
            families[renewal.family] = nil
            return .first
        }
        let isFirst = family == nil || family?.unused == tokenID
        if family == nil, families.count.isMultiple(of: 256) { families = families.filter { $0.value.expires > now } }
        families[renewal.family] = Family(unused: isFirst ? renewal.successor : nil, expires: renewal.expires)
        return isFirst ? .first : .again
    }
}
