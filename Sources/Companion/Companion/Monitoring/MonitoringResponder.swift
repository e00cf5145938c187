import CompanionCore
import HTTPServer
import HTTPTypes
import HTTPWire

/// Serves the listener of `metrics.listen`: monitoring and nothing else, for everyone who can reach the configured
/// address.
struct MonitoringResponder: Responder {
    let report: MonitoringReport

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        guard head.method == .get || head.method == .head else {
            return .response(Response(status: .methodNotAllowed, headerFields: [.allow: "GET, HEAD"], body: []))
        }
        switch head.path {
        case "/metrics": return .handler(maxBodyBytes: 0) { _ in await report.metricsResponse() }
        case "/readyz": return .handler(maxBodyBytes: 0) { await report.readinessInDetail($0.head) }
        case "/healthz": return .response(.json(ServerEndpoints.alive))
        default: return .response(Response(status: .notFound, headerFields: [:], body: []))
        }
    }
}

extension ServerConfiguration {
    /// Configures the listener of `metrics.listen` for few clients and responses that no browser should store.
    init(monitoring address: ListenAddress) {
        self.init(
            host: address.host, port: address.port, responseFields: [.xContentTypeOptions: "nosniff"])
        limits.maxConnections = 64
    }
}
