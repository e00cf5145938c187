public import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
public import Logging
import WebFormats

/// An identity platform and Graph on loopback, to try everything offline, with failures on demand at `/control`.
public final class DemoTenant: Sendable {
    private let platform: Platform
    private let server: HTTPServer

    /// Reads or creates the state; `start()` then serves it.
    /// - Parameters:
    ///   - configuration: Address, applications, state file.
    ///   - workers: The event loop to serve on.
    ///   - logger: The destination of log lines about the tenant itself.
    public init(configuration: DemoTenantConfiguration, workers: WorkerGroup, logger: Logger) throws(DemoTenantError) {
        guard Loopback.contains(configuration.host) else {
            throw .hostIsNotLoopback(configuration.host)
        }
        platform = try Platform(configuration, logger: logger)
        var server = ServerConfiguration(
            host: configuration.listenHost ?? configuration.host, port: configuration.port,
            responseFields: Self.responseFields)
        server.certificate = configuration.certificate
        // Delays of up to ten minutes can be requested at `/control`.
        server.deadlines.handler = .seconds(660)
        self.server = HTTPServer(
            configuration: server, workers: workers,
            responder: DemoResponder(platform: platform, assets: Assets.make()), logger: logger)
    }

    /// Starts serving, and returns the port.
    public func start() async throws(DemoTenantError) -> Int {
        do {
            let port = try await server.start()
            platform.isServed(by: server, on: port)
            return port
        } catch {
            throw .cannotListen("\(error)")
        }
    }

    /// Stops serving. Requests under way get two seconds to finish.
    public func stop() async {
        await server.stop(grace: .seconds(2))
        // Wait for keys that are still being made, because the state must not be written later.
        _ = platform.state.keys
        platform.state.save()
    }

    /// `http://localhost:PORT`, or the configured public URL; PORT is known once `start()` has returned.
    public var baseURL: String { platform.baseURL }

    /// The authority that admits work, school and personal accounts: `http://localhost:PORT/common`.
    public var authority: String { "\(baseURL)/common" }

    /// The external tenant's authority: `http://localhost:PORT/fabrikam.example`.
    public var externalAuthority: String { "\(baseURL)/\(Tenant.fabrikamDomain)" }

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
    public var organizationIssuer: String { platform.issuer(ofTenant: Tenant.contoso) }

    /// Graph's resource for the signed-in user: `http://localhost:PORT/v1.0/me`.
    public var graphURL: String { "\(baseURL)/v1.0/me" }

    /// The security headers of every response.
    private static let responseFields: HTTPFields = {
        var fields: HTTPFields = [.contentSecurityPolicy: PagePolicy.text(), .xContentTypeOptions: "nosniff"]
        // Not no-referrer, because browsers would then send `Origin: null` with the tenant's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "same-origin" }
        return fields
    }()
}
