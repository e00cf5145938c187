import EventLoop
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import TenantServer

/// Serves a root in plain http. Over https, only those could fetch it who trust it already. It may run where the clients
/// are not, for example in a container.
final class RootServer: Sendable {
    /// The path of the root.
    static let path = "/root.pem"

    private let server: HTTPServer
    /// The root's address.
    let url: String

    private init(_ server: HTTPServer, host: String, port: Int) {
        self.server = server
        // In a container the published port is on the machine's own loopback interface.
        url = "http://\(host == "::1" ? "[::1]" : "localhost"):\(port)\(Self.path)"
    }

    /// Listens on the next port, or on any free one if that is taken.
    static func start(
        _ root: [UInt8], host: String, after port: Int, workers: WorkerGroup, logger: Logger
    ) async throws(ServerError) -> RootServer {
        func start(_ port: Int) async throws(ServerError) -> RootServer {
            var configuration = ServerConfiguration(host: host, port: port)
            configuration.addressLimit = ServerConfiguration.AddressLimit(
                maxConnections: DemoTenantConfiguration.connectionsOfOneAddress)
            let server = HTTPServer(
                configuration: configuration, workers: workers,
                responder: RootResponder(root), logger: logger)
            return RootServer(server, host: host, port: try await server.start())
        }
        do throws(ServerError) {
            return try await start(port < 65535 ? port + 1 : 0)
        } catch {
            return try await start(0)
        }
    }

    func stop() async { await server.stop(grace: .zero) }
}

private struct RootResponder: Responder {
    private let asset: Asset

    init(_ root: [UInt8]) { asset = Asset(body: root, contentType: "application/x-x509-ca-cert") }

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        guard head.path == RootServer.path else {
            return .response(Response(status: .notFound, body: Array("The root is at \(RootServer.path)\n".utf8)))
        }
        return .asset(asset)
    }
}
