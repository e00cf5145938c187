/// The time limits of a token refresh. The server waits for a provider's response longer than a caller would: if a
/// single-use refresh token is spent and its replacement lost, the person is signed out.
package struct RefreshTimes: Sendable {
    /// The time that a caller waits for a token, including the queue for its account.
    package var caller: Duration = .seconds(12)
    /// The time that a caller with a still valid token waits, counted from the start of the refresh.
    package var whileValid: Duration = .seconds(1)
    /// The time that the provider has to respond to a refresh.
    package var exchange: Duration = .seconds(60)
    /// The time after which a refresh may be sent again, if the refresh token is good for several uses and the provider has
    /// answered others since. It leaves time for a response before the caller stops waiting.
    package var silence: Duration = .seconds(6)
    /// The time that the provider has to redeem a code, while a person waits.
    package var code: Duration = .seconds(12)
    /// The time for checking a token response, while the provider's keys may not be available.
    package var checks: Duration = .seconds(10)
    /// The interval at which a check is repeated.
    package var recheck: Duration = .milliseconds(250)
    /// The interval at which a turn to refresh is extended. It is much shorter than ``SessionStore/refreshTurnTime``.
    package var prolonging: Duration = .seconds(5)
}
