import EventLoop
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import Logging
import OpenIDConnect
import SessionStore

/// This version, as `companion --version` and the `User-Agent` say it.
public let companionVersion = "0.1.0"

/// The companion: everything built from a configuration, started and stopped together.
public final class CompanionServer: Sendable {
    private let store: SessionStore
    private let client: HTTPClient
    private let server: HTTPServer
    private let monitoringServer: HTTPServer?
    private let lag: EventLoopLag
    private let workers: WorkerGroup
    private let isShared: Bool
    private let drain: Duration
    private let monitoring: MonitoringReport
    private let pages: Pages
    private let compression = AssetCompression()
    let memory: SessionMemory

    /// Opens the store and loads the pages; nothing is served yet.
    ///
    /// - Parameters:
    ///   - configuration: checked configuration.
    ///   - workers: the event loop's workers, which the caller owns.
    ///   - logger: where requests and failures go.
    ///   - now: the wall clock.
    ///   - randomBytes: a secure source.
    /// - Throws: when the database, the key, the audit log or the pages cannot be used; the error's description says what to do.
    public convenience init(
        configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() },
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes
    ) throws {
        try self.init(
            configuration: configuration, workers: workers, logger: logger, now: now, randomBytes: randomBytes
        ) { onOperation, onRotation in
            try SessionStore(
                configuration: configuration, workers: workers, now: now, randomBytes: randomBytes,
                onOperation: onOperation, onRotation: onRotation)
        }
    }

    /// - Parameter openStore: opens the store, given what it calls after each operation and after a rotation of the keys.
    init(
        configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger,
        now: @escaping @Sendable () -> Date, randomBytes: @escaping @Sendable (Int) -> [UInt8],
        openStore: (
            _ onOperation: @escaping @Sendable (StoreOperation) -> Void,
            _ onRotation: @escaping @Sendable (KeyRing.KeyID) -> Void
        ) throws -> SessionStore
    ) throws {
        let applications = configuration.applications
        let languages = try Languages(
            folder: configuration.publicFolder + "/languages",
            cookieName: SessionCookie(configuration: configuration).name + "-language")
        let pages = try Pages(
            folder: configuration.publicFolder, applications: applications, languages: languages,
            publicURL: configuration.publicURL, content: FixedContent(configuration: configuration),
            compression: compression)
        self.pages = pages
        isShared = configuration.deviceMode == .shared
        drain = configuration.drain

        // What is reported.
        let metrics = Metrics(applications: applications, workers: workers.workers.count, now: now)
        self.workers = workers
        lag = EventLoopLag(metrics: metrics)
        let audit = try AuditLog(logger: logger, file: configuration.auditLogFile, now: now)

        // Where sessions live, and what is noted of them.
        store = try openStore(metrics.database) { audit.write(.keysRotated, more: ["key": $0.description]) }
        let memory = SessionMemory(now: now, store: store)
        self.memory = memory
        let timeline = Timeline(memory: memory)
        let recent = RecentSignIns(now: now)
        let journal = SignInJournal(memory: memory, metrics: metrics, audit: audit, recent: recent)

        // Who may have one.
        let cookie = SessionCookie(configuration: configuration, staleness: store.staleness)
        let client = HTTPClient(
            workers: workers,
            configuration: HTTPClient.Configuration(userAgent: "companion/\(companionVersion)"))
        self.client = client
        let providers = Providers(
            applications: applications, client: client, metrics: metrics, now: now, randomBytes: randomBytes)
        let admission = Admission(applications: applications, directory: providers.directory)
        let sessions = SessionLookup(store: store, admission: admission, audit: audit, logger: logger)

        // What is done for them.
        let tokens = TokenAcquisition(
            publicURL: configuration.publicURL, store: store, providers: providers, admission: admission,
            reportingTo: (timeline, metrics))
        let signOut = SignOutFlow(
            configuration: configuration, store: store, providers: providers, timeline: timeline, memory: memory,
            trips: journal.trips, audit: audit, logger: logger)
        let limits = RequestLimits(configuration: configuration, metrics: metrics, now: now) { limit, application in
            audit.limitReached(limit.rawValue, application: application)
        }
        let monitoring = MonitoringReport(
            configuration: configuration, metrics: metrics, store: store, credentials: providers.credentials, now: now)
        self.monitoring = monitoring
        let endpoints = Endpoints(
            signIn: SignInEndpoints(
                flow: SignInFlow(
                    configuration: configuration, store: store, providers: providers, admission: admission,
                    journal: journal),
                store: store, formPosts: FormPostCallbacks(now: now, randomBytes: randomBytes), cookie: cookie,
                publicURL: configuration.publicURL, languages: languages),
            signOut: SignOutEndpoints(
                flow: signOut,
                channels: ChannelLogout(
                    applications: applications, store: store, directory: providers.directory, audit: audit),
                cookie: cookie, isShared: isShared),
            accounts: AccountEndpoints(store: store, sessions: sessions, signOut: signOut, cookie: cookie),
            tokens: TokenEndpoints(
                configuration: configuration, store: store, acquisition: tokens,
                api: APIProxy(
                    client: client, tokens: tokens, directory: providers.directory,
                    throttle: Throttle(isOfSession: configuration.demoControlURL != nil, now: now),
                    reportingTo: (timeline, journal.trips, metrics), now: now),
                limits: limits, timeline: timeline),
            story: StoryEndpoints(memory: memory, languages: languages),
            portal: PortalEndpoints(
                configuration: configuration, store: store, memory: memory,
                authorities: AuthorityCheck(client: client, now: now), credentials: providers.credentials,
                recent: recent,
                languages: languages, audit: audit),
            server: ServerEndpoints(
                configuration: configuration, sessions: sessions, languages: languages, cookie: cookie),
            demo: DemoEndpoints(configuration: configuration, client: client),
            monitoring: monitoring)

        // What is served.
        let pipeline = Pipeline(
            configuration: configuration, pages: pages, endpoints: endpoints, sessions: sessions, cookie: cookie,
            limits: limits)
        let log = RequestLog(logger, isWanted: configuration.logRequests)
        server = HTTPServer(
            configuration: ServerConfiguration(configuration, limits) { summary in
                metrics.request(summary)
                log.write(summary)
            }, workers: workers, responder: pipeline, logger: logger)
        monitoringServer = configuration.metricsListener.map { address in
            HTTPServer(
                configuration: ServerConfiguration(monitoring: address), workers: workers,
                responder: MonitoringResponder(report: monitoring), logger: logger)
        }
        monitoring.watch(server)
    }

    /// Begins to serve.
    ///
    /// - Parameter sockets: listening sockets that a service manager has handed on, instead of those of the configuration.
    /// - Returns: the port.
    /// - Throws: ``ServerError`` when the address cannot be bound.
    public func start(inheriting sockets: [Int32] = []) async throws -> Int {
        // Nobody comes back to a shared device that was started anew.
        if isShared { _ = try await store.revokeAll() }
        _ = try await monitoringServer?.start()
        do {
            let port = try await server.start(inheriting: sockets)
            lag.start(on: workers)
            compression.start(pages)
            return port
        } catch {
            await monitoringServer?.stop(grace: .zero)
            throw error
        }
    }

    /// Goes on for as long as the configuration says while `/readyz` returns 503; then stops accepting, finishes what is
    /// under way and closes the database.
    ///
    /// - Parameters:
    ///   - grace: how long what is under way may take.
    ///   - idleGrace: how long idle connections stay open for a request that is on its way.
    public func stop(grace: Duration = .seconds(10), idleGrace: Duration = .zero) async {
        monitoring.stop()
        if drain > .zero { try? await Task.sleep(for: drain) }
        compression.stop()
        lag.stop()
        await server.stop(grace: grace, idleGrace: idleGrace)
        await monitoringServer?.stop(grace: .zero)
        await client.shutdown()
        await store.close()
    }
}

/// What browsers offer to pages and ours do not use (W3C Permissions Policy); the clipboard's writing is used.
private let unusedFeatures = [
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "hid", "identity-credentials-get", "idle-detection", "local-fonts", "magnetometer",
    "microphone", "midi", "payment", "picture-in-picture", "publickey-credentials-create",
    "publickey-credentials-get", "screen-wake-lock", "serial", "storage-access", "usb", "window-management",
    "xr-spatial-tracking",
]

extension ServerConfiguration {
    fileprivate init(
        _ configuration: CompanionConfiguration, _ limits: RequestLimits,
        onRequestEnd: @escaping @Sendable (RequestSummary) -> Void
    ) {
        var fields: HTTPFields = [
            .contentSecurityPolicy:
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                + "trusted-types 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        fields[.referrerPolicy] = "no-referrer"
        fields[.permissionsPolicy] = unusedFeatures.map { $0 + "=()" }.joined(separator: ", ")
        fields[.crossOriginOpenerPolicy] = "same-origin"
        fields[.crossOriginResourcePolicy] = "same-origin"
        if configuration.publicURL.isSecure { fields[.strictTransportSecurity] = "max-age=31536000" }
        self.init(host: configuration.host, port: configuration.port, responseFields: fields)
        addressLimit = limits.connections(configuration)
        self.onRequestEnd = onRequestEnd
    }
}

extension HTTPField.Name {
    static let referrerPolicy = literal("referrer-policy")
    static let permissionsPolicy = literal("permissions-policy")
    static let crossOriginOpenerPolicy = literal("cross-origin-opener-policy")
}
