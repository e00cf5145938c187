/// How much one address, one session that is signed in, or one browser in which somebody has signed in before may ask for of
/// what costs something. Rates are token buckets; 0 turns one off.
public struct Limits: Sendable, Equatable {
    /// Sign-ins begun a minute, administrators' consents included.
    public var signInsPerMinute: Int
    /// So many may begin at once, as a class does; nil is half of ``signInsPerMinute``.
    public var signInBurst: Int?
    /// Answers of providers taken a minute.
    public var callbacksPerMinute: Int
    /// Tokens replaced a minute that were still good.
    public var forcedRefreshesPerMinute: Int
    /// Requests a minute to what only a portal's operators may do.
    public var operatorRequestsPerMinute: Int
    /// Connections open at a time.
    public var connections: Int
    /// The networks whose addresses are not counted.
    public var exempt: [AddressRange]
}
