import TenantControl
import TenantDirectory

/// The lifetimes of access tokens in seconds, unless a rule sets one.
enum AccessTokenLifetime {
    /// Those of user flows and personal accounts.
    static let fixed = 3600
    /// Those of others: an arbitrary time from an hour to an hour and a half (tok-ok-04).
    static let usual = 3600...5400
    /// Those of clients that take claims challenges, at an API that sends them (tok-ok-05).
    static let long = 86_399
    /// Those of applications themselves (tok-cc-02).
    static let own = 3599
}

extension TokenIssuer {
    /// Returns the lifetime of a new access token.
    func accessTokenSeconds(for audience: String) -> Int {
        if let seconds = settings.accessTokenSeconds { return seconds }
        if segment.userFlow != nil || account.kind == .personal { return AccessTokenLifetime.fixed }
        if audience == AccessToken.graphAudience, requested.takesChallenges { return AccessTokenLifetime.long }
        let random = platform.clock.randomBytes(2).reduce(0) { $0 * 256 + Int($1) }
        return AccessTokenLifetime.usual.lowerBound + random % AccessTokenLifetime.usual.count
    }
}
