import CompanionCheck
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
package import WebFormats

/// The whole server, built from a configuration, with one start and one stop.
package final class CompanionServer: Sendable {
    private let store: SessionStore
    private let client: HTTPClient
    private let server: HTTPServer
    private let monitoringServer: HTTPServer?
    private let redirectServer: HTTPServer?
    private let certificate: ServedCertificate?
    private let rounds: CheckRounds
    private let checksAtNight: Bool
    private let lag: EventLoopLag
    private let workers: WorkerGroup
    private let endsSessions: Bool
    private let drain: Duration
    private let requestLog: RequestLog
    private let monitoring: MonitoringReport
    private let pages: Pages
    private let content: FixedContent
    private let compression: AssetCompression
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
    ///   - droppedLogLines: the number of log lines that were dropped since the start, for the metrics.
    ///   - content: the public folder, if it has been read.
    /// - Throws: when the database, the key, the audit log or the pages cannot be used. The error's description
    ///   includes the remedy.
    package convenience init(
        configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger,
        clocks: Clocks = Clocks(),
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes,
        droppedLogLines: @escaping @Sendable () -> Int = { 0 }, content: PublicContent = PublicContent()
    ) throws {
        try self.init(
            configuration: configuration, workers: workers, logger: logger, clocks: clocks, randomBytes: randomBytes,
            droppedLogLines: droppedLogLines, content: content
        ) { onOperation, onRotation, onConcern in
            try SessionStore(
                configuration: configuration, isServer: true, workers: workers, clocks: clocks,
                randomBytes: randomBytes, onOperation: onOperation, onRotation: onRotation, onConcern: onConcern)
        }
    }

    /// The files of the public folder, which several servers of one process may share, and what compresses them.
    package struct PublicContent: Sendable {
        /// Nil reads the folder of the configuration, for these and for the languages.
        var files: StaticFiles?
        var languages: Languages?
        var templates = PageTemplates()
        var compression = AssetCompression()

        package init() {}
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
        clocks: Clocks, randomBytes: @escaping @Sendable (Int) -> [UInt8],
        droppedLogLines: @escaping @Sendable () -> Int = { 0 }, content known: PublicContent, openStore: OpenStore
    ) throws {
        compression = known.compression
        let cookieName = SessionCookie(configuration: configuration).name + "-language"
        let languages =
            try known.languages?.with(cookieName: cookieName)
            ?? Languages(publicFolder: configuration.publicFolder, cookieName: cookieName)
        content = FixedContent(configuration: configuration)
        pages = try Pages(
            folder: configuration.publicFolder, files: known.files, templates: known.templates,
            applications: configuration.applications, languages: languages, publicURL: configuration.publicURL,
            content: content, compression: compression)
        drain = configuration.drain
        self.workers = workers

        let parts = try ServerParts(
            configuration: configuration, languages: languages, workers: workers, logger: logger, clocks: clocks,
            randomBytes: randomBytes, openStore: openStore)
        (store, memory, tokens) = (parts.store, parts.memory, parts.tokens)
        endsSessions = configuration.deviceMode == .shared && !parts.store.isClustered
        (client, monitoring, certificate) = (parts.client, parts.monitoring, parts.certificate)
        rounds = parts.rounds
        // A page or the metrics show the results. The demo's own tenant needs no watching.
        checksAtNight =
            configuration.demoControlURL == nil
            && (configuration.metricsListener != nil || configuration.applications.contains { $0.page == .portal })
        lag = EventLoopLag(metrics: parts.metrics)
        for key in configuration.withoutEffect {
            logger.notice("\(key) has no effect any more. Remove it from the configuration.")
        }
        configuration.place.report(on: store, to: logger)

        let pipeline = Pipeline(
            configuration: configuration, pages: pages, endpoints: Endpoints(parts), sessions: parts.sessions,
            cookie: parts.cookie, limits: parts.limits, logger: logger, now: parts.clocks.wall)
        let (metrics, log) = (
            parts.metrics, RequestLog(logger, isWanted: configuration.logRequests, english: languages.source)
        )
        requestLog = log
        var serving = ServerConfiguration(configuration, parts.limits, languages) { summary in
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
        monitoring.watch(server, droppedLogLines: droppedLogLines)
    }

    /// Returns the bar of the demo tenant's page of failures, which leads back to a path; nil in an unknown language.
    package func barOfFailures(in tag: String, here: String?, languages: HTML) -> HTML? {
        pages.languages.all.first { $0.tag == tag }.map {
            content.barOfFailures(in: $0, here: here, languages: languages)
        }
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
        do {
            _ = try await monitoringServer?.start()
            _ = try await redirectServer?.start(inheriting: redirectSockets)
            let port = try await server.start(inheriting: sockets) { [store, endsSessions] in
                // Sessions on a shared device do not outlive a restart. In a common database they may belong to people
                // at another server.
                guard endsSessions else { return nil }
                do throws(StoreError) {
                    _ = try await store.revokeAll()
                    return nil
                } catch {
                    return error.description
                }
            }
            certificate?.watch()
            if checksAtNight { rounds.watch() }
            lag.start(on: workers)
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
    ///   - idleGrace: how long connections stay open from the beginning of the stop on without a request. A client that
    ///     has just been served asks again within that time, and is answered that the connection ends.
    package func stop(grace: Duration = .seconds(10), idleGrace: Duration = .seconds(1)) async {
        monitoring.stop()
        if drain > .zero {
            await server.announceStop()
            try? await Task.sleep(for: drain)
        }
        compression.stop()
        lag.stop()
        certificate?.stopWatching()
        rounds.stop()
        let end = ContinuousClock.now + grace
        tokens.stop()
        await server.stop(grace: grace, idleGrace: max(.zero, idleGrace - drain))
        await monitoringServer?.stop(grace: .zero)
        await redirectServer?.stop(grace: .zero)
        requestLog.end()
        // A response that arrives after this would be lost.
        await tokens.settle(until: end)
        await client.shutdown()
        await store.close()
    }
}
