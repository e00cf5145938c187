import HTTPTypes
import HTTPWire
import Logging
import Synchronization

/// The state that all workers of one server share; immutable except for the counts of connections.
final class SharedState: Sendable {
    let configuration: ServerConfiguration
    let responder: any Responder
    let logger: Logger
    let contentFields: ContentFields
    private let maxConnections: Int
    private let connections = Atomic<Int>(0)
    /// The number of connections of each counted address that has any.
    private let byNetwork = Mutex<[PeerAddress.Network: Int]>([:])

    init(configuration: ServerConfiguration, maxConnections: Int, responder: any Responder, logger: Logger) {
        self.configuration = configuration
        self.maxConnections = maxConnections
        self.responder = responder
        self.logger = logger
        contentFields = ContentFields(configuration)
    }

    var connectionCount: Int { connections.load(ordering: .relaxed) }

    /// Reserves a connection; returns false at the limit.
    func reserveConnection() -> Bool {
        guard connections.wrappingAdd(1, ordering: .relaxed).newValue > maxConnections else { return true }
        releaseConnection()
        return false
    }

    /// Whether the peer's connections are counted.
    func isLimited(_ peer: PeerAddress) -> Bool {
        guard let limit = configuration.addressLimit else { return false }
        return !limit.isExempt(peer)
    }

    /// Whether the peer, which is limited, may have one more connection; if so, counts it until `leave`. If not, the
    /// caller closes a connection.
    func admit(_ peer: PeerAddress) -> Bool {
        guard let limit = configuration.addressLimit else { return true }
        let isAdmitted = byNetwork.withLock { counts in
            let count = counts[peer.network, default: 0]
            guard count < limit.maxConnections else { return false }
            counts[peer.network] = count + 1
            return true
        }
        if !isAdmitted { limit.onRefusal(peer) }
        return isAdmitted
    }

    /// Stops counting a connection of a peer that was admitted.
    func leave(_ peer: PeerAddress) {
        byNetwork.withLock { counts in
            let count = counts[peer.network, default: 0] - 1
            counts[peer.network] = count > 0 ? count : nil
        }
    }

    /// Returns a response of the server itself: in the application's form, or as a short problem (RFC 9457).
    func errorResponse(_ status: HTTPResponse.Status, _ detail: String) -> Response {
        guard var response = configuration.errorBody?(status, detail) else {
            // The texts are constants and need no escaping.
            let problem =
                #"{"type":"about:blank","title":"\#(status.reasonPhrase)","status":\#(status.code),"#
                + #""detail":"\#(detail)"}"#
            let fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
            return Response(status: status, headerFields: fields, body: Array(problem.utf8))
        }
        response.status = status
        return response
    }

    func releaseConnection() { connections.wrappingSubtract(1, ordering: .relaxed) }
}
