// Measures the store alone, through its own API and on the event loop's workers, as the server uses it. Writes one line of
// JSON. The store is a file in the folder, or where the file “database” in it says (the address of a PostgreSQL database).
// Arguments: what to do, a folder of its own, and a number:
//   fill FOLDER SESSIONS          signs so many people in; the file “cookies” gets the value of each session's cookie
//   sign-in FOLDER SECONDS        whole sign-ins, 64 at a time
//   read FOLDER SECONDS TASKS     any of the sessions, none from the cache, so many at a time
//   prepared FOLDER SECONDS       the same rows by SQLite's own functions, one after the other
//   purge FOLDER TIMES            a purge of the sessions that are over, so often: when the first has deleted them, of none
import EventLoop
import Foundation
import PostgresStore
import SQLiteStore
import SessionStore
import Synchronization

@main
enum StoreBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let verb = arguments.first, let folder = arguments.dropFirst().first,
            let number = arguments.dropFirst(2).first.flatMap({ Int($0) })
        else { throw Failure("arguments: fill | sign-in | read | prepared | purge, a folder, a number") }
        let place = Place(folder: folder)
        switch verb {
        case "fill":
            try await place.withStore { try await fill(place, $0, sessions: number) }
        case "sign-in":
            try await place.withStore { try await signIn($0, for: .seconds(number)) }
        case "read":
            let tasks = arguments.dropFirst(3).first.flatMap { Int($0) } ?? 1
            try await place.withStore { try await read(place, $0, for: .seconds(number), tasks: tasks) }
        case "purge":
            try await place.withStore { try await purge($0, times: number) }
        case "prepared":
            try prepared(place, for: .seconds(number))
        default:
            throw Failure("there is no \(verb)")
        }
    }

    private static func fill(_ place: Place, _ store: SessionStore, sessions: Int) async throws {
        let cookies = Mutex<[String]>([])
        let measured = try await Measured.run(tasks: 256) { number in
            guard number < sessions else { return false }
            let cookie = try await Person(number).signIn(to: store).cookieValue
            cookies.withLock { $0.append(cookie) }
            return true
        }
        let lines = cookies.withLock { $0.joined(separator: "\n") + "\n" }
        try lines.write(toFile: place.cookies, atomically: true, encoding: .utf8)
        measured.report()
    }

    private static func signIn(_ store: SessionStore, for duration: Duration) async throws {
        let end = ContinuousClock.now + duration
        try await Measured.run(tasks: 64) { number in
            guard ContinuousClock.now < end else { return false }
            // A multiple of ten has one account.
            _ = try await Person(number * 10).signIn(to: store)
            return true
        }.report()
    }

    private static func read(_ place: Place, _ store: SessionStore, for duration: Duration, tasks: Int) async throws {
        let ids = try place.sessionIDs()
        let end = ContinuousClock.now + duration
        try await Measured.run(tasks: tasks) { number in
            guard ContinuousClock.now < end else { return false }
            guard try await store.session(ids[number % ids.count]) != nil else { throw Failure("a session is missing") }
            return true
        }.report()
    }

    private static func purge(_ store: SessionStore, times: Int) async throws {
        try await Measured.run(tasks: 1) { number in
            guard number < times else { return false }
            _ = try await store.purgeExpired()
            return true
        }.report()
    }

    private static func prepared(_ place: Place, for duration: Duration) throws {
        let ids = try place.sessionIDs()
        let rows = try PreparedRead(file: place.database)
        let end = ContinuousClock.now + duration
        let start = Measured.Moment()
        var count = 0
        while ContinuousClock.now < end {
            try rows.read(ids[count % ids.count])
            count += 1
        }
        Measured(count: count, since: start).report()
    }
}

/// The files of one filled store.
struct Place {
    let folder: String
    var database: String { folder + "/companion.sqlite" }
    var cookies: String { folder + "/cookies" }

    /// Opens the store, without a cache and without limits, and closes it whatever happens.
    func withStore(_ body: @Sendable (SessionStore) async throws -> Void) async throws {
        // The sessions of a store that was kept are never over.
        var configuration = SessionStore.Configuration(
            idle: .seconds(1e9), maxAge: .seconds(1e9), cacheBytes: 0)
        configuration.freeBytes = 0
        let store = try open(configuration, .load(orCreateAt: folder + "/companion.key"))
        try await closing(store.close) { try await body(store) }
    }

    private func open(_ configuration: SessionStore.Configuration, _ ring: KeyRing) throws -> SessionStore {
        guard let address = try? String(contentsOfFile: folder + "/database", encoding: .utf8) else {
            return try open(SQLiteStore(path: database, keyRing: ring), configuration, ring)
        }
        let settings = try PostgresSettings(address.trimmingCharacters(in: .whitespacesAndNewlines))
        return try open(PostgresStore(settings, keyRing: ring, workers: WorkerGroup()), configuration, ring)
    }

    private func open(
        _ backend: any StoreBackend, _ configuration: SessionStore.Configuration, _ ring: KeyRing
    ) -> SessionStore {
        SessionStore(backend: backend, configuration: configuration, keyRing: ring, clocks: Clocks())
    }

    /// The filled sessions, in random order.
    func sessionIDs() throws -> [SessionID] {
        let ids = try String(contentsOfFile: cookies, encoding: .utf8).split(separator: "\n")
            .compactMap { SessionID(cookieValue: String($0)) }
        guard !ids.isEmpty else { throw Failure("\(cookies) has no session") }
        return ids.shuffled()
    }
}

/// The reason why nothing could be measured.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
