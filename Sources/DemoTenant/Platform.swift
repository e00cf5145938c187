import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
import Logging
import Synchronization
import WebFormats

/// The objects that all endpoints share: the registered applications, the state, the controls and the base URL.
final class Platform: Sendable {
    let host: String
    let servesOthers: Bool
    let clients: [String: DemoClient]
    let state: TenantState
    let controls = Controls()
    let journal = ClientJournal()
    let now: @Sendable () -> Date
    let randomBytes: @Sendable (Int) -> [UInt8]
    let languages: Languages
    let logger: Logger
    let isAtKiosk: Bool
    let onExchange: (@Sendable (Request, Response) -> Void)?
    private let listening: Mutex<Listening>

    private struct Listening {
        var port: Int
        /// Weak, because the server retains its responder, and so this object.
        weak var server: HTTPServer?
    }

    init(_ configuration: DemoTenantConfiguration, logger: Logger) throws(DemoTenantError) {
        host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        servesOthers = configuration.servesOthers
        clients = Dictionary(configuration.clients.map { ($0.id.lowercased(), $0) }) { $1 }
        now = configuration.now
        randomBytes = configuration.randomBytes
        onExchange = configuration.onExchange
        isAtKiosk = configuration.isAtKiosk
        do {
            languages = try Languages(folder: configuration.publicFolder + "/languages/demo", cookieName: "")
            try languages.requireSameSentences()
        } catch {
            throw .texts("\(error)")
        }
        self.logger = logger
        listening = Mutex(Listening(port: configuration.port))
        state = try TenantState(
            path: configuration.stateFile, randomBytes: configuration.randomBytes,
            makeKeys: configuration.makeSigningKeys, logger: logger)
    }

    /// Sets the server and its port.
    func isServed(by server: HTTPServer, on port: Int) {
        listening.withLock { $0 = Listening(port: port, server: server) }
    }

    /// Makes clients open new connections. Many clients silently repeat a request if a connection that they used before
    /// is closed, so only on a new connection do they notice a missing response.
    func closeIdleConnections() async { await listening.withLock { $0.server }?.closeIdleConnections() }

    /// Returns the person's current display name, which B2C's profile page can change.
    func displayName(of account: DemoAccount) -> String {
        state.read { $0.displayNames?[account.username] } ?? account.displayName
    }

    /// The URL of the tenant, which never comes from a request's `Host`.
    var baseURL: String { "http://\(host):\(listening.withLock { $0.port })" }

    /// Returns a random GUID (RFC 9562 version 4), in lower case.
    func newID() -> String { RandomUUID.text(randomBytes(16)) }
}

/// One request at an identity endpoint, with its identifiers for logs and errors.
struct Exchange {
    let request: Request
    let diagnostics: Diagnostics
    /// The parameters: from the body for POST, otherwise from the query.
    let fields: FormFields

    init(_ request: Request, platform: Platform) throws(PlatformError) {
        self.request = request
        do {
            fields =
                request.head.method == .post
                ? try FormFields(body: request.body) : try FormFields(query: request.head.query ?? "")
        } catch {
            throw .malformedRequest
        }
        diagnostics = Diagnostics(request, fields, platform: platform)
    }
}

/// The identifiers that support asks for. They are new for each request, except that a caller's correlation ID is kept
/// if it is a GUID.
struct Diagnostics {
    let traceID: String
    let correlationID: String
    let time: Date

    init(_ request: Request, _ fields: FormFields?, platform: Platform) {
        traceID = platform.newID()
        let asked = HTTPField.Name("client-request-id").flatMap { request.head[$0] } ?? fields?["client-request-id"]
        correlationID = asked.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? platform.newID()
        time = platform.now()
        ClientNote.change { $0.correlationID = correlationID }
    }

    /// The time in the form `2026-01-31 23:59:59Z`.
    var timestamp: String { time.formatted(.iso8601.dateTimeSeparator(.space)) }

    /// Returns `AADSTS…: … Trace ID: … Correlation ID: … Timestamp: …`.
    func describe(_ error: PlatformError) -> String {
        ClientNote.change { $0.error = "\(error.prefix)\(error.number)" }
        return "\(error.prefix)\(error.number): \(error.message) Trace ID: \(traceID) Correlation ID: \(correlationID) "
            + "Timestamp: \(timestamp)"
    }
}
