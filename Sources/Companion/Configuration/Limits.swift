/// How much one address, or one session that is signed in, may ask for of what costs something. Rates are token buckets;
/// 0 turns one off.
public struct Limits: Sendable, Equatable {
    /// Sign-ins begun a minute, administrators' consents included.
    public var signInsPerMinute = 120
    /// So many may begin at once, as a class does; nil is half of ``signInsPerMinute``.
    public var signInBurst: Int?
    /// Answers of providers taken a minute.
    public var callbacksPerMinute = 240
    /// Tokens replaced a minute that were still good.
    public var forcedRefreshesPerMinute = 60
    /// Requests a minute to what only a portal's operators may do.
    public var operatorRequestsPerMinute = 120
    /// Connections open at a time.
    public var connections = 512
    /// The networks whose addresses are not counted.
    public var exempt: [AddressRange] = []

    /// The defaults.
    public init() {}
}

extension ConfigurationReading {
    mutating func limits() -> Limits {
        var limits = Limits()
        limits.signInsPerMinute = number("limits.sign_ins_per_minute") ?? limits.signInsPerMinute
        limits.signInBurst = number("limits.sign_in_burst", from: 1)
        limits.callbacksPerMinute = number("limits.callbacks_per_minute") ?? limits.callbacksPerMinute
        limits.forcedRefreshesPerMinute =
            number("limits.forced_refreshes_per_minute") ?? limits.forcedRefreshesPerMinute
        limits.operatorRequestsPerMinute =
            number("limits.operator_requests_per_minute") ?? limits.operatorRequestsPerMinute
        limits.connections = number("limits.connections") ?? limits.connections
        limits.exempt = networks("limits.exempt")
        return limits
    }

    /// A whole number; where 0 is allowed it turns a limit off.
    mutating func number(_ key: String, from least: Int = 0, to most: Int = 1_000_000) -> Int? {
        guard let value = text(key) else { return nil }
        guard let number = Int(value), (least...most).contains(number) else {
            let off = least == 0 ? "; 0 turns the limit off" : ""
            mistakes.add(key, "must be a whole number from \(least) to \(most), not “\(value)”\(off)")
            return nil
        }
        return number
    }
}
