import EventLoop

/// What a connection is waiting for; each stage has its own deadline.
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
///
/// All connections of a stage wait equally long, so each queue is in the order of its deadlines: entering one is a
/// few stores, and a sweep looks only at those which have run out and one more. The queues hold every open
/// connection exactly once, until it is closed.
struct DeadlineQueues {
    private struct Queue {
        let duration: Duration
        var connections = ConnectionQueue(.deadline)
    }

    private var queues: [Queue]
    private(set) var count = 0
    /// How often to sweep: a quarter of the shortest deadline, from 5 ms to 1 s.
    let sweepInterval: Duration

    init(_ deadlines: ServerConfiguration.Deadlines) {
        let durations = Stage.allCases.map { $0.duration(in: deadlines) }
        queues = durations.map { Queue(duration: $0) }
        let shortest = durations.min() ?? .seconds(1)
        sweepInterval = min(max(shortest / 4, .milliseconds(5)), .seconds(1))
    }

    /// Puts a connection at the end of a stage's queue, taking it out of the one where it is.
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

    /// The connection of a stage whose deadline has passed, if there is one.
    func expired(in stage: Stage, at now: MonotonicTime) -> Connection? {
        guard let first = first(in: stage), first.deadline <= now else { return nil }
        return first
    }

    /// All connections.
    func all() -> [Connection] { queues.flatMap { $0.connections.all() } }
}
