/// How long what belongs to a refresh may take. A provider's answer is worth more than a caller's patience: a refresh token
/// that is good for one use, and spent, and not replaced, signs the person out.
package struct RefreshTimes: Sendable {
    /// How long a caller waits for a token, also in the queue for its account.
    package var caller: Duration = .seconds(12)
    /// How long a caller waits who has a token that is still valid, counted from when the refresh began.
    package var whileValid: Duration = .seconds(1)
    /// How long the provider has for its answer to a refresh.
    package var exchange: Duration = .seconds(60)
    /// How long the checks of an answer may take; and a code's exchange with its checks, for which a person waits.
    package var checks: Duration = .seconds(12)
    /// How often a turn to refresh is prolonged: well within ``SessionStore/refreshTurnTime``.
    package var prolonging: Duration = .seconds(5)
}
