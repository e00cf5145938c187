public import EventLoop
import FileLocking
import Foundation
import HTTPServer
import HTTPTypes
public import Logging
import TenantControl
public import TenantDirectory
import TenantSignIn
package import WebFormats

/// An identity platform and Graph on loopback, to try everything offline, with failures on demand at `/control`.
public final class DemoTenant: Sendable {
    private let configuration: DemoTenantConfiguration
    private let stateLock: FileLock?
    let platform: Platform
    private let server: HTTPServer
    let layout: PageLayout
    private let announcement: Later<@Sendable () -> JSONValue>
    /// Closes the connections of the server, which is made after its responder.
    private let closing = Later<@Sendable () async -> Void>()

    /// Reads or creates the state; `start()` then serves it.
    /// - Parameters:
    ///   - configuration: Address, applications, state file.
    ///   - workers: The event loop to serve on.
    ///   - logger: The destination of log lines about the tenant itself.
    public init(configuration: DemoTenantConfiguration, workers: WorkerGroup, logger: Logger) throws(DemoTenantError) {
        guard Loopback.contains(configuration.host) else {
            throw .hostIsNotLoopback(configuration.host)
        }
        self.configuration = configuration
        stateLock = try configuration.stateFile.map(Self.lock)
        platform = try Platform(configuration, logger: logger)
        let announcement = Later<@Sendable () -> JSONValue>()
        self.announcement = announcement
        var server = ServerConfiguration(
            host: configuration.listenHost ?? configuration.host, port: configuration.port,
            responseFields: Self.responseFields)
        server.certificate = configuration.certificate
        // Through a proxy, everyone comes from this machine.
        let isBehindProxy = configuration.publicURL != nil
        server.addressLimit = ServerConfiguration.AddressLimit(
            maxConnections: configuration.connectionsOfOneAddress, isExempt: { isBehindProxy && $0.isLoopback })
        // Delays of up to ten minutes can be requested at `/control`.
        server.deadlines.handler = .seconds(660)
        // For a client that is gone meanwhile, nothing is redeemed.
        server.cancelsAtHalfClose = true
        let responder = try DemoResponder(
            configuration, platform: platform, announcement: announcement,
            closeIdleConnections: { [closing] in await closing.value?() })
        layout = responder.layout
        self.server = HTTPServer(
            configuration: server, workers: workers, responder: responder, logger: logger)
    }

    /// Only one tenant can use a state file: each would write its own state over the other's.
    private static func lock(_ stateFile: String) throws(DemoTenantError) -> FileLock {
        do throws(FileLock.Failure) {
            return try FileLock(beside: stateFile)
        } catch {
            let reason =
                switch error {
                case .taken: "another tenant works with it, and a file can have only one; stop that tenant first, or"
                case .impossible(let reason): "\(reason);"
                }
            throw .stateFile(path: stateFile, reason: "\(reason) \(DemoTenantError.otherStateFile)")
        }
    }

    /// Starts serving, and returns the port.
    public func start() async throws(DemoTenantError) -> Int {
        do {
            let port = try await server.start()
            platform.addresses.origins = configuration.origins(port: port)
            // Weak, because the server retains its responder.
            closing.value = { [weak server] in await server?.closeIdleConnections() }
            return port
        } catch {
            throw .cannotListen("\(error)")
        }
    }

    /// Answers `GET /control/announcement`.
    package func announce(_ make: @escaping @Sendable () -> JSONValue) { announcement.value = make }

    /// Stops serving, and lets another tenant have the state file. Requests under way get two seconds to finish.
    public func stop() async {
        await server.stop(grace: .seconds(2))
        // Wait for keys that are still being made, because the state must not be written later.
        _ = platform.state.keys
        await platform.state.save()
        stateLock?.release()
    }

    /// `http://localhost:PORT`, or the configured public URL; PORT is known once `start()` has returned.
    public var baseURL: String { platform.addresses.baseURL }

    /// The authority that admits work, school and personal accounts: `http://localhost:PORT/common`.
    public var authority: String { "\(baseURL)/common" }

    /// The external tenant's authority: `http://localhost:PORT/fabrikam.example`.
    public var externalAuthority: String { "\(baseURL)/\(Tenant.fabrikamDomain)" }

    /// The same at the tenant's own name: `https://fabrikam.ciamlogin.localhost:PORT/fabrikam.example`. Not every system
    /// finds names below `localhost` by itself.
    public var namedExternalAuthority: String {
        externalAuthority.replacing("://localhost", with: "://\(Tenant.fabrikamHost)", maxReplacements: 1)
    }

    /// The API of the external tenant's owner, and the scopes that it requires.
    public var externalAPI: String { "\(baseURL)/api/\(OwnAPI.external.rawValue)" }
    /// See ``externalAPI``.
    public let externalScopes = ["\(OwnAPI.external.audience)/\(OwnAPI.external.scope)"]

    /// The B2C tenant's user flow for signing up or in; its others are `b2c_1_edit_profile` and `b2c_1_reset`.
    public var b2cAuthority: String { "\(baseURL)/tfp/\(Tenant.fabrikamB2CDomain)/\(UserFlow.signIn.rawValue)" }
    /// The user flow for changing a profile.
    public let b2cEditProfilePolicy = UserFlow.editProfile.rawValue
    /// The user flow for setting a new password.
    public let b2cResetPasswordPolicy = UserFlow.resetPassword.rawValue

    /// The API of the B2C tenant's owner, and the scopes that it requires.
    public var b2cAPI: String { "\(baseURL)/api/\(OwnAPI.b2c.rawValue)" }
    /// See ``b2cAPI``.
    public let b2cScopes = ["\(OwnAPI.b2c.audience)/\(OwnAPI.b2c.scope)"]

    /// An organization's issuer, for generic OpenID Connect clients: `http://localhost:PORT/{GUID}/v2.0`.
    public var organizationIssuer: String { platform.addresses.issuer(ofTenant: Tenant.contoso) }

    /// Graph's resource for the signed-in user: `http://localhost:PORT/v1.0/me`.
    public var graphURL: String { "\(baseURL)/v1.0/me" }

    /// The security headers of every response.
    private static let responseFields: HTTPFields = [
        .contentSecurityPolicy: PagePolicy.text(), .xContentTypeOptions: "nosniff",
        // Not no-referrer, because browsers would then send `Origin: null` with the tenant's own forms.
        .referrerPolicy: "same-origin",
    ]
}

extension Platform {
    init(_ configuration: DemoTenantConfiguration, logger: Logger) throws(DemoTenantError) {
        let reference = try configuration.reference()
        let registrations = try Registrations(configuration.clients, reference: reference)
        self.init(
            directory: try Directory(
                users: configuration.users, groups: configuration.groups,
                hasDemoAccounts: configuration.hasDemoAccounts, clients: configuration.clients),
            registrations: registrations,
            state: try TenantState(
                path: configuration.stateFile, randomBytes: configuration.randomBytes,
                makeKeys: configuration.makeSigningKeys, sync: configuration.sync, logger: logger),
            configured: configuration.reader.map {
                RunTimeRegistry.Configured(
                    clients: configuration.clients, users: configuration.users, groups: configuration.groups,
                    hasDemoAccounts: configuration.hasDemoAccounts, reader: $0)
            },
            contexts: configuration.contexts, allowsPasswords: configuration.allowsPasswords,
            clock: TenantClock(now: configuration.now, randomBytes: configuration.randomBytes),
            addresses: Addresses(configuration.origins(port: configuration.port)), logger: logger)
    }
}

extension DemoTenantConfiguration {
    fileprivate func origins(port: Int) -> Origins {
        Origins(
            scheme: certificate == nil ? "http" : "https", host: host.contains(":") ? "[\(host)]" : host, port: port,
            publicURL: publicURL)
    }
}

extension DemoTenant {
    /// The applications that are registered now, without Microsoft's samples.
    package var clients: [DemoClient] { platform.registrations.all.filter { !DemoClient.samples.contains($0) } }

    /// Whether the built-in accounts are there.
    package var hasDemoAccounts: Bool { platform.directory.hasDemoAccounts }

    /// The people of the directory as the announcement has them, without those who signed up.
    package var announcedPeople: [JSONValue] { platform.directory.accounts.map(\.announced) }
}
