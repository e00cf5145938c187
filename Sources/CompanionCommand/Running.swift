import ArgumentParser
import Companion
import CompanionCore
import DemoTenant
import Dispatch
import EventLoop
import Foundation
import Logging

/// Runs a server from start to stop.
enum Running {
    /// Serves a configuration until SIGTERM or SIGINT.
    static func serve(_ configuration: CompanionConfiguration) async throws {
        let logger = bootstrapLog(configuration)
        let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
        let workers = try WorkerGroup()
        let server = try makeServer(configuration, workers: workers, logger: logger)
        let stop = StopSignals()
        let port = try await start {
            try await server.start(inheriting: manager.sockets, redirecting: manager.redirectSockets)
        }
        say("Companion is at \(configuration.publicURL.address) (listening on \(configuration.host):\(port)).")
        await serve(server, of: configuration, under: manager, on: workers, until: stop)
        await workers.shutdown()
    }

    /// Serves the demo: the demo tenant on the next port, and a companion registered there.
    static func demo(options: [String: String], environment: [String: String]) async throws {
        var configuration = try ConfigurationPath.read(
            nil, options: options, environment: environment, needsApplications: false)
        configuration.host = options["host"] ?? configuration.demoHost ?? configuration.host
        let logger = bootstrapLog(configuration)
        let manager = ServiceManager(environment: environment)
        let workers = try WorkerGroup()
        // The secret stays within this process unless the configuration sets it.
        let secret = configuration.demoClientSecret ?? UUID().uuidString
        var client = DemoClient(
            id: DemoApplications.clientID, name: "Companion demo", secret: secret,
            web: [configuration.publicURL.redirectURI, configuration.publicURL.postLogoutRedirectURI])
        client.frontChannelLogoutURI = configuration.publicURL.frontChannelLogoutURI
        client.homeURL = configuration.publicURL.address + "/"
        var tenantConfiguration = DemoTenantConfiguration(
            port: configuration.port + 1, clients: [client], publicFolder: configuration.publicFolder,
            stateFile: configuration.database.localPath + ".demo-tenant.json")
        tenantConfiguration.listenHost = configuration.demoHost
        tenantConfiguration.isAtKiosk = configuration.deviceMode == .shared
        let tenant = try DemoTenant(configuration: tenantConfiguration, workers: workers, logger: logger)
        _ = try await start { try await tenant.start() }
        let applications = try DemoApplications.all(
            tenant: tenant, secret: secret, redirectURI: configuration.publicURL.redirectURI,
            isShared: configuration.deviceMode == .shared)
        do {
            try configuration.serve(applications)
        } catch {
            throw failure(error)
        }
        configuration.demoControlURL = tenant.baseURL + "/control"
        let server = try makeServer(configuration, workers: workers, logger: logger)
        let stop = StopSignals()
        _ = try await start {
            try await server.start(inheriting: manager.sockets, redirecting: manager.redirectSockets)
        }
        say(
            """

              Companion, the demo: \(configuration.publicURL.address)

              1. Open that address and choose “iOS tutorial” or “macOS tutorial”.
              2. Press “Call Microsoft Graph API” and sign in as adele@contoso.example, password: demo
              3. Cause failures on demand at \(tenant.baseURL)/control
              4. For the kiosk, \(configuration.deviceMode == .shared ? "" : "start it with COMPANION_DEVICE_MODE=shared and ")open /kiosk

              Nothing leaves this machine.\(configuration.demoHost.map(reach) ?? "") To use a tenant of your own, see “Connect a real tenant” in the README.

            """)
        await serve(server, of: configuration, under: manager, on: workers, until: stop)
        await tenant.stop()
        await workers.shutdown()
    }

    /// Returns a warning for a demo that other machines can reach.
    private static func reach(_ host: String) -> String {
        " It listens on \(host): anyone who reaches its ports can use it."
    }

    /// Reports that the server is ready, waits for a stop signal and stops the server.
    private static func serve(
        _ server: CompanionServer, of configuration: CompanionConfiguration, under manager: ServiceManager,
        on workers: WorkerGroup, until stop: StopSignals
    ) async {
        manager.ready("Serving \(configuration.publicURL.address)")
        let watchdog = Task { await manager.keepAlive(workers) }
        await stop.wait()
        manager.stopping()
        await server.stop(idleGrace: manager.idleGrace)
        watchdog.cancel()
        await watchdog.value
    }

    /// Returns the server.
    ///
    /// - Throws: exit status 1, after printing why the server cannot start.
    private static func makeServer(
        _ configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger
    ) throws -> CompanionServer {
        do {
            return try CompanionServer(configuration: configuration, workers: workers, logger: logger)
        } catch {
            throw failure(error)
        }
    }

    private static func start(_ start: () async throws -> Int) async throws -> Int {
        do {
            return try await start()
        } catch {
            throw failure(error)
        }
    }

    /// Writes without buffering, even if standard output is a file or the journal.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private static func failure(_ error: any Error) -> ExitCode {
        FileHandle.standardError.write(Data("companion cannot start: \(error)\n".utf8))
        return ExitCode(1)
    }

    private static func bootstrapLog(_ configuration: CompanionConfiguration) -> Logger {
        let level = Logger.Level(rawValue: configuration.logLevel) ?? .info
        let format = configuration.logFormat
        LoggingSystem.bootstrap { label in LineLogHandler(logLevel: level, label: label, format: format) }
        return Logger(label: "companion")
    }
}

/// Catches SIGTERM and SIGINT from its creation on. It is created before the server announces that it runs. An earlier
/// signal ends the process with the usual status of a killed process.
private struct StopSignals {
    private let signals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        self.signals = signals
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns at the first signal.
    func wait() async {
        for await _ in signals { break }
        sources.forEach { $0.cancel() }
    }
}
