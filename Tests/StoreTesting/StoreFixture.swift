import EventLoop
package import Foundation
package import GRDB
package import PostgresStore
import SQLiteStore
public import SessionStore
import Synchronization
import TestSupport

/// A clock that stands still until a test moves it.
package final class StoreClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    private let error = Mutex(0.0)
    package init() {}
    /// The current time.
    package var now: Date { time.withLock { $0 } }
    package func advance(by duration: Duration) {
        time.withLock { $0 += duration / .seconds(1) }
    }
    /// Sets the error of the machine's clock: it is ahead by `duration`.
    package func setWrong(by duration: Duration) {
        error.withLock { $0 = duration / .seconds(1) }
    }
    /// The machine's clocks, and the clock of a database, which is right.
    package var clocks: Clocks {
        var clocks = Clocks(wall: { self.now + self.error.withLock { $0 } }, steady: { self.now })
        clocks.place = { self.now }
        return clocks
    }
}

/// A backend that the tests run with.
package enum TestedBackend: String, Sendable, CaseIterable {
    case sqlite, memory
    /// PostgreSQL on its Unix socket, over TLS, and through PgBouncer in transaction mode.
    case postgres, encryptedPostgres, pooledPostgres

    /// The backends and ways to them that are installed, limited to those in `STORE_BACKENDS`: PostgreSQL may be missing.
    private static let everyWay: [TestedBackend] = {
        let here =
            immediate + (PostgresServer.isInstalled ? [.postgres, .encryptedPostgres] : [])
            + (PgBouncer.isInstalled ? [.pooledPostgres] : [])
        guard let names = ProcessInfo.processInfo.environment["STORE_BACKENDS"]?.split(separator: ",") else {
            return here
        }
        return here.filter { names.contains(Substring($0.rawValue)) }
    }()
    /// All but TLS, which changes no statement: tests of several servers (``clustered``) go that way, too.
    package static let allCases = everyWay.filter { $0 != .encryptedPostgres }
    /// One of each kind, for tests of many rows: the ways to PostgreSQL differ in nothing that they show.
    package static var kinds: [TestedBackend] {
        allCases.filter { $0 != .pooledPostgres }
    }
    /// The backends that several servers can use at once.
    package static var clustered: [TestedBackend] { everyWay.filter { $0 != .sqlite } }
    /// The backends in PostgreSQL.
    package static var remote: [TestedBackend] { everyWay.filter { !immediate.contains($0) } }
    /// The backends that are read on the calling thread.
    package static let immediate: [TestedBackend] = [.sqlite, .memory]
    /// The backends whose change mark shows changes by others.
    package static let marked: [TestedBackend] = [.sqlite, .memory]
}

/// A temporary folder with a real key file, and a database, or contents in memory. The last reference removes them.
package final class StoreFixture: Sendable {
    package let backend: TestedBackend
    package let folder: String
    package let clock = StoreClock()
    package let contents = MemoryContents()
    private let writeCount = Mutex(0)
    package var path: String { folder + "/companion.sqlite" }
    package var keyPath: String { folder + "/companion.key" }
    /// The settings of PostgreSQL, if the store uses it.
    package let postgres: PostgresSettings?
    /// The workers of all stores of the process.
    private static let workers = Result { try WorkerGroup(count: 2) }
    /// The name of the store in messages.
    package var name: String { postgres?.description ?? (backend == .sqlite ? path : "memory") }
    /// The number of writes that the stores have done.
    package var writes: Int { writeCount.withLock { $0 } }

    package init(_ backend: TestedBackend = .sqlite) throws {
        self.backend = backend
        folder = TemporaryFolder.ofProcess.path + "/companion-store-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        postgres = try Self.newPlace(backend)
    }

    private static func newPlace(_ backend: TestedBackend) throws -> PostgresSettings? {
        guard backend != .sqlite, backend != .memory else { return nil }
        let server = try PostgresServer.shared.get()
        let role = try server.makeRole()
        return switch backend {
        case .encryptedPostgres: try server.encryptedSettings(user: role)
        case .pooledPostgres: try PgBouncer.shared.get().settings(user: role)
        default: try server.settings(user: role)
        }
    }

    deinit {
        TemporaryFolder.remove(URL(fileURLWithPath: folder))
        if let role = postgres?.user { try? PostgresServer.shared.get().dropRole(role) }
    }

    /// Opens a store, without background work unless a test needs it: tests call its steps themselves. It is closed with
    /// the test.
    ///
    /// - Parameter hasStoppedClock: whether reads on the calling thread never count as slow, however busy the machine
    ///   is.
    package func open(
        idle: Duration = .seconds(3600), maxAge: Duration = .seconds(12 * 3600), cacheBytes: Int = 16 << 20,
        keyRing: KeyRing? = nil, freeBytes: Int = 0, trust: Duration? = nil, isServer: Bool = false,
        backgroundWork: Bool = false, hasStoppedClock: Bool = false, clocks: Clocks? = nil,
        onOperation: (@Sendable (StoreOperation) -> Void)? = nil,
        onConcern: (@Sendable (StoreConcern, _ isOver: Bool) -> Void)? = nil
    ) throws -> SessionStore {
        guard let openStores = ClosingStores.opened else { throw UnexpectedOutcome(name: "no .closesStores") }
        let clock = clock
        let opened = ContinuousClock.now
        let now: @Sendable () -> ContinuousClock.Instant = { hasStoppedClock ? opened : .now }
        var configuration = SessionStore.Configuration(idle: idle, maxAge: maxAge, cacheBytes: cacheBytes)
        configuration.freeBytes = freeBytes
        configuration.onConcern = onConcern
        let ring = try keyRing ?? .load(orCreateAt: keyPath)
        let note: @Sendable (StoreOperation) -> Void = { [weak self] operation in
            if operation.kind == .write { self?.writeCount.withLock { $0 += 1 } }
            onOperation?(operation)
        }
        let place: any StoreBackend =
            switch backend {
            case .sqlite:
                try SQLiteStore(path: path, keyRing: ring, isServer: isServer, now: now, onOperation: note)
            case .memory: try MemoryStore(contents, keyRing: ring, trust: trust, onOperation: note)
            case .postgres, .encryptedPostgres, .pooledPostgres:
                try postgresStore(keyRing: ring, trust: trust, onOperation: note)
            }
        let store = SessionStore(
            backend: place, configuration: configuration, keyRing: ring, clocks: clocks ?? clock.clocks,
            backgroundWork: backgroundWork)
        openStores.add(store, in: self)
        return store
    }

    /// Returns the backend itself, to move sessions from it or to it.
    package func movable() throws -> any MovableBackend {
        let ring = try KeyRing.load(orCreateAt: keyPath)
        if postgres != nil { return try postgresStore(keyRing: ring, trust: nil) { _ in } }
        return try SQLiteStore(path: path, keyRing: ring)
    }

    /// Restores the data of an earlier version, before anything is opened.
    ///
    /// - Parameters:
    ///   - folder: the folder with a copy of the database and its key.
    ///   - rename: the provider's host and port in the data, and their replacement.
    package func restore(from folder: URL, renaming rename: (from: String, to: String)) throws {
        try FileManager.default.copyItem(atPath: folder.path + "/companion.key", toPath: keyPath)
        // A checkout has the default permissions.
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyPath)
        guard let postgres else {
            try FileManager.default.copyItem(atPath: folder.path + "/companion.sqlite", toPath: path)
            return try outsider().write { db in
                try db.execute(
                    sql: "UPDATE account SET issuer = replace(issuer, ?, ?)", arguments: [rename.from, rename.to])
            }
        }
        let connection = try BlockingConnection(postgres)
        let dump = try String(contentsOfFile: folder.path + "/companion.sql", encoding: .utf8)
        for statement in dump.replacing(rename.from, with: rename.to).split(separator: ";\n") {
            try connection.query(String(statement))
        }
    }

    /// Makes the backend refuse or accept writes.
    package func refuseWrites(_ isRefused: Bool) throws {
        guard let role = postgres?.user else { return contents.refuseWrites(isRefused) }
        try PostgresServer.shared.get().refuseWrites(isRefused, of: role)
    }

    /// Makes the database appear to belong to a newer version, which this one cannot use, or to this version again.
    package func refuseVersion(_ isRefused: Bool) throws {
        guard let postgres else {
            return contents.refuseVersion(isRefused ? .newerSchema("memory is a newer version's") : nil)
        }
        try BlockingConnection(postgres).query(
            isRefused
                ? "UPDATE companion_schema SET version = version + 90, serves = serves + 90"
                : "UPDATE companion_schema SET version = version - 90, serves = serves - 90")
    }

    private func postgresStore(
        keyRing: KeyRing, trust: Duration?, onOperation: @escaping @Sendable (StoreOperation) -> Void
    ) throws -> PostgresStore {
        guard var settings = postgres else { throw UnexpectedOutcome(name: "no PostgreSQL") }
        // Like the other backends, it trusts what was read until a test says otherwise.
        settings.staleness = trust ?? .seconds(86_400)
        return try PostgresStore(
            settings, keyRing: keyRing, workers: Self.workers.get(), followsOutage: false, onOperation: onOperation)
    }

    /// Returns the numbers in a row from PostgreSQL.
    private func numbers(_ sql: String) throws -> [Int] {
        guard let postgres, let row = try BlockingConnection(postgres).query(sql).first else { return [] }
        return try (0..<row.count).map { Int(try row.integer($0)) }
    }

    /// Returns the number of rows in a table.
    package func count(_ table: String) async throws -> Int? {
        if postgres != nil {
            // PostgreSQL stores secrets in the rows of the accounts.
            return try numbers("SELECT COUNT(*) FROM \(table == "account_secret" ? "account" : table)").first
        }
        guard backend == .sqlite else { return contents.count(table) }
        return try await outsider().read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table)") }
    }

    /// Returns the number of sign-ins by newcomers.
    package func newcomers() async throws -> Int? {
        if postgres != nil { return try numbers("SELECT COUNT(*) FROM sign_in_attempt WHERE weight > 0").first }
        guard backend == .sqlite else { return contents.newcomers }
        return try await outsider().read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sign_in_attempt WHERE is_newcomers = 1")
        }
    }

    /// Moves the time of the last key rotation into the past.
    package func setKeyFileBack(by duration: Duration = .seconds(3600)) throws {
        let time = timespec(tv_sec: Int(clock.now.timeIntervalSince1970) - Int(duration.components.seconds), tv_nsec: 0)
        guard utimensat(AT_FDCWD, keyPath, [time, time], 0) == 0 else {
            throw UnexpectedOutcome(name: "the file's time")
        }
    }

    /// Returns the existing files, without the database's log and its index, which stay when the database is closed.
    package func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { !$0.hasPrefix("companion.sqlite-") }
    }

    /// Opens a connection of "another process": SQLite treats connections in the same way in one process and in
    /// several.
    package func outsider() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}

extension NewSignInAttempt {
    package static func sample(state: String, app: String = "ios", returnTo: String = "/ios") -> NewSignInAttempt {
        NewSignInAttempt(
            app: app, state: state, nonce: "nonce-of-\(state)", codeVerifier: "verifier-of-\(state)",
            returnTo: returnTo,
            prompt: "select_account", requestedScopes: ["openid", "User.Read"],
            payload: Array("policy of \(state)".utf8))
    }
}

extension NewAccount {
    package static func sample(_ user: String, sid: String? = nil) -> NewAccount {
        NewAccount(
            id: "\(user).tenant",
            identity: AccountIdentity(
                username: "\(user)@contoso.example", name: user.capitalized, tenantID: "tenant",
                environment: "localhost", objectID: user, issuer: "https://issuer.example/v2.0",
                subject: "sub-\(user)", sid: sid),
            idTokenClaims: #"{"nonce":"claim-of-\#(user)"}"#)
    }
}

extension NewTokens {
    package static func sample(
        _ label: String, at clock: StoreClock, scopes: ScopeSet = ["User.Read"], granted: ScopeSet? = nil,
        seconds: Double = 3600
    ) -> NewTokens {
        NewTokens(
            accessToken: "access-\(label)", requestedScopes: scopes, grantedScopes: granted,
            expiresOn: clock.now + seconds, refreshOn: clock.now + seconds / 2, refreshToken: "refresh-\(label)")
    }
}

extension ScopeSet: ExpressibleByArrayLiteral {
    /// Creates a set from a list of scopes.
    public init(arrayLiteral elements: String...) { self.init(elements) }
}

extension SessionKey: ExpressibleByIntegerLiteral {
    /// Creates a key from a number.
    public init(integerLiteral value: Int64) { self.init(value) }
}

extension ConsumedAttempt {
    /// The case's name, which the tables of the tests compare.
    package var name: String {
        switch self {
        case .attempt: "attempt"
        case .replayed: "replayed"
        case .inProgress: "inProgress"
        case .failed: "failed"
        case .otherBrowser: "otherBrowser"
        case .expired: "expired"
        case .unknown: "unknown"
        case .completed: "completed"
        }
    }
}

extension ImmediateRead {
    package var found: Value? {
        if case .found(let value) = self { value } else { nil }
    }
    package var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }
    package var mustWait: Bool {
        if case .mustWait = self { true } else { false }
    }
}

package struct UnexpectedOutcome: Error {
    package let name: String
    package init(name: String) { self.name = name }
}

extension BegunSignIn {
    /// The mark of the browser that keeps the sign-in.
    package static let browser: [UInt8] = Array("browser".utf8)
}

extension SessionStore {
    /// Begins a sign-in, from the session of a cookie if that session exists.
    package func begin(_ state: String, app: String = "ios", cookie: SessionID? = nil) async throws -> BegunSignIn {
        var session: (key: SessionKey, id: SessionID)?
        if let cookie, let known = try await self.session(cookie) { session = (known.key, cookie) }
        let new = NewSignInAttempt.sample(state: state, app: app, returnTo: "/\(app)")
        let kept = try seal(new, in: session, for: BegunSignIn.browser)
        guard let begun = kept.flatMap({ open($0, state: state, for: BegunSignIn.browser) }) else {
            throw UnexpectedOutcome(name: "the attempt does not open")
        }
        return begun
    }

    /// Consumes the first callback of a sign-in.
    package func consume(_ begun: BegunSignIn, cookie: SessionID? = nil) async throws -> SignInAttempt {
        let outcome = try await consume(begun, code: "code", cookie: cookie)
        guard case .attempt(let attempt, _) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        return attempt
    }

    /// Does a whole sign-in.
    @discardableResult
    package func signIn(
        _ user: String, app: String = "ios", cookie: SessionID? = nil, state: String = UUID().uuidString,
        at clock: StoreClock, sid: String? = nil
    ) async throws -> SessionID {
        let attempt = try await consume(try await begin(state, app: app, cookie: cookie), cookie: cookie)
        return try await completeSignIn(attempt, account: .sample(user, sid: sid), tokens: .sample(user, at: clock))
    }

    /// Lets a newcomer's sign-in come back and fail.
    ///
    /// - Returns: the id of the session in which it failed.
    package func failNewcomer(_ state: String) async throws -> SessionID {
        let outcome = try await consume(try await begin(state), code: "code", cookie: nil)
        guard case .attempt(let attempt, let id?) = outcome else { throw UnexpectedOutcome(name: outcome.name) }
        try await failSignIn(attempt)
        return id
    }
}
