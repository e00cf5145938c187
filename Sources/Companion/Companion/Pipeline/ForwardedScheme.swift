import CompanionCore
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Synchronization

/// Reads in `X-Forwarded-Proto` whether a browser came by plain http, so that it is sent to https. The field has no other
/// effect on people.
final class ForwardedScheme: Sendable {
    /// The shortest interval between two lines of the log, in seconds: anybody may send such fields.
    private static let interval: TimeInterval = 3600

    /// The trusted proxies; empty if the public URL is plain http.
    private let fronts: [AddressRange]
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let loggedAt = Mutex<Date?>(nil)

    /// - Parameter now: the wall clock.
    init(configuration: CompanionConfiguration, logger: Logger, now: @escaping @Sendable () -> Date) {
        fronts = configuration.publicURL.isSecure ? configuration.trustedProxies : []
        self.logger = logger
        self.now = now
    }

    /// Whether the trusted proxies say that the browser came to the first of them without TLS.
    ///
    /// Each proxy appends the scheme by which it was contacted, as it appends the address to `X-Forwarded-For`. Where the
    /// values differ, the one beside the client's address counts: what stands further left the client itself may have
    /// written, and what stands further right is between the proxies. If the lists are not equally long, nobody can tell which
    /// one that is, and a redirect could lead back here for ever.
    func isPlain(_ head: RequestHead, from peer: PeerAddress) -> Bool {
        guard !fronts.isEmpty, let field = head[.xForwardedProto], fronts.contains(where: { $0.contains(peer) }) else {
            return false
        }
        let schemes = field.split(separator: ",", omittingEmptySubsequences: false).map { entry in
            entry.trimmingCharacters(in: .whitespaces).lowercased()
        }
        if schemes.allSatisfy({ $0 == schemes.first }) { return schemes.first == "http" }
        let way = ClientAddress.way(of: head, from: peer, trusting: fronts)
        guard way.entries == schemes.count else {
            reportMixed()
            return false
        }
        return schemes.suffix(way.hops).first == "http"
    }

    private func reportMixed() {
        let now = now()
        let isDue = loggedAt.withLock { last in
            // A clock that was set back must not silence it.
            if let time = last, (0..<Self.interval).contains(now.timeIntervalSince(time)) { return false }
            last = now
            return true
        }
        guard isDue else { return }
        logger.warning(
            "A trusted proxy sends different values in X-Forwarded-Proto and another number of them than in X-Forwarded-For, so requests are not redirected from http to https. Let each proxy append to both fields, or replace both."
        )
    }
}
