/// Limits on the use of what is expensive, for each address, each session with a signed-in account, and each browser
/// with an earlier sign-in. Rates are token buckets; 0 turns a limit off.
package struct Limits: Sendable, Equatable {
    /// Sign-ins per minute, including administrators' consents.
    package var signInsPerMinute: Int
    /// Sign-ins that may begin at once, for example in a class; nil stands for half of ``signInsPerMinute``.
    package var signInBurst: Int?
    /// Provider responses per minute.
    package var callbacksPerMinute: Int
    /// Refreshes per minute of tokens that are still valid.
    package var forcedRefreshesPerMinute: Int
    /// Requests per minute to operations for a portal's operators only.
    package var operatorRequestsPerMinute: Int
    /// Requests of programs per minute and address, with a right or a wrong token.
    package var programRequestsPerMinute: Int
    /// Open connections at a time.
    package var connections: Int
    /// Networks to which no limit applies.
    package var exempt: [AddressRange]
}
