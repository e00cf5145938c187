import EventLoop
import Foundation
import HTTPClient
import HTTPTypes
import Languages
import Logging
import OpenIDConnect
import SessionStore
import StoreTesting
import Synchronization
import TestSupport

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages
@testable import CompanionSignIn
@testable import TenantDirectory
@testable import TenantServer

/// A companion and its demo tenant on free ports, with one clock that the test moves, and all that was logged.
final class Site: Sendable {
    private let scratch: ScratchFolder
    let folder: URL
    private let ports: HeldPorts
    let port: Int
    let tenantPort: Int
    let clock: TestClock
    let log = LogLines()
    /// All that was said between the tenant and everybody else.
    let traffic = TenantTraffic()
    let client: HTTPClient
    let workers: WorkerGroup
    private let tenant: DemoTenant
    let configuration: CompanionConfiguration
    private let server: Mutex<CompanionServer>
    /// A second companion, while there is one.
    private let second = Mutex<CompanionServer?>(nil)
    private let contents: MemoryContents?
    private let isCompressed: Bool

    var origin: String { "http://localhost:\(port)" }
    /// The companion's memory about sessions.
    var memory: SessionMemory { server.withLock { $0 }.memory }
    /// Whether several companions could share the sessions. Then the pauses of accounts are on a clock that no test moves.
    var isClustered: Bool { contents != nil || configuration.database.isClustered }
    var database: String { folder.appendingPathComponent("companion.sqlite").path }

    /// The repository.
    static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized
    static let secret = "the-client-secret-of-the-test"
    /// The real pages.
    static let publicFolder = root.appendingPathComponent("Public").path

    /// Runs a test against a site of its own.
    static func run(compressed isCompressed: Bool = false, _ test: (Site) async throws -> Void) async throws {
        try await run(compressed: isCompressed, configured: { _ in }, test)
    }

    /// Runs a test against a site of its own that is configured otherwise.
    ///
    /// - Parameters:
    ///   - prefix: the public URL's path.
    ///   - contents: where the sessions are; nil for a database.
    ///   - isCompressed: whether pages and assets are sent compressed, which takes a processor seconds.
    ///   - earlier: the data of an earlier version, whose time it is and whose people the tenant knows.
    ///   - furnish: the changes of the configuration for which the tenant has to be known.
    static func run(
        below prefix: String = "", keeping contents: MemoryContents? = nil, compressed isCompressed: Bool = false,
        upgrading earlier: EarlierData? = nil,
        registered register: (inout DemoClient) -> Void = { _ in },
        furnished furnish: (DemoTenant, inout CompanionConfiguration) throws -> Void = { _, _ in },
        configured configure: (inout CompanionConfiguration) throws -> Void, _ test: (Site) async throws -> Void
    ) async throws {
        let site = try await Site(below: prefix, contents, isCompressed, earlier, register, furnish, configure)
        do {
            try await test(site)
        } catch {
            await site.close()
            throw error
        }
        await site.close()
    }

    /// The public folder with its languages, read once, and nothing that compresses it.
    private static let uncompressed = Result {
        var content = CompanionServer.PublicContent()
        content.files = try Pages.files(in: publicFolder)
        content.languages = try Languages(publicFolder: publicFolder, cookieName: "")
        content.compression.stop()
        return content
    }

    /// The demo tenants' signing keys: they take a moment to make.
    private static let keys = Result { try DemoSigningKey.first() }

    /// The demo tenants' texts and Graph's permissions, read once.
    private static let tenantContent = Result { try TenantContent(publicFolder: publicFolder) }

    private init(
        below prefix: String, _ contents: MemoryContents?, _ isCompressed: Bool, _ earlier: EarlierData?,
        _ register: (inout DemoClient) -> Void, _ furnish: (DemoTenant, inout CompanionConfiguration) throws -> Void,
        _ configure: (inout CompanionConfiguration) throws -> Void
    ) async throws {
        self.contents = contents
        self.isCompressed = isCompressed
        scratch = try ScratchFolder()
        folder = scratch.url
        clock = TestClock()
        if let earlier { clock.advance(earlier.madeAt.timeIntervalSinceNow) }
        workers = try WorkerGroup(count: 2)
        client = HTTPClient(workers: workers)
        ports = try HeldPorts()
        let port = ports.first
        self.port = port
        let logger = log.logger
        var client = DemoClient(
            id: "11111111-2222-4333-8444-555555555555", name: "Test", secret: Self.secret,
            web: ["callback", "signed-out"].map { "http://localhost:\(port)\(prefix)/auth/\($0)" })
        client.optionalClaims = DemoClient.OptionalClaims(idToken: ["auth_time", "login_hint", "sid"])
        register(&client)
        var tenantConfiguration = DemoTenantConfiguration(
            clients: [client], publicFolder: Site.publicFolder, now: clock.now)
        tenantConfiguration.makeSigningKeys = Site.keys.get
        tenantConfiguration.content = try Site.tenantContent.get()
        tenantConfiguration.onExchange = traffic.note
        tenantConfiguration.stateFile = try earlier?.copyOfTenant(in: folder)
        let tenant = try DemoTenant(configuration: tenantConfiguration, workers: workers, logger: logger)
        self.tenant = tenant
        tenantPort = try await tenant.start()
        let registration = ClientRegistration(
            clientID: client.id, redirectURI: "http://localhost:\(port)\(prefix)/auth/callback",
            scopes: ["user.read"], clientCapabilities: ["cp1"])
        let credential = ClientCredential.fixed(.secret(Self.secret))
        var configuration = CompanionConfiguration(
            port: port,
            applications: try [("ios", Application.Page.ios), ("macos", .macos)].map { id, page in
                Application(
                    id: id, page: page, title: "\(id) tutorial", authority: try Authority(tenant.authority),
                    registration: registration, credential: credential, api: Endpoint(tenant.graphURL))
            } + Site.otherKinds(tenant, registration, credential))
        configuration.database = .file(folder.appendingPathComponent("companion.sqlite").path)
        configuration.encryptionKey = .file(folder.appendingPathComponent("companion.key").path)
        configuration.publicURL = try PublicURL("http://localhost:\(port)\(prefix)")
        configuration.publicFolder = Site.publicFolder
        // No refresh of a test is late because the machine is slow, unless the test wants it.
        configuration.refreshTimes.whileValid = .seconds(10)
        try furnish(tenant, &configuration)
        try configure(&configuration)
        self.configuration = configuration
        let server = try Self.server(configuration, workers, logger, clock, contents, isCompressed)
        self.server = Mutex(server)
        _ = try await server.start()
    }

    /// One application for each other kind of identity platform, and one of a single tenant.
    private static func otherKinds(
        _ tenant: DemoTenant, _ graph: ClientRegistration, _ credential: ClientCredential
    ) throws -> [Application] {
        func registration(_ scopes: [String]) -> ClientRegistration {
            ClientRegistration(
                clientID: graph.clientID, redirectURI: graph.redirectURI,
                scopes: scopes)
        }
        let b2c = try Authority(tenant.b2cAuthority, kind: .b2c)
        return [
            Application(
                id: "contoso", page: .macos, title: "One tenant",
                authority: try Authority(tenant.authority).withTenant("contoso.example"), registration: graph,
                credential: credential,
                api: Endpoint(tenant.graphURL)),
            Application(
                id: "external", page: .external, title: "External",
                authority: try Authority(tenant.externalAuthority, kind: .external),
                registration: registration(tenant.externalScopes), credential: credential,
                api: Endpoint(tenant.externalAPI)),
            Application(
                id: "b2c", page: .b2c, title: "B2C", authority: b2c,
                userFlows: [
                    .editProfile: try b2c.withPolicy(tenant.b2cEditProfilePolicy),
                    .resetPassword: try b2c.withPolicy(tenant.b2cResetPasswordPolicy),
                ],
                registration: registration(tenant.b2cScopes), credential: credential, api: Endpoint(tenant.b2cAPI)),
            Application(
                id: "provider", page: .external, title: "Any provider",
                authority: try Authority(tenant.organizationIssuer.replacing("/v2.0", with: "") + "/v2.0", kind: .oidc),
                registration: registration(["email"]), credential: credential, api: nil, prompt: nil),
        ]
    }

    /// Stops the companion and starts it again on the same files; the tenant keeps running.
    ///
    /// - Parameters:
    ///   - change: what the operator has configured otherwise meanwhile.
    ///   - grace: how long the companion waits for what is under way.
    func restart(
        configured change: (inout CompanionConfiguration) throws -> Void = { _ in }, grace: Duration = .seconds(1)
    ) async throws {
        var configuration = configuration
        try change(&configuration)
        await server.withLock { $0 }.stop(grace: grace)
        let new = try Self.server(configuration, workers, log.logger, clock, contents, isCompressed)
        _ = try await new.start()
        server.withLock { $0 = new }
    }

    /// Starts a second companion on the same contents and the same registration, for as long as the test runs.
    ///
    /// - Parameter test: gets where it is.
    func beside(_ test: (String) async throws -> Void) async throws {
        var configuration = configuration
        let ports = try HeldPorts()
        configuration.port = ports.first
        let server = try Self.server(configuration, workers, log.logger, clock, contents, isCompressed)
        let port = try await server.start()
        second.withLock { $0 = server }
        defer { second.withLock { $0 = nil } }
        do {
            try await test("http://localhost:\(port)")
        } catch {
            await server.stop(grace: .seconds(1))
            throw error
        }
        await server.stop(grace: .seconds(1))
    }

    /// Stops the companion while a test looks, and starts it again. It drains until the test has looked, if it is
    /// configured to drain for long.
    func stop(during test: () async throws -> Void) async throws {
        let old = server.withLock { $0 }
        let stopping = Task { await old.stop(grace: .seconds(1)) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await test())
        } catch {
            result = .failure(error)
        }
        // Ends the wait, and nothing else of the stop.
        stopping.cancel()
        await stopping.value
        try result.get()
        // Nobody looks when this one stops.
        var configuration = configuration
        configuration.drain = .zero
        let new = try Self.server(configuration, workers, log.logger, clock, contents, isCompressed)
        _ = try await new.start()
        server.withLock { $0 = new }
    }

    private static func server(
        _ configuration: CompanionConfiguration, _ workers: WorkerGroup, _ logger: Logger, _ clock: TestClock,
        _ contents: MemoryContents?, _ isCompressed: Bool
    ) throws -> CompanionServer {
        let isUsual = !isCompressed && configuration.publicFolder == publicFolder
        let content = isUsual ? try uncompressed.get() : CompanionServer.PublicContent()
        guard let contents else {
            return try CompanionServer(
                configuration: configuration, workers: workers, logger: logger, clocks: clock.clocks, content: content)
        }
        return try CompanionServer(
            configuration: configuration, workers: workers, logger: logger, clocks: clock.clocks,
            randomBytes: SessionStore.secureRandomBytes, content: content
        ) { onOperation, onRotation, onConcern in
            guard case .file(let path) = configuration.encryptionKey else { throw TestFailure("a key in a file") }
            let ring = try KeyRing.load(orCreateAt: path)
            var own = SessionStore.Configuration(configuration)
            own.onRotation = onRotation
            own.onConcern = onConcern
            return SessionStore(
                backend: try MemoryStore(contents, keyRing: ring, onOperation: onOperation), configuration: own,
                keyRing: ring, clocks: clock.clocks)
        }
    }

    /// Waits until no refresh is under way, and all that refreshes brought is stored.
    func untilSettled() async throws {
        for server in [server.withLock { $0 }, second.withLock { $0 }].compactMap({ $0 }) {
            let isSettled = await eventually { server.tokens.unsaved.open.isEmpty }
            if !isSettled { throw TestFailure("what a refresh brought is not stored") }
        }
    }

    /// Ends the identity provider and Graph.
    func stopTenant() async {
        await tenant.stop()
    }

    private func close() async {
        await server.withLock { $0 }.stop(grace: .seconds(1))
        await tenant.stop()
        await client.shutdown()
        await workers.shutdown()
        scratch.remove()
    }

    /// A setting of the demo tenant's control page.
    func control(_ settings: String) async throws {
        var request = HTTPRequest(method: .post, scheme: "http", authority: "localhost:\(tenantPort)", path: "/control")
        request.headerFields[.contentType] = "application/json"
        let answer = try await client.send(request, body: Array(settings.utf8))
        guard answer.head.status.kind == .successful else {
            throw TestFailure("control: \(answer.head.status) \(String(decoding: answer.body, as: UTF8.self))")
        }
    }

    /// Holds the answers of an endpoint of the tenant until `letGo`.
    func hold(_ endpoint: String = "token") async throws {
        try await control(#"{"hold":"\#(endpoint)"}"#)
    }

    func letGo() async throws {
        try await control(#"{"hold":null}"#)
    }

    /// Waits until the tenant holds this many requests.
    func untilHeld(_ number: Int = 1, at endpoint: String = "token") async throws {
        let isHeld = await eventually { (try? await state()["held"] as? [String: Int])?[endpoint] == number }
        if !isHeld { throw TestFailure("the tenant does not hold \(number) requests of \(endpoint)") }
    }

    /// The number of requests of a kind that the tenant had.
    func count(_ name: String) async throws -> Int {
        guard let count = try await counts()[name] else { throw TestFailure("no count \(name)") }
        return count
    }

    /// All that the tenant counts.
    func counts() async throws -> [String: Int] { try await state()["counts"] as? [String: Int] ?? [:] }

    /// The state of the tenant's control.
    private func state() async throws -> [String: Any] {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "localhost:\(tenantPort)", path: "/control")
        request.headerFields[.accept] = "application/json"
        let answer = try await client.send(request)
        return try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any] ?? [:]
    }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A clock that starts at the real time, since curl and the kernel know no other, and stands still: time passes only where
/// a test advances it, however slow the machine is.
final class TestClock: Sendable {
    private let offset = Mutex<TimeInterval>(0)
    private let error = Mutex<TimeInterval>(0)
    private let begun = Mutex<Date?>(Date())
    /// The current time.
    var now: @Sendable () -> Date {
        { (self.begun.withLock { $0 } ?? Date()).addingTimeInterval(self.offset.withLock { $0 }) }
    }
    /// From now on it goes with the real time, which others have: the kernel, a database, another process.
    func run() { begun.withLock { $0 = nil } }
    func advance(_ seconds: TimeInterval) { offset.withLock { $0 += seconds } }
    /// Sets the companion's clock ahead of the true time, in seconds.
    func setWrong(by seconds: TimeInterval) { error.withLock { $0 = seconds } }
    /// The companion's clocks, and that of a database, which is right.
    var clocks: Clocks {
        var clocks = Clocks(wall: { self.now().addingTimeInterval(self.error.withLock { $0 }) }, steady: now)
        clocks.place = now
        return clocks
    }
}

/// Everything that was logged, at trace level or at the level that a test sets.
final class LogLines: Sendable {
    /// The level of loggers that are made from now on.
    let level = Mutex(Logger.Level.trace)
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(lines: self) }
        logger.logLevel = level.withLock { $0 }
        return logger
    }

    fileprivate func append(_ line: String) { lines.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var logLevel: Logger.Level = .trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.append("\(event.level) \(event.message) \(metadata.merging(event.metadata ?? [:]) { $1 })")
        }
    }
}

/// A folder that is gone with its site, and with the last reference where a site cannot be set up. A task that has not
/// ended when the tests do holds a reference.
private final class ScratchFolder: Sendable {
    let url = TemporaryFolder.ofProcess.appendingPathComponent("companion-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { remove() }

    func remove() { TemporaryFolder.remove(url) }
}
