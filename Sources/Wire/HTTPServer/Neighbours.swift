import EventLoop

/// A worker's connections from one address (for IPv6: from one /64). Decides which of them makes room for another.
///
/// Only connections on which the server waits for the client make room. The first ones are those that have not sent a
/// whole request yet: if a partial request protected a connection, a stranger could send one byte on each. Then come
/// those that have had a response, whether or not a part of their next request has arrived. The last ones are those that
/// have not taken enough of their response for a while: otherwise a stranger could hold each place with a response that he
/// does not read. In each group, the connection that has waited longest is closed. A request in progress, or a response
/// that is being taken, protects its connection.
///
/// An attacker decides how often connections must make room. Therefore the connection is found without reading others
/// (one read from it shows that no request is waiting), and each change of a connection's phase costs a few stores.
final class Neighbours {
    /// The order in which connections make room.
    enum Rank: Int, CaseIterable {
        case unanswered, answered, unread
    }

    /// The connections of one rank, in the order in which they entered it.
    private struct Group {
        var connections = ConnectionQueue(.neighbours)
        var count = 0
    }

    /// Whether the number of the address's connections has a limit.
    let isLimited: Bool
    private var groups: InlineArray<3, Group> = .init(repeating: Group())
    private(set) var count = 0

    // The place among the worker's addresses with the same number of connections, which `Crowds` alone sets.
    var previous: Neighbours?
    var next: Neighbours?

    init(isLimited: Bool) { self.isLimited = isLimited }

    func join(_ connection: Connection) {
        count += 1
        connection.neighbours = self
    }

    /// Records that the connection has entered a stage. One that goes on writing keeps its place until it has taken enough.
    func enter(_ connection: Connection, _ stage: Stage, at now: MonotonicTime) {
        let rank: Rank? =
            switch stage {
            case .head, .body, .idle, .linger: connection.answers == 0 ? .unanswered : .answered
            case .write: .unread
            case .handler: nil
            }
        if let rank, connection.rank == rank {
            if rank == .answered, groups[rank.rawValue].connections.last === connection { return }
            if rank == .unread, !connection.hasTakenEnough { return }
        }
        leaveRank(connection)
        connection.rank = rank
        guard let rank else { return }
        if rank == .unread { connection.startTaking(at: now) }
        groups[rank.rawValue].connections.append(connection)
        groups[rank.rawValue].count += 1
    }

    func leave(_ connection: Connection) {
        leaveRank(connection)
        connection.neighbours = nil
        count -= 1
    }

    private func leaveRank(_ connection: Connection) {
        guard let rank = connection.rank else { return }
        groups[rank.rawValue].connections.remove(connection)
        groups[rank.rawValue].count -= 1
        connection.rank = nil
    }

    /// Closes one connection for another of the same address, if one can make room.
    ///
    /// - Parameter isStuck: whether a client has not taken enough of a response for a while.
    /// - Returns: Whether one was closed.
    func makeRoom(_ isStuck: (Connection) -> Bool) -> Bool { makeRoom(Rank.allCases, isStuck) }

    /// Closes one connection for another of any address. The ranks of which this address has most come first: its silent
    /// connections then do not make room for its idle ones, nor its idle ones for a newcomer of its own.
    /// - Returns: Whether one was closed.
    func makeRoomForAnyone(_ isStuck: (Connection) -> Bool) -> Bool {
        makeRoom(Rank.allCases.sorted { groups[$0.rawValue].count > groups[$1.rawValue].count }, isStuck)
    }

    private func makeRoom(_ ranks: [Rank], _ isStuck: (Connection) -> Bool) -> Bool {
        // A connection that is not closed has had a request in the kernel, which had to be served anyway. Each is asked
        // once.
        for _ in 0..<count {
            var found: Connection?
            for rank in ranks where found == nil {
                found = groups[rank.rawValue].connections.first
                if rank == .unread, let connection = found, !isStuck(connection) { found = nil }
            }
            guard let connection = found else { return false }
            if connection.giveWay() { return true }
        }
        return false
    }
}

/// A worker's addresses by the number of their connections, so that the one with most is found at once.
struct Crowds {
    /// The most addresses that are asked for room, one after the other.
    private static let asked = 16

    /// The first address with each number of connections.
    private var firsts: [Neighbours?] = [nil]
    private var most = 0

    /// Moves an address from one number of connections to its own.
    mutating func move(_ neighbours: Neighbours, from before: Int) {
        if before > 0 {
            let (previous, next) = (neighbours.previous, neighbours.next)
            if let previous { previous.next = next } else { firsts[before] = next }
            next?.previous = previous
            (neighbours.previous, neighbours.next) = (nil, nil)
        }
        let count = neighbours.count
        if count > 0 {
            if count >= firsts.count { firsts.append(contentsOf: repeatElement(nil, count: count - firsts.count + 1)) }
            neighbours.next = firsts[count]
            firsts[count]?.previous = neighbours
            firsts[count] = neighbours
        }
        most = max(most, count)
        while most > 0, firsts[most] == nil { most -= 1 }
    }

    /// The addresses with most connections, in descending order.
    func largest() -> [Neighbours] {
        var found: [Neighbours] = []
        var count = most
        while count > 0, found.count < Self.asked {
            var next = firsts[count]
            while let neighbours = next, found.count < Self.asked {
                found.append(neighbours)
                next = neighbours.next
            }
            count -= 1
        }
        return found
    }
}
