import CompanionCheck
import CompanionCore
import CompanionSignIn
import EventLoop
import Foundation
import HTTPClient
import Languages
import Logging
import SessionStore

/// The parts that a server's endpoints need. Each part is created once, after its own dependencies.
struct ServerParts: Sendable {
    let configuration: CompanionConfiguration
    let languages: Languages
    let clocks: Clocks

    // Reporting
    let metrics: Metrics
    let audit: AuditLog
    let monitoring: MonitoringReport
    let certificate: ServedCertificate?

    // Sessions, and records about them
    let store: SessionStore
    let memory: SessionMemory
    let timeline: Timeline
    let recent: RecentSignIns
    let journal: SignInJournal

    // Access to sessions
    let cookie: SessionCookie
    let attempts: AttemptCookies
    let marks: BrowserMarks
    let client: HTTPClient
    let providers: Providers
    let admission: Admission
    let sessions: SessionLookup

    // Work for the sessions
    let limits: RequestLimits
    let tokens: TokenAcquisition
    let signOut: SignOutFlow
    let rounds: CheckRounds
    let appOnly: AppOnlyTokens

    /// - Parameters:
    ///   - languages: the languages of the pages.
    ///   - openStore: opens the store with the given callbacks.
    init(
        configuration: CompanionConfiguration, languages: Languages, workers: WorkerGroup, logger: Logger,
        clocks: Clocks, randomBytes: @escaping @Sendable (Int) -> [UInt8],
        openStore: CompanionServer.OpenStore
    ) throws {
        let applications = configuration.applications
        self.configuration = configuration
        self.languages = languages
        self.clocks = clocks

        let now = clocks.wall
        let certificate = try configuration.tls.map { try ServedCertificate($0, logger: logger, now: now) }
        self.certificate = certificate
        let metrics = Metrics(
            applications: applications, routes: RouteNumber.names, workers: workers.workers.count, now: now)
        let audit = try AuditLog(logger: logger, file: configuration.auditLogFile, now: now)
        (self.metrics, self.audit) = (metrics, audit)

        store = try openStore(
            metrics.database, { audit.keysRotated(to: $0) },
            { concern, isOver in
                if isOver {
                    // Nobody has told us that the damage of another machine is repaired.
                    let isSolved = concern.kind != .database || concern.keepsFromServing
                    logger.notice("\(isSolved ? "Resolved" : "Not met for an hour"): \(concern)")
                } else if concern.kind == .database {
                    let effect =
                        concern.keepsFromServing ? " Until then nothing is stored, and this server is not ready." : ""
                    logger.critical("\(concern).\(effect)")
                } else if concern.keepsFromServing {
                    logger.error("\(concern) Until then this server is not ready.")
                } else {
                    logger.log(level: concern.kind == .keyFile ? .error : .warning, "\(concern)")
                }
            })
        memory = SessionMemory(clocks: clocks, store: store)
        timeline = Timeline(memory: memory)
        recent = RecentSignIns(clocks: clocks)
        journal = SignInJournal(memory: memory, metrics: metrics, audit: audit, recent: recent)

        cookie = SessionCookie(configuration: configuration, staleness: store.staleness)
        attempts = AttemptCookies(configuration: configuration, now: now)
        marks = BrowserMarks(store: store, cookie: cookie, randomBytes: randomBytes)
        client = HTTPClient(
            workers: workers,
            configuration: HTTPClient.Configuration(
                userAgent: "companion/\(companionVersion)", certificateAuthorityFile: configuration.authorityFile))
        providers = Providers(
            applications: applications, client: client, metrics: metrics, times: configuration.refreshTimes,
            clocks: clocks, randomBytes: randomBytes)
        admission = Admission(applications: applications, directory: providers.directory)
        sessions = SessionLookup(store: store, admission: admission, audit: audit, logger: logger)

        limits = RequestLimits(configuration: configuration, marks: marks, metrics: metrics, now: clocks.steady) {
            limit, application in
            audit.limitReached(limit.rawValue, application: application)
        }
        tokens = TokenAcquisition(
            publicURL: configuration.publicURL, store: store, providers: providers, admission: admission,
            reportingTo: (timeline, metrics, logger))
        rounds = CheckRounds(
            of: applications, in: store, now: now,
            check: AuthorityCheck(
                client: client, configuration: configuration, english: languages.source, now: now
            ).run)
        let provider = providers.client
        appOnly = AppOnlyTokens(directory: providers.directory, credentials: providers.credentials, now: now) {
            try await provider.send($0)
        }
        signOut = SignOutFlow(
            configuration: configuration, store: store, providers: providers, timeline: timeline, memory: memory,
            audit: audit, logger: logger)
        monitoring = MonitoringReport(
            configuration: configuration, metrics: metrics, store: store, credentials: providers.credentials,
            rounds: rounds, certificate: certificate, now: now)
    }
}

extension Endpoints {
    init(_ parts: ServerParts) {
        let (configuration, store) = (parts.configuration, parts.store)
        let access = PortalAccess(configuration: configuration)
        let registrations = RegistrationHealth(
            rounds: parts.rounds, credentials: parts.providers.credentials, journal: parts.journal,
            now: parts.clocks.wall)
        signIn = SignInEndpoints(parts)
        signOut = SignOutEndpoints(
            flow: parts.signOut,
            channels: ChannelLogout(
                applications: configuration.applications, store: store, directory: parts.providers.directory,
                audit: parts.audit),
            cookie: parts.cookie, attempts: parts.attempts)
        accounts = AccountEndpoints(
            store: store, sessions: parts.sessions, signOut: parts.signOut, cookie: parts.cookie,
            tokenDisplay: configuration.tokenDisplay)
        tokens = TokenEndpoints(parts)
        story = StoryEndpoints(memory: parts.memory, languages: parts.languages)
        portal = PortalEndpoints(
            configuration: configuration, store: store, memory: parts.memory,
            rounds: parts.rounds, registrations: registrations, recent: parts.recent, languages: parts.languages,
            audit: parts.audit, access: access, appOnly: parts.appOnly, client: parts.client)
        server = ServerEndpoints(
            configuration: configuration, languages: parts.languages, cookie: parts.cookie, access: access,
            registrations: registrations)
        demo = DemoEndpoints(
            configuration: configuration, client: parts.client, store: store, providers: parts.providers,
            languages: parts.languages)
        monitoring = parts.monitoring
    }
}

extension SignInEndpoints {
    fileprivate init(_ parts: ServerParts) {
        self.init(
            flow: SignInFlow(
                configuration: parts.configuration, store: parts.store, providers: parts.providers,
                admission: parts.admission, journal: parts.journal),
            store: parts.store, sessions: parts.sessions, limits: parts.limits,
            cookie: parts.cookie, attempts: parts.attempts, marks: parts.marks,
            publicURL: parts.configuration.publicURL, languages: parts.languages,
            isDemo: parts.configuration.demoControlURL != nil)
    }
}

extension TokenEndpoints {
    fileprivate init(_ parts: ServerParts) {
        self.init(
            configuration: parts.configuration, store: parts.store, acquisition: parts.tokens,
            api: APIProxy(
                client: parts.client, tokens: parts.tokens, directory: parts.providers.directory,
                throttle: Throttle(isOfSession: parts.configuration.demoControlURL != nil, now: parts.clocks.steady),
                reportingTo: (parts.timeline, parts.metrics), now: parts.clocks.wall),
            limits: parts.limits, timeline: parts.timeline)
    }
}
