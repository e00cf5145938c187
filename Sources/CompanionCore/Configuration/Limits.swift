/// How much one address, one session that is signed in, or one browser in which somebody has signed in before may ask for of
/// what costs something. Rates are token buckets; 0 turns one off.
package struct Limits: Sendable, Equatable {
    /// Sign-ins begun a minute, administrators' consents included.
    package var signInsPerMinute: Int
    /// So many may begin at once, as a class does; nil is half of ``signInsPerMinute``.
    package var signInBurst: Int?
    /// Answers of providers taken a minute.
    package var callbacksPerMinute: Int
    /// Tokens replaced a minute that were still good.
    package var forcedRefreshesPerMinute: Int
    /// Requests a minute to what only a portal's operators may do.
    package var operatorRequestsPerMinute: Int
    /// Connections open at a time.
    package var connections: Int
    /// The networks whose addresses are not counted.
    package var exempt: [AddressRange]
}
