import CompanionCore
import HTTPServer
import HTTPTypes
import HTTPWire

/// The listener of `metrics.listen`: monitoring and nothing else, for anyone who reaches the address that the operator
/// named.
struct MonitoringResponder: Responder {
    let report: MonitoringReport

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        guard head.method == .get || head.method == .head else {
            return .response(Response(status: .methodNotAllowed, headerFields: [.allow: "GET, HEAD"], body: []))
        }
        switch head.path {
        case "/metrics": return .handler(maxBodyBytes: 0) { _ in await report.metricsResponse() }
        case "/readyz": return .handler(maxBodyBytes: 0) { await report.readinessInDetail($0.head) }
        case "/healthz": return .response(.json(["status": "ok"]))
        default: return .response(Response(status: .notFound, headerFields: [:], body: []))
        }
    }
}

extension ServerConfiguration {
    /// The listener of `metrics.listen`: few clients, and nothing that a browser should keep.
    init(monitoring address: ListenAddress) {
        self.init(
            host: address.host, port: address.port, responseFields: [.xContentTypeOptions: "nosniff"])
        limits.maxConnections = 64
    }
}
