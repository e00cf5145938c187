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
    private let configuration: DemoTenantConfiguration
    let registrations: Registrations
    let directory: Directory
    let scopes: Scopes
    let state: TenantState
    let controls = Controls()
    /// The time when the tenant was started.
    let startTime: Date
    let journal = ClientJournal()
    /// The devices whose people sign in in a browser.
    let devices = Mutex(DeviceSignIns())
    /// The profile photos that have been drawn.
    let photos = Mutex<[Portrait: [UInt8]]>([:])
    let languages: Languages
    let logger: Logger
    private let listening: Mutex<Listening>

    private struct Listening {
        var origins: Origins
        /// Weak, because the server retains its responder, and so this object.
        weak var server: HTTPServer?
    }

    init(_ configuration: DemoTenantConfiguration, logger: Logger) throws(DemoTenantError) {
        self.configuration = configuration
        startTime = configuration.now()
        registrations = try Registrations(configuration.clients)
        scopes = Scopes(registrations.all)
        directory = try Directory(
            users: configuration.users, groups: configuration.groups,
            hasDemoAccounts: configuration.hasDemoAccounts, clients: configuration.clients)
        do {
            languages = try Languages(folder: configuration.publicFolder + "/languages/demo", cookieName: "")
            try languages.requireSameSentences()
        } catch {
            throw .texts("\(error)")
        }
        self.logger = logger
        listening = Mutex(Listening(origins: configuration.origins(port: configuration.port)))
        state = try TenantState(
            path: configuration.stateFile, randomBytes: configuration.randomBytes,
            makeKeys: configuration.makeSigningKeys, logger: logger)
    }

    /// Sets the server and its port.
    func isServed(by server: HTTPServer, on port: Int) {
        let origins = configuration.origins(port: port)
        listening.withLock { $0 = Listening(origins: origins, server: server) }
    }

    /// Makes clients open new connections. Many clients silently repeat a request if a connection that they used before
    /// is closed, so only on a new connection do they notice a missing response.
    func closeIdleConnections() async { await listening.withLock { $0.server }?.closeIdleConnections() }

    /// Returns the person's current display name, which B2C's profile page can change.
    func displayName(of account: DemoAccount) -> String {
        state.read { $0.displayNames?[account.username] } ?? account.displayName
    }

    /// The origins under which the tenant is reached.
    var origins: Origins { listening.withLock { $0.origins } }

    /// The URL of the tenant as the request named it, or else its main one.
    var baseURL: String { Origins.current ?? origins.main }

    /// Whether other computers are served too.
    var servesOthers: Bool { configuration.servesOthers }
    /// The policies of authentication contexts.
    var contexts: [String: ContextPolicy] { configuration.contexts }
    var controlToken: String? { configuration.controlToken }
    var hasPublicURL: Bool { configuration.publicURL != nil }
    var kioskURL: String? { configuration.kioskURL }
    /// Whether devices can sign in by a code. Not at a kiosk: no application would sign the person out of its browser.
    var offersDeviceSignIn: Bool { kioskURL == nil }
    var onExchange: (@Sendable (Request, Response) -> Void)? { configuration.onExchange }

    func now() -> Date { configuration.now() }

    func randomBytes(_ count: Int) -> [UInt8] { configuration.randomBytes(count) }

    /// Returns a random GUID (RFC 9562 version 4), in lower case.
    func newID() -> String { RandomUUID.text(randomBytes(16)) }
}

extension DemoTenantConfiguration {
    fileprivate func origins(port: Int) -> Origins {
        Origins(
            scheme: certificate == nil ? "http" : "https", host: host.contains(":") ? "[\(host)]" : host, port: port,
            publicURL: publicURL)
    }
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
