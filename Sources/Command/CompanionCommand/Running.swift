import ArgumentParser
import Companion
import CompanionCore
import DevelopmentCA
import EventLoop
import Foundation
import HTTPServer
import Languages
import Logging
import TenantDirectory
import TenantServer

/// Runs a server from start to stop.
enum Running {
    /// Serves a configuration until a stop signal.
    static func serve(_ configuration: CompanionConfiguration) async throws {
        let logger = bootstrapLog(configuration)
        let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
        let workers = try WorkerGroup()
        let server = try await makeServer(configuration, workers: workers, logger: logger)
        let stop = await StopSignals()
        let port = try await start {
            try await server.start(inheriting: manager.sockets, redirecting: manager.redirectSockets)
        }
        say("Companion is at \(configuration.publicURL.address) (listening on \(configuration.host):\(port)).")
        await serve(server, of: configuration, under: manager, on: workers, until: stop)
        await workers.shutdown()
        log.drain()
    }

    /// Serves the demo: the demo tenant on the next port, and a companion registered there.
    ///
    /// - Parameters:
    ///   - isSecure: whether both speak https, with a certificate for this machine's own names.
    ///   - native: the bundle IDs of apps that the tenant knows besides the companion.
    static func demo(
        options: [String: String], environment: [String: String], isSecure: Bool, native: [String] = []
    ) async throws {
        var configuration = try ConfigurationPath.read(
            nil, options: options, environment: environment, needsApplications: false)
        let authority = DevelopmentCA(configuration, environment)
        let certificate =
            isSecure ? try await start { try TenantCertificate(.development(authority)) } : nil
        if let made = certificate?.development {
            let files = ["tls.certificate_file": made.file, "tls.private_key_file": made.file]
            configuration = try ConfigurationPath.read(
                nil, options: options.merging(files) { $1 }, environment: environment, needsApplications: false)
            configuration.authorityFile = made.rootFile
        }
        configuration.host = options["host"] ?? configuration.demoHost ?? configuration.host
        let logger = bootstrapLog(configuration)
        let manager = ServiceManager(environment: environment)
        let workers = try WorkerGroup()
        // The secret stays within this process unless the configuration sets it. An ID alone is taken for a secret's ID.
        let secret = configuration.demoClientSecret ?? "demo-\(UUID().uuidString)"
        var client = DemoClient(
            id: DemoApplications.clientID, name: "Companion demo", secret: secret,
            web: [configuration.publicURL.redirectURI, configuration.publicURL.postLogoutRedirectURI])
        client.frontChannelLogoutURI = configuration.publicURL.frontChannelLogoutURI
        client.homeURL = configuration.publicURL.address + "/"
        client.groupMembershipClaims = .securityGroup
        client.optionalClaims = DemoClient.OptionalClaims(idToken: ["auth_time", "login_hint", "sid"])
        client.appRoles = ["Shop.Manage"]
        let apps = try await start { try TenantFile.clients(native.map(TenantFile.Application.init(native:))) }
        var tenantConfiguration = DemoTenantConfiguration(
            port: configuration.port + 1, clients: [client] + apps, publicFolder: configuration.publicFolder,
            stateFile: configuration.database.localPath + ".demo-tenant.json")
        // The tokens that the portal shows have groups, and those of some people a role.
        tenantConfiguration.groups = [
            DemoGroup(name: "Retail", memberOf: ["All Employees"], roles: [client.name: ["Shop.Manage"]])
        ]
        tenantConfiguration.listenHost = configuration.demoHost
        tenantConfiguration.controlToken = configuration.demoControlToken
        tenantConfiguration.kioskURL =
            configuration.deviceMode == .shared ? configuration.publicURL.address + "/kiosk" : nil
        tenantConfiguration.certificate = certificate?.certificate
        tenantConfiguration.reader = .ofFile(isForOthers: false)
        let tenant = try await start {
            try DemoTenant(configuration: tenantConfiguration, workers: workers, logger: logger)
        }
        let tenantPort = try await start { try await tenant.start() }
        let applications = try DemoApplications.all(
            tenant: tenant, secret: secret, redirectURI: configuration.publicURL.redirectURI,
            isShared: configuration.deviceMode == .shared)
        try await start { try configuration.serve(applications) }
        if configuration.apis.isEmpty {
            configuration.apis = [DemoApplications.graph(of: tenant), DemoApplications.payroll(of: tenant)].compactMap(
                \.self)
        }
        configuration.demoControlURL = tenant.baseURL + "/control"
        configuration.demoFailures = { tenant.failuresForEveryone(in: $0) }
        let server = try await makeServer(configuration, workers: workers, logger: logger)
        tenantConfiguration.rooms.show { server.barOfFailures(in: $0, here: $1, languages: $2) }
        let stop = await StopSignals()
        _ = try await start {
            try await server.start(inheriting: manager.sockets, redirecting: manager.redirectSockets)
        }
        let rootServer = try await start {
            try await certificate?.serveRoot(
                host: configuration.host, after: tenantPort, workers: workers, logger: logger)
        }
        let announcement = TenantAnnouncement(
            tenant: tenant, containerAddress: configuration.demoHost, development: certificate?.development,
            rootURL: rootServer?.url)
        tenant.announce { announcement.json }
        let renewal = Task { [certificate] in _ = await certificate?.renew(logger) }
        say(
            """

              Companion, the demo: \(configuration.publicURL.address)

            \(configuration.deviceMode == .shared ? kioskFirst : tutorialsFirst)
              3. Cause failures on demand at \(tenant.baseURL)/control
            \(certificate?.development.map { trust($0, rootServer) } ?? "")
              Nothing leaves this machine.\(configuration.demoHost.map(reach) ?? "") To use a tenant of your own, see “Connect a real tenant” in the README.

            """)
        await serve(server, of: configuration, under: manager, on: workers, until: stop)
        renewal.cancel()
        await rootServer?.stop()
        await tenant.stop()
        await workers.shutdown()
        log.drain()
    }

    private static let tutorialsFirst = """
          1. Open that address and choose “iOS tutorial” or “macOS tutorial”; /kiosk is a preview of the kiosk.
          2. Press “Call Microsoft Graph API” and sign in as adele@contoso.example, password: demo
        """
    private static let kioskFirst = """
          1. Open the kiosk, /kiosk at that address, as on a device that several people use.
          2. Press “Sign in” and sign in as adele@contoso.example, password: demo
        """

    /// Returns the beginning of what makes a browser trust the demo.
    private static func trust(_ development: DevelopmentCertificate, _ rootServer: RootServer?) -> String {
        guard let rootServer else { return "" }
        return """

              Browsers warn until they trust the root \(development.rootFile).
              How: companion tenant trust --root-url \(rootServer.url)

            """
    }

    /// Returns a warning for a demo that other machines can reach.
    private static func reach(_ host: String) -> String {
        " It listens on \(host) (COMPANION_DEMO_HOST): others can open the companion's pages, but only this machine and the one"
            + " on which its container runs can sign in."
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
        await server.stop()
        watchdog.cancel()
        await watchdog.value
    }

    private static func makeServer(
        _ configuration: CompanionConfiguration, workers: WorkerGroup, logger: Logger
    ) async throws -> CompanionServer {
        try await start {
            try CompanionServer(
                configuration: configuration, workers: workers, logger: logger, droppedLogLines: { log.dropped })
        }
    }

    /// Does one step of the start.
    ///
    /// - Throws: exit status 1, after printing why the server cannot start.
    static func start<Value>(_ start: () async throws -> Value) async throws -> Value {
        do {
            return try await start()
        } catch {
            throw failure(error)
        }
    }

    /// The log, on standard error.
    static let log = LogWriter(STDERR_FILENO)
    private static let announcements = LogWriter(STDOUT_FILENO)

    /// Writes to standard output, without buffering even if that is a file or the journal. If nobody reads it, the server
    /// starts nevertheless.
    static func say(_ text: String) {
        announcements.write(text + "\n")
        announcements.drain()
    }

    /// Prints why the server cannot start, behind the lines of the log.
    static func failure(_ error: any Error) -> ExitCode {
        var text = "companion cannot start: \(error)"
        switch error {
        case is LanguageFault, DemoTenantError.texts:
            text += ". Name the folder of the pages with public in the configuration, or with COMPANION_PUBLIC"
        case ServerError.cannotListen, DemoTenantError.cannotListen: text += " (--port)"
        default: break
        }
        log.write(text + "\n")
        log.drain()
        return ExitCode(1)
    }

    static func bootstrapLog(_ configuration: CompanionConfiguration) -> Logger {
        let level = Logger.Level(rawValue: configuration.logLevel) ?? .info
        let format = configuration.logFormat
        log.announceDropped { count in
            LineLogHandler.line(
                "\(count) log lines were dropped, because nobody read the log in time", .warning, from: "companion",
                as: format)
        }
        LoggingSystem.bootstrap { label in
            LineLogHandler(logLevel: level, label: label, format: format, writer: log)
        }
        return Logger(label: "companion")
    }
}
