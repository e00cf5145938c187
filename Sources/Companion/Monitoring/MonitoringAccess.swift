import CompanionCore
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// Who may read `/metrics`, and what is wrong in `/readyz`.
///
/// A front on the same machine makes every client a loopback peer, and many fronts add no field of their own and name
/// `127.0.0.1` as the host (nginx does, left alone). So the main listener answers nobody as soon as `public_url` is
/// another name than this machine's, which is what a front needs; then `metrics.listen` opens a listener of its own.
struct MonitoringAccess: Sendable {
    /// Fields that a front or a browser on its way through one adds.
    private static let fieldsOfFronts: Set<String> = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-original-host",
    ]

    private let isOnMainListener: Bool

    init(configuration: CompanionConfiguration) {
        isOnMainListener =
            configuration.metricsListener == nil && Loopback.contains(configuration.publicURL.host)
    }

    /// Whether a request that came to the main listener comes from this machine itself.
    func allows(_ head: RequestHead, from peer: PeerAddress) -> Bool {
        guard isOnMainListener, peer.isLoopback, Loopback.contains(authority: head.host) else {
            return false
        }
        // A page of another site that a browser on this machine shows.
        if let site = head[.secFetchSite], site != "none", site != "same-origin" { return false }
        return !head.headerFields.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded-") || MonitoringAccess.fieldsOfFronts.contains(name)
        }
    }
}
