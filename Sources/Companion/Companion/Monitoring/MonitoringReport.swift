import CompanionCheck
import CompanionCore
import CompanionSignIn
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
import SessionStore
import WebFormats
import Synchronization

/// The responses of `/metrics` and of `/readyz` with details.
final class MonitoringReport: Sendable {
    /// Counting reads all sessions, so several scrapes share one result.
    private static let countInterval: TimeInterval = 30

    private let configuration: CompanionConfiguration
    private let metrics: Metrics
    private let store: SessionStore
    private let credentials: ClientCredentials
    private let rounds: CheckRounds
    private let certificate: ServedCertificate?
    private let now: @Sendable () -> Date
    private let counts = Mutex<(at: Date, counts: SessionCounts)?>(nil)
    private let server = Mutex<Server>(Server())
    private let isStopping = Atomic(false)

    /// Holds the server, which is created after the handlers that it serves.
    private struct Server {
        weak var server: HTTPServer?
        var droppedLogLines: @Sendable () -> Int = { 0 }
    }

    init(
        configuration: CompanionConfiguration, metrics: Metrics, store: SessionStore, credentials: ClientCredentials,
        rounds: CheckRounds, certificate: ServedCertificate?, now: @escaping @Sendable () -> Date
    ) {
        self.configuration = configuration
        self.metrics = metrics
        self.store = store
        self.credentials = credentials
        self.rounds = rounds
        self.certificate = certificate
        self.now = now
    }

    /// Sets the server whose connections are counted, and where the lines that its log has dropped are.
    func watch(_ server: HTTPServer, droppedLogLines: @escaping @Sendable () -> Int) {
        self.server.withLock { $0 = Server(server: server, droppedLogLines: droppedLogLines) }
    }

    // MARK: /metrics

    /// The answer to `GET /metrics`.
    func metricsResponse() async -> Response {
        .noStore(.ok, MetricsText.contentType, Array(await metricsText().utf8))
    }

    private func metricsText() async -> String {
        let isWritable = await store.probeWritable()
        let counts = await sessionCounts()
        var text = MetricsText()
        text.family("companion_build_info", .gauge, "Always 1; the version is a label.")
        text.sample("companion_build_info", [("version", companionVersion)], 1)
        metrics.families.write(to: &text)
        writeProviders(&text)
        writeCredentials(&text)
        await writeChecks(&text)
        writeCertificate(&text)
        let server = server.withLock { $0 }
        text.gauge("companion_http_connections", "Open connections.", Double(server.server?.connectionCount ?? 0))
        text.family(
            "companion_log_lines_dropped_total", .counter, "Log lines that were dropped because nobody read the log.")
        text.sample("companion_log_lines_dropped_total", [], server.droppedLogLines())
        text.gauge(
            "companion_database_writable", "1 while the database can be written, else 0.",
            isWritable ? 1 : 0)
        text.gauge(
            "companion_database_sound",
            "0 while damage of the database is known, its file was deleted or replaced, or a second server has it, else 1.",
            store.databaseProblem == nil ? 1 : 0)
        await writeConnections(&text)
        text.gauge(
            "companion_key_usable",
            "1 while the key file contains the keys in use, 0 if a restart would not find them.",
            store.keyProblem == nil ? 1 : 0)
        if let counts {
            text.gauge(
                "companion_sessions",
                "Sessions in the database. Ended ones remain for a minute or two.",
                Double(counts.sessions))
            text.gauge(
                "companion_sessions_signed_in", "Sessions with a signed-in account.", Double(counts.signedIn))
        }
        let cache = store.cacheSize
        text.gauge("companion_session_cache_sessions", "Sessions in memory.", Double(cache.sessions))
        text.gauge("companion_session_cache_bytes", "Estimated memory of these sessions.", Double(cache.bytes))
        writeProcess(&text)
        return text.text
    }

    /// Writes the metrics of the connections to PostgreSQL. SQLite has no connections to report.
    private func writeConnections(_ text: inout MetricsText) async {
        let found = await store.connections()
        func write(_ name: String, _ help: String, _ value: (StoreConnections) -> Double) {
            text.family(name, .gauge, help)
            if let found { text.sample(name, [], value(found)) }
        }
        write(
            "companion_database_reachable",
            "1 while the PostgreSQL database can be reached, else 0."
        ) { $0.isReachable ? 1 : 0 }
        text.family(
            "companion_database_clock_skew_seconds", .gauge,
            "Seconds by which this machine's clock is ahead of the PostgreSQL database's.")
        if let ahead = store.clockAhead {
            text.sample("companion_database_clock_skew_seconds", [], (ahead / .milliseconds(1)).rounded() / 1000)
        }
        write("companion_database_connections", "Open connections to PostgreSQL.") { Double($0.open) }
        write("companion_database_connections_busy", "Connections to PostgreSQL with a transaction under way.") {
            Double($0.busy)
        }
        write("companion_database_connections_limit", "Maximum number of connections to PostgreSQL for transactions.") {
            Double($0.limit)
        }
        write("companion_database_waiting", "Operations that wait for a connection.") { Double($0.waiting) }
    }

    private func sessionCounts() async -> SessionCounts? {
        let time = now()
        let known = counts.withLock { $0 }
        if let known, (0..<MonitoringReport.countInterval).contains(time.timeIntervalSince(known.at)) {
            return known.counts
        }
        guard let counts = try? await store.counts() else { return known?.counts }
        self.counts.withLock { $0 = (time, counts) }
        return counts
    }

    private func writeProviders(_ text: inout MetricsText) {
        text.family(
            "companion_provider_clock_skew_seconds", .gauge,
            "Seconds by which this machine's clock is ahead of the provider's, at its last response.")
        for (host, facts) in metrics.providers.all {
            guard let skew = facts.clockSkew else { continue }
            text.sample("companion_provider_clock_skew_seconds", [("provider", host)], skew)
        }
    }

    private func writeCredentials(_ text: inout MetricsText) {
        let found = configuration.applications.map { ($0, credentials.condition(of: $0)) }
        text.family(
            "companion_credential_usable", .gauge,
            "1 while the application's secret, certificate or token can be read, else 0.")
        for (application, condition) in found {
            text.sample("companion_credential_usable", [("app", application.id)], condition.isUsable ? 1 : 0)
        }
        text.family(
            "companion_credential_expires_days", .gauge,
            "Days until the application's certificate expires, or its secret according to client_secret_expires.")
        for (application, condition) in found {
            guard let date = condition.expires else { continue }
            text.sample("companion_credential_expires_days", [("app", application.id)], days(until: date))
        }
    }

    /// Writes the results of the last checks, as far as this server knows them.
    private func writeChecks(_ text: inout MetricsText) async {
        let rounds = await rounds.counts.sorted { $0.key < $1.key }
        text.family(
            "companion_check_findings", .gauge, "Findings of the application's last check, by severity.")
        for (application, round) in rounds {
            for (severity, count) in round.counts.sorted(by: { $0.key < $1.key }) {
                text.sample("companion_check_findings", [("app", application), ("severity", severity)], Double(count))
            }
        }
        text.family(
            "companion_check_timestamp_seconds", .gauge, "The time of the application's last check, in Unix time.")
        for (application, round) in rounds {
            text.sample(
                "companion_check_timestamp_seconds", [("app", application)], round.at.timeIntervalSince1970.rounded())
        }
    }

    /// Writes the metrics of the server's own certificate. Behind a proxy it has none.
    private func writeCertificate(_ text: inout MetricsText) {
        text.family("companion_certificate_expires_days", .gauge, "Days until the server's own certificate expires.")
        if let certificate { text.sample("companion_certificate_expires_days", [], days(until: certificate.expires)) }
        text.family(
            "companion_certificate_usable", .gauge,
            "1 while the server's own certificate is valid and that of its files, else 0.")
        if let certificate { text.sample("companion_certificate_usable", [], certificate.problem == nil ? 1 : 0) }
    }

    private func days(until date: Date) -> Double { (date.timeIntervalSince(now()) / 86_400 * 100).rounded() / 100 }

    private func writeProcess(_ text: inout MetricsText) {
        if let disk = configuration.database.folder.flatMap(ProcessFacts.disk) {
            text.gauge("companion_disk_free_bytes", "Free bytes on the file system of the database.", disk.free)
            text.gauge("companion_disk_size_bytes", "Size of the file system of the database.", disk.size)
        }
        if let seconds = ProcessFacts.processorSeconds {
            text.family("process_cpu_seconds_total", .counter, "Processor time, including the kernel's.")
            text.sample("process_cpu_seconds_total", [], seconds)
        }
        if let bytes = ProcessFacts.residentBytes {
            text.gauge("process_resident_memory_bytes", "Resident memory.", bytes)
        }
        if let count = ProcessFacts.openDescriptors {
            text.gauge("process_open_fds", "Open descriptors.", Double(count))
        }
        if let count = ProcessFacts.maxDescriptors {
            text.gauge("process_max_fds", "Descriptors that may be open.", Double(count))
        }
        if let time = ProcessFacts.startTime {
            text.gauge("process_start_time_seconds", "When the process began, in seconds since 1970.", time)
        }
    }

    // MARK: /readyz

    /// Makes `/readyz` return 503 from now on. Requests are still served.
    func stop() { isStopping.store(true, ordering: .relaxed) }

    /// Returns only whether requests can be served, which everyone may know.
    func readiness(_ head: RequestHead) async -> Response {
        if isStopping.load(ordering: .relaxed) {
            return .json(["status": "stopping"], status: .serviceUnavailable)
        }
        if let concern = store.concerns.first(where: { $0.keepsFromServing && $0.kind.isBesideOthers }) {
            RequestContext.current?.note(Problem(.storageUnavailable, Message(verbatim: concern.description)))
            return .json(["status": "unavailable"], status: .serviceUnavailable)
        }
        if head.excludesDatabase { return .json(["status": "ok"]) }
        guard await store.probeWritable() else {
            let problem =
                if let known = store.databaseProblem {
                    Problem(.storageUnavailable, Message(verbatim: known))
                } else {
                    Problem(.storageUnavailable, "The database cannot be written.")
                }
            RequestContext.current?.note(problem)
            return .json(["status": "unavailable"], status: .serviceUnavailable)
        }
        return .json(["status": "ok"])
    }

    /// Returns the readiness with the problems found. A provider that is down or a missing key file does not make the
    /// server unready: people stay signed in, and the keys are in memory.
    func readinessInDetail(_ head: RequestHead) async -> Response {
        let isExcluded = head.excludesDatabase
        let isWritable = isExcluded ? true : await store.probeWritable()
        let isStopping = isStopping.load(ordering: .relaxed)
        let beside = store.concerns.filter(\.kind.isBesideOthers)
        let isFit = isWritable && !beside.contains(where: \.keepsFromServing)
        let providers = metrics.providers.all.compactMap { host, facts -> JSONValue? in
            let isKnown = facts.lastAnswer != nil || facts.lastFailure != nil
            guard host != "other" || isKnown else { return nil }
            return .members([
                "provider": .string(host),
                // The state after the last request to the provider.
                "status": .string(!isKnown ? "unknown" : facts.isFailing ? "failing" : "ok"),
                "last_answer": .text(facts.lastAnswer.map(Timeline.text)),
                "last_failure": .text(facts.lastFailure.map(Timeline.text)), "reason": .text(facts.reason),
            ])
        }
        let database =
            store.databaseProblem
            ?? (isWritable ? "ok" : "cannot be written: is the disk full, or the file held by another program?")
        return .json(
            [
                "status": isStopping ? "stopping" : isFit ? "ok" : "unavailable",
                "database": .string(isExcluded ? "excluded" : database),
                "key": .string(store.keyProblem ?? "ok"),
                "certificate": JSONValue(certificate.map { $0.problem ?? "ok" }),
                "beside_others": .string(beside.isEmpty ? "ok" : beside.map(\.description).joined(separator: " ")),
                "providers": .array(providers),
            ], status: isFit && !isStopping ? .ok : .serviceUnavailable)
    }
}

extension RequestHead {
    /// Whether a readiness check leaves out the database (`/readyz?exclude=database`, like Kubernetes' own
    /// `?exclude=etcd`). If several servers use one database and it fails, a load balancer would otherwise find none
    /// of them ready, and could not even serve what needs no database.
    fileprivate var excludesDatabase: Bool { query == "exclude=database" }
}
