import CompanionCore
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// Decides who may read `/metrics` and the details of `/readyz`.
///
/// Behind a reverse proxy on the same machine, every client appears as a loopback peer. Many proxies add no header
/// field of their own and send `127.0.0.1` as the host (nginx does by default). Therefore the main listener refuses
/// everyone unless `public_url` is a loopback name, which it cannot be behind a proxy. `metrics.listen` then opens a
/// separate listener.
struct MonitoringAccess: Sendable {
    /// Header fields that a reverse proxy adds, or a browser that connects through one.
    private static let fieldsOfFronts: Set<String> = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-original-host",
    ]

    private let isOnMainListener: Bool

    init(configuration: CompanionConfiguration) {
        isOnMainListener =
            configuration.metricsListener == nil && Loopback.contains(configuration.publicURL.host)
    }

    /// Whether a request on the main listener comes from this machine itself.
    func allows(_ head: RequestHead, from peer: PeerAddress) -> Bool {
        guard isOnMainListener, peer.isLoopback, Loopback.contains(authority: head.host) else {
            return false
        }
        // Another site's page, open in a browser on this machine, may have sent the request.
        if let site = head[.secFetchSite], site != "none", site != "same-origin" { return false }
        return !head.headerFields.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded-") || MonitoringAccess.fieldsOfFronts.contains(name)
        }
    }
}
