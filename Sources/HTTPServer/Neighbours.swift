/// A worker's connections from one limited address (for IPv6: from one /64). Decides which of them makes room for
/// another.
///
/// Only connections on which the server waits for the client make room. The first ones are those that have not sent a
/// whole request yet: if a partial request protected a connection, a stranger could send one byte on each. Then come
/// those that have had a response, whether or not a part of their next request has arrived. In both groups, the
/// connection that has waited longest is closed. A request in progress, or a response that is being sent, protects its
/// connection.
///
/// An attacker decides how often connections must make room. Therefore the connection is found without reading others
/// (one read from it shows that no request is waiting), and each change of a connection's phase costs a few stores.
final class Neighbours {
    /// The order in which connections make room.
    enum Rank {
        case unanswered, answered
    }

    private var unanswered = ConnectionQueue(.neighbours)
    private var answered = ConnectionQueue(.neighbours)
    private var count = 0

    var isEmpty: Bool { count == 0 }

    func join(_ connection: Connection) {
        count += 1
        connection.neighbours = self
    }

    /// Records that the connection has entered a stage.
    func enter(_ connection: Connection, _ stage: Stage) {
        let rank: Rank? =
            switch stage {
            case .head, .body, .idle: connection.answers == 0 ? .unanswered : .answered
            case .handler, .write, .linger: nil
            }
        if rank == .answered, connection.rank == rank, answered.last === connection { return }
        leaveRank(connection)
        connection.rank = rank
        switch rank {
        case .unanswered: unanswered.append(connection)
        case .answered: answered.append(connection)
        case nil: break
        }
    }

    func leave(_ connection: Connection) {
        leaveRank(connection)
        connection.neighbours = nil
        count -= 1
    }

    private func leaveRank(_ connection: Connection) {
        switch connection.rank {
        case .unanswered: unanswered.remove(connection)
        case .answered: answered.remove(connection)
        case nil: break
        }
        connection.rank = nil
    }

    /// Closes one connection, if one can make room.
    /// - Returns: Whether one was closed.
    func makeRoom() -> Bool {
        // A connection that is not closed has had a request in the kernel, which had to be served anyway. Each is asked
        // once.
        for _ in 0..<count {
            guard let connection = unanswered.first ?? answered.first else { return false }
            if connection.giveWay() { return true }
        }
        return false
    }
}
