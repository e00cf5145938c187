/// The state of the connections to a database on another machine.
public struct StoreConnections: Sendable, Equatable {
    /// Whether the database can be reached, according to the last attempt.
    public var isReachable = true
    /// The number of open connections.
    public var open = 0
    /// The number of open connections that are in a transaction.
    public var busy = 0
    /// The most connections that may be in transactions.
    public var limit = 0
    /// The number of operations that wait for a connection.
    public var waiting = 0

    /// Creates the state without any connections.
    package init() {}

    /// Adds the connections of another worker.
    package static func + (one: StoreConnections, other: StoreConnections) -> StoreConnections {
        var sum = one
        sum.isReachable = one.isReachable && other.isReachable
        sum.open += other.open
        sum.busy += other.busy
        sum.limit += other.limit
        sum.waiting += other.waiting
        return sum
    }
}
