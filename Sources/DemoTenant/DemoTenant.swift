import EventLoop
import Foundation
import Logging

/// An identity platform and Graph on loopback: everything can be tried offline, with failures on demand at `/control`.
public final class DemoTenant: Sendable {
    private let configuration: DemoTenantConfiguration

    /// Reads or makes the state; `start()` then serves it.
    public init(configuration: DemoTenantConfiguration, workers: WorkerGroup, logger: Logger) throws(DemoTenantError) {
        self.configuration = configuration
    }

    /// Begins to serve, and returns the port.
    public func start() async throws(DemoTenantError) -> Int {
        throw .cannotListen("the server is not built in yet")
    }

    /// Ends serving: what is under way may take a few seconds to finish.
    public func stop() async {}

    /// `http://localhost:PORT`; PORT is known once `start()` has returned.
    public var baseURL: String { "http://\(configuration.host):\(configuration.port)" }

    /// The authority that admits work, school and personal accounts: `http://localhost:PORT/common`.
    public var authority: String { "\(baseURL)/common" }

    /// Graph's answer about the signed-in user: `http://localhost:PORT/v1.0/me`.
    public var graphURL: String { "\(baseURL)/v1.0/me" }
}
