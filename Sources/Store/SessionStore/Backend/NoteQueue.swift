import Synchronization

/// Notes on their way to a clustered database. A note is written at once if none was written a moment ago. Otherwise
/// notes are collected and written together, so that a busy server writes a few times a second and not once for each
/// note.
final class NoteQueue: Sendable {
    private struct State {
        var waiting: [SessionNoteRow] = []
        var lastID: Int64 = 0
        var isScheduled = false
        var lastWrite: ContinuousClock.Instant?
        /// The latest write that was started.
        var write: Task<Void, Never>?
    }

    /// The time between two writes that no caller waits for.
    private static let interval: Duration = .milliseconds(50)
    /// The most notes that wait for a slow or unavailable database. Beyond this the oldest ones are dropped.
    private static let maxWaiting = 5_000
    private static let batch = 500

    private let state = Mutex(State())
    private let backend: any ClusteredStoreBackend

    init(_ backend: any ClusteredStoreBackend) {
        self.backend = backend
    }

    /// Returns an id for a note that is made now, in milliseconds since 1970.
    func id(now: Int64) -> Int64 {
        state.withLock { state in
            state.lastID = max(SessionNoteRow.id(at: now) + Int64.random(in: 0..<(1 << 20)), state.lastID + 1)
            return state.lastID
        }
    }

    /// Adds a note and returns at once.
    func add(_ row: SessionNoteRow) {
        let wait = state.withLock { state -> Duration? in
            if state.waiting.count >= Self.maxWaiting { state.waiting.removeFirst(Self.batch) }
            state.waiting.append(row)
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return state.lastWrite.map { max(.zero, Self.interval - $0.duration(to: .now)) } ?? .zero
        }
        guard let wait else { return }
        Task.detached { [self] in
            if wait > .zero { try? await Task.sleep(for: wait) }
            await settle()
        }
    }

    /// Writes the waiting notes and returns when they are stored. Notes that cannot be stored are lost.
    func settle() async {
        let write = state.withLock { state in
            let (rows, before, backend) = (state.waiting, state.write, backend)
            state.waiting = []
            state.isScheduled = false
            state.lastWrite = .now
            guard !rows.isEmpty else { return before }
            let write = Task.detached {
                await before?.value
                for start in stride(from: 0, to: rows.count, by: Self.batch) {
                    try? await backend.add(Array(rows[start..<min(start + Self.batch, rows.count)]))
                }
            }
            state.write = write
            return write
        }
        await write?.value
    }
}
