import EventLoop
import Foundation
import HTTPServer
import HTTPTypes
import Logging

/// An identity platform and Graph on loopback: everything can be tried offline, with failures on demand at `/control`.
public final class DemoTenant: Sendable {
    private let platform: Platform
    private let server: HTTPServer

    /// Reads or makes the state; `start()` then serves it.
    /// - Parameters:
    ///   - configuration: Address, applications, state file.
    ///   - workers: The event loop to serve on.
    ///   - logger: For what goes wrong in the tenant itself.
    public init(configuration: DemoTenantConfiguration, workers: WorkerGroup, logger: Logger) throws(DemoTenantError) {
        guard
            DemoResponder.isLoopback(
                host: configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host)
        else { throw .hostIsNotLoopback(configuration.host) }
        platform = try Platform(configuration, logger: logger)
        var server = ServerConfiguration(
            host: configuration.host, port: configuration.port,
            responseFields: Self.responseFields(configuration.clients))
        // Delays are asked for on purpose, up to ten minutes.
        server.deadlines.handler = .seconds(660)
        self.server = HTTPServer(
            configuration: server, workers: workers,
            responder: DemoResponder(platform: platform, assets: Assets.make()), logger: logger)
    }

    /// Begins to serve, and returns the port.
    public func start() async throws(DemoTenantError) -> Int {
        do {
            let port = try await server.start()
            platform.isServed(by: server, on: port)
            return port
        } catch {
            throw .cannotListen("\(error)")
        }
    }

    /// Ends serving: what is under way may take two seconds to finish.
    public func stop() async {
        await server.stop(grace: .seconds(2))
        platform.state.save()
    }

    /// `http://localhost:PORT`; PORT is known once `start()` has returned.
    public var baseURL: String { platform.baseURL }

    /// The authority that admits work, school and personal accounts: `http://localhost:PORT/common`.
    public var authority: String { "\(baseURL)/common" }

    /// Graph's answer about the signed-in user: `http://localhost:PORT/v1.0/me`.
    public var graphURL: String { "\(baseURL)/v1.0/me" }

    /// Security headers of every response. `form-action` names the applications' origins too: browsers hold to it the
    /// redirect that follows a form.
    private static func responseFields(_ clients: [DemoClient]) -> HTTPFields {
        var origins: Set<String> = []
        for uri in clients.flatMap({ $0.redirectURIs + $0.postLogoutRedirectURIs }) {
            guard let url = URLComponents(string: uri), let scheme = url.scheme, let host = url.host,
                ["http", "https"].contains(scheme)
            else { continue }
            origins.insert("\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")")
        }
        let formAction = (["'self'"] + origins.sorted()).joined(separator: " ")
        var fields: HTTPFields = [
            .contentSecurityPolicy: "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; "
                + "form-action \(formAction); base-uri 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        // Not no-referrer: that would make browsers send `Origin: null` with the tenant's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "same-origin" }
        return fields
    }
}
