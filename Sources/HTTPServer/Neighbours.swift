/// The connections that a worker has from one address (of IPv6: from one /64) whose number is limited, and which of them
/// makes room for another.
///
/// Only a connection makes room on which the server waits for its client. First come those on which no whole request has come
/// so far: if a part of one held a place, a stranger would send a byte on each. Then come those that have been answered,
/// whether nothing or a part of their next request has come. Of either, the one that has waited longest ends. A request that
/// is worked on, or whose answer is being sent, holds its place.
///
/// It is the attacker who decides how often somebody has to make room. So that connection is found without looking at another
/// (one read from it shows that no request waits), and each change of a connection's phase costs a few stores.
final class Neighbours {
    /// How soon a connection has to make room.
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

    /// The connection has entered a stage.
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

    /// Closes one connection, if there is one that makes room.
    /// - Returns: Whether one was closed.
    func makeRoom() -> Bool {
        // One that does not end has had a request in the kernel, which was to be answered anyway; each is asked once.
        for _ in 0..<count {
            guard let connection = unanswered.first ?? answered.first else { return false }
            if connection.giveWay() { return true }
        }
        return false
    }
}
