package import CompanionCore
import CompanionPages
import CompanionSignIn
package import EventLoop
import Foundation
import HTTPClient
import HTTPServer
import Languages
package import Logging
package import SessionStore

/// This version, as in `companion --version` and the `User-Agent` field.
package let companionVersion = "0.2.0"

/// The whole server, built from a configuration, with one start and one stop.
package final class CompanionServer: Sendable {
    private let store: SessionStore
    private let client: HTTPClient
    private let server: HTTPServer
    private let monitoringServer: HTTPServer?
    private let redirectServer: HTTPServer?
    private let certificate: ServedCertificate?
    private let lag: EventLoopLag
    private let notifier: FindingNotifier?
    private let workers: WorkerGroup
    private let isShared: Bool
    private let drain: Duration
    private let monitoring: MonitoringReport
    private let pages: Pages
    private let compression = AssetCompression()
    let memory: SessionMemory
    let tokens: TokenAcquisition

    /// Opens the store and loads the pages, but serves nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: checked configuration.
    ///   - workers: the event loop's workers, which the caller owns.
    ///   - logger: the destination of log lines for requests and failures.
    ///   - clocks: the clocks of the server.
    ///   - randomBytes: a secure source.
    /// - Throws: when the database, the key, the audit log or the pages cannot be used. The error's description
    ///   includes the remedy.
    package convenience init(
        configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger,
        clocks: Clocks = Clocks(),
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes
    ) throws {
        try self.init(
            configuration: configuration, workers: workers, logger: logger, clocks: clocks, randomBytes: randomBytes
        ) { onOperation, onRotation, onConcern in
            try SessionStore(
                configuration: configuration, workers: workers, clocks: clocks, randomBytes: randomBytes,
                onOperation: onOperation, onRotation: onRotation, onConcern: onConcern)
        }
    }

    /// Opens a store. The closures are called after each operation, after a rotation of the keys, and when a problem
    /// between this server and the others begins or ends.
    typealias OpenStore = (
        _ onOperation: @escaping @Sendable (StoreOperation) -> Void,
        _ onRotation: @escaping @Sendable (KeyRing.KeyID) -> Void,
        _ onConcern: @escaping @Sendable (StoreConcern, _ isOver: Bool) -> Void
    ) throws -> SessionStore

    init(
        configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger,
        clocks: Clocks, randomBytes: @escaping @Sendable (Int) -> [UInt8], openStore: OpenStore
    ) throws {
        let languages = try Languages(
            folder: configuration.publicFolder + "/languages",
            cookieName: SessionCookie(configuration: configuration).name + "-language")
        pages = try Pages(
            folder: configuration.publicFolder, applications: configuration.applications, languages: languages,
            publicURL: configuration.publicURL, content: FixedContent(configuration: configuration),
            compression: compression)
        isShared = configuration.deviceMode == .shared
        drain = configuration.drain
        self.workers = workers

        let parts = try ServerParts(
            configuration: configuration, languages: languages, workers: workers, logger: logger, clocks: clocks,
            randomBytes: randomBytes, openStore: openStore)
        (store, memory, tokens) = (parts.store, parts.memory, parts.tokens)
        (client, monitoring, certificate) = (parts.client, parts.monitoring, parts.certificate)
        lag = EventLoopLag(metrics: parts.metrics)
        notifier = parts.notifier
        for key in configuration.withoutEffect {
            logger.notice("\(key) has no effect any more. Remove it from the configuration.")
        }
        configuration.place.report(on: store, to: logger)

        let pipeline = Pipeline(
            configuration: configuration, pages: pages, endpoints: Endpoints(parts), sessions: parts.sessions,
            cookie: parts.cookie, limits: parts.limits, now: parts.clocks.wall)
        let (metrics, log) = (parts.metrics, RequestLog(logger, isWanted: configuration.logRequests))
        var serving = ServerConfiguration(configuration, parts.limits) { summary in
            metrics.request(summary)
            log.write(summary)
        }
        serving.certificate = certificate?.certificate
        server = HTTPServer(configuration: serving, workers: workers, responder: pipeline, logger: logger)
        monitoringServer = configuration.metricsListener.map { address in
            HTTPServer(
                configuration: ServerConfiguration(monitoring: address), workers: workers,
                responder: MonitoringResponder(report: parts.monitoring), logger: logger)
        }
        let limit = parts.limits.connections(configuration)
        redirectServer = configuration.redirectListener.map { address in
            HTTPServer(
                configuration: ServerConfiguration(redirecting: address, limit), workers: workers,
                responder: RedirectResponder(publicURL: configuration.publicURL), logger: logger)
        }
        monitoring.watch(server)
    }

    /// Starts to serve requests.
    ///
    /// - Parameters:
    ///   - sockets: listening sockets from a service manager, instead of the configured address.
    ///   - redirectSockets: the same for `tls.redirect_listen`.
    /// - Returns: the port.
    /// - Throws: ``ServerError`` when an address cannot be bound.
    package func start(inheriting sockets: [Int32] = [], redirecting redirectSockets: [Int32] = []) async throws -> Int
    {
        // Sessions on a shared device do not outlive a restart.
        if isShared { _ = try await store.revokeAll() }
        do {
            _ = try await monitoringServer?.start()
            _ = try await redirectServer?.start(inheriting: redirectSockets)
            let port = try await server.start(inheriting: sockets)
            certificate?.watch()
            lag.start(on: workers)
            notifier?.start()
            compression.start(pages)
            return port
        } catch {
            await monitoringServer?.stop(grace: .zero)
            await redirectServer?.stop(grace: .zero)
            throw error
        }
    }

    /// Shuts down. First `/readyz` returns 503 for the configured time while everything is still served. Then the
    /// server stops accepting connections, starts no more token refreshes, finishes what is under way and closes the
    /// database.
    ///
    /// - Parameters:
    ///   - grace: the time that work under way may take.
    ///   - idleGrace: how long idle connections stay open for a request that has already been sent.
    package func stop(grace: Duration = .seconds(10), idleGrace: Duration = .zero) async {
        monitoring.stop()
        if drain > .zero {
            await server.announceStop()
            try? await Task.sleep(for: drain)
        }
        compression.stop()
        lag.stop()
        notifier?.stop()
        certificate?.stopWatching()
        let end = ContinuousClock.now + grace
        tokens.stop()
        await server.stop(grace: grace, idleGrace: idleGrace)
        await monitoringServer?.stop(grace: .zero)
        await redirectServer?.stop(grace: .zero)
        // A response that arrives after this would be lost.
        await tokens.settle(until: end)
        await client.shutdown()
        await store.close()
    }
}
