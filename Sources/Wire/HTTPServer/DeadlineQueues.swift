import EventLoop

/// The stage of a connection, each with its own deadline.
enum Stage: Int, CaseIterable {
    case head, body, handler, write, idle, linger

    func duration(in deadlines: ServerConfiguration.Deadlines) -> Duration {
        switch self {
        case .head: deadlines.head
        case .body: deadlines.body
        case .handler: deadlines.handler
        case .write: deadlines.write
        case .idle: deadlines.idle
        case .linger: deadlines.linger
        }
    }
}

/// The connections of one worker, in one queue for each stage.
/// All connections of a stage have the same time limit, so each queue is in the order of its deadlines. Entering one
/// takes a few stores, and a sweep reads only the expired ones and one more. The queues contain every open connection
/// exactly once, until it is closed.
struct DeadlineQueues {
    private struct Queue {
        let duration: Duration
        var connections = ConnectionQueue(.deadline)
    }

    private var queues: [Queue]
    private(set) var count = 0
    /// The interval between sweeps: a quarter of the shortest deadline, from 5 ms to 1 s.
    let sweepInterval: Duration

    init(_ deadlines: ServerConfiguration.Deadlines) {
        let durations = Stage.allCases.map { $0.duration(in: deadlines) }
        queues = durations.map { Queue(duration: $0) }
        let shortest = durations.min() ?? .seconds(1)
        sweepInterval = min(max(shortest / 4, .milliseconds(5)), .seconds(1))
    }

    /// Moves a connection to the end of a stage's queue.
    mutating func enter(_ connection: Connection, _ stage: Stage, at now: MonotonicTime) {
        let queue = stage.rawValue
        connection.deadline = now + queues[queue].duration
        if connection.stage == stage, queues[queue].connections.last === connection { return }
        leave(connection)
        connection.stage = stage
        queues[queue].connections.append(connection)
        count += 1
    }

    mutating func leave(_ connection: Connection) {
        guard let stage = connection.stage else { return }
        queues[stage.rawValue].connections.remove(connection)
        connection.stage = nil
        count -= 1
    }

    /// The connection that has waited longest in a stage.
    func first(in stage: Stage) -> Connection? { queues[stage.rawValue].connections.first }

    /// Returns the first connection of a stage whose deadline has passed, if there is one.
    func expired(in stage: Stage, at now: MonotonicTime) -> Connection? {
        guard let first = first(in: stage), first.deadline <= now else { return nil }
        return first
    }

    /// Returns all connections.
    func all() -> [Connection] { queues.flatMap { $0.connections.all() } }
}
