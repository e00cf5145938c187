/// Connections in order. Each connection stores its own place, so entering and leaving take a few stores.
struct ConnectionQueue {
    /// A connection has a place for each kind, and is in one queue of a kind at a time.
    enum Kind: Int {
        case deadline, neighbours
    }

    struct Place {
        fileprivate var previous: Connection?
        fileprivate var next: Connection?
    }

    typealias Places = InlineArray<2, Place>

    private let kind: Int
    private(set) var first: Connection?
    private(set) var last: Connection?

    init(_ kind: Kind) { self.kind = kind.rawValue }

    /// Appends a connection that is in no queue of this kind.
    mutating func append(_ connection: Connection) {
        connection.places[kind].previous = last
        if let last { last.places[kind].next = connection } else { first = connection }
        last = connection
    }

    /// Removes a connection that is in this queue.
    mutating func remove(_ connection: Connection) {
        let place = connection.places[kind]
        connection.places[kind] = Place()
        if let previous = place.previous { previous.places[kind].next = place.next } else { first = place.next }
        if let next = place.next { next.places[kind].previous = place.previous } else { last = place.previous }
    }

    /// Returns all connections, in order.
    func all() -> [Connection] {
        guard let first else { return [] }
        return Array(sequence(first: first) { $0.places[kind].next })
    }
}
