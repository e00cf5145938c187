package import Foundation
package import WebFormats

extension TenantState.Record {
    /// Ends everything that was issued to a person until now.
    package mutating func revoke(_ username: String, at now: Date) {
        revocations[username, default: 0] += 1
        tokensValidFrom = tokensValidFrom ?? [:]
        tokensValidFrom?[username] = Self.nextSecond(now)
    }

    /// Tokens are dated in whole seconds. Those that follow at once get the next one, which those before cannot have.
    fileprivate static func nextSecond(_ now: Date) -> Date {
        Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down) + 1)
    }
}

extension TenantState {
    /// Makes revocations of the future those of now, after the clock was put back: until then, tokens would be from the
    /// future, too.
    package func leaveFuture(_ now: Date) {
        let latest = Record.nextSecond(now)
        guard read({ $0.tokensValidFrom?.values.contains { $0 > latest } }) == true else { return }
        change { $0.tokensValidFrom = $0.tokensValidFrom?.mapValues { min($0, latest) } }
    }

    /// Returns the time from which on tokens of a person are valid, that of the latest revocation ("TokensValidFrom",
    /// t2-rt-04); nil if there was none.
    package func tokensValidFrom(_ account: DemoAccount) -> Date? { read { $0.tokensValidFrom?[account.username] } }

    /// Returns the time of the revocation that has ended an access token of a person, which is from before it; nil if none
    /// has. The token is none of a user flow, which are not backdated.
    ///
    /// - Parameter claims: The token's claims.
    package func revocation(ofTokenWith claims: JSONValue, of account: DemoAccount) -> Date? {
        guard let validFrom = tokensValidFrom(account), let date = claims["iat"]?.integer,
            Double(date) + Double(AccessToken.backdating) < validFrom.timeIntervalSince1970
        else { return nil }
        return validFrom
    }
}
