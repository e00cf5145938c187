import Foundation

/// Refresh-token rotation with detection of reuse (RFC 9700 section 4.14.2): where each token is good for one use, a
/// second use means that two have it, and ends all that were renewed from the same sign-in.
struct RefreshFamilies: Codable, Sendable {
    /// What comes of a token's use.
    enum Use { case first, again, afterRevocation }

    /// The token that is given for another.
    struct Renewal {
        var family: String
        var successor: String
        /// When the successor ends by its age.
        var expires: Date
    }

    private struct Family: Codable, Sendable {
        /// The token that has not been used; nil when all of them are dead.
        var unused: String?
        /// From when on its tokens would be refused for their age anyway.
        var expires: Date
    }

    private var families: [String: Family] = [:]

    /// Uses a token.
    ///
    /// - Parameter isSingleUse: else nothing counts, and nothing is remembered but what was revoked before.
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
