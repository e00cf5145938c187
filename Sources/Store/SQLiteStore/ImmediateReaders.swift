import Foundation
import GRDB
import GRDBSQLite
import SessionStore
import Synchronization

/// Connections for reads on the calling thread: read only, with prepared statements, each used by one thread at a time.
///
/// A thread is never blocked for long. SQLite's readers do not wait for writers, and these do not wait for each other
/// either. If all connections are in use, the file is busy or damaged, or the disk was slow a moment ago, the caller
/// must use the read that waits. A read sees the last commit, and no read transaction outlives its read.
final class ImmediateReaders: Sendable {
    private struct State {
        /// The idle connections, of which the last one is used first. Its pages are in the processor's cache, and it
        /// most likely belongs to the same worker.
        var idle: [ReadOnlyConnection] = []
        var count = 0
        var isOpen = true
        var slowUntil: ContinuousClock.Instant?
    }

    /// A read that takes longer than this shows that the disk is slow.
    static let patience: Duration = .milliseconds(5)
    /// The time after a slow read in which no thread reads here.
    static let pause: Duration = .seconds(1)

    private let path: String
    private let identity: FileIdentity?
    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// Creates readers for a file that is open for writing, and stays open until these are closed. Connections are
    /// opened when they are needed.
    ///
    /// - Parameter limit: the number of threads that may read at once.
    init(
        path: String, limit: Int = ProcessInfo.processInfo.activeProcessorCount + 2,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.path = path
        self.limit = limit
        self.now = now
        identity = FileIdentity(path)
    }

    /// Runs `body` on the calling thread.
    ///
    /// - Returns: the value, or `mustWait`, also if `body` throws: the caller that may wait finds the reason.
    func read<Value>(_ body: (SessionQueries) throws -> Value?) -> ImmediateRead<Value> {
        let start = now()
        guard let connection = take(start) else { return .mustWait }
        defer { put(back: connection, since: start) }
        do {
            return try body(connection.queries()).map { .found($0) } ?? .absent
        } catch {
            return .mustWait
        }
    }

    /// Closes the connections; a connection that is in use is closed after its read.
    func close() {
        state.withLock { state in
            state.isOpen = false
            state.idle = []
        }
    }

    private func take(_ now: ContinuousClock.Instant) -> ReadOnlyConnection? {
        let (connection, mayOpen) = state.withLock { state -> (ReadOnlyConnection?, Bool) in
            if let slowUntil = state.slowUntil {
                guard now >= slowUntil else { return (nil, false) }
                state.slowUntil = nil
            }
            if let connection = state.idle.popLast() { return (connection, false) }
            guard state.isOpen, state.count < limit else { return (nil, false) }
            state.count += 1
            return (nil, true)
        }
        guard mayOpen else { return connection }
        // The writer continues with the file that it has open; another file of the same name is another database.
        let opened = isSameFile ? try? ReadOnlyConnection(path) : nil
        if let opened, isSameFile { return opened }
        state.withLock { $0.count -= 1 }
        return nil
    }

    private func put(back connection: ReadOnlyConnection, since start: ContinuousClock.Instant) {
        let end = now()
        state.withLock { state in
            if start.duration(to: end) > Self.patience { state.slowUntil = end + Self.pause }
            if state.isOpen { state.idle.append(connection) }
        }
    }

    private var isSameFile: Bool { identity != nil && FileIdentity(path) == identity }
}

/// Unchecked, but safe to share: only the thread that has taken it from the list uses it.
private final class ReadOnlyConnection: @unchecked Sendable {
    private let handle: OpaquePointer
    private var statements: [OpaquePointer] = []
    private var prepared: SessionQueries?

    init(_ path: String) throws {
        var handle: OpaquePointer?
        let status = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard status == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw DatabaseError(resultCode: ResultCode(rawValue: status))
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        // Room for the inner pages of the trees of a million sessions. There is no busy timeout, because nothing waits
        // here.
        sqlite3_exec(handle, "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY", nil, nil, nil)
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    func queries() throws -> SessionQueries {
        if let prepared { return prepared }
        let queries = try SessionQueries { sql in try statement(sql) }
        prepared = queries
        return queries
    }

    private func statement(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
        statements.append(statement)
        return statement
    }
}
