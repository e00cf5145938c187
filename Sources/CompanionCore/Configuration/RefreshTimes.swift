/// The time limits of a token refresh. The server waits for a provider's response longer than a caller would: if a
/// single-use refresh token is spent and its replacement lost, the person is signed out.
package struct RefreshTimes: Sendable {
    /// The time that a caller waits for a token, including the queue for its account.
    package var caller: Duration = .seconds(12)
    /// The time that a caller with a still valid token waits, counted from the start of the refresh.
    package var whileValid: Duration = .seconds(1)
    /// The time that the provider has to respond to a refresh.
    package var exchange: Duration = .seconds(60)
    /// The time for validating a refresh response; also the time for redeeming a code and validating the result,
    /// while a person waits.
    package var checks: Duration = .seconds(12)
    /// The interval at which a turn to refresh is extended. It is much shorter than ``SessionStore/refreshTurnTime``.
    package var prolonging: Duration = .seconds(5)
}
