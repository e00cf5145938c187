import CompanionCore
import CompanionSignIn
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire

/// Finds the address of the client that sent a request.
enum ClientAddress {
    /// Returns the peer's address, or behind trusted proxies the last entry of `X-Forwarded-For` that is not one of
    /// them. Each proxy appends the address that it was contacted from. Anything that the client itself claims
    /// therefore stands further left and is ignored. If an entry cannot be parsed, the result is the address of the
    /// proxy that wrote it.
    static func of(_ head: RequestHead, from peer: PeerAddress, trusting fronts: [AddressRange]) -> PeerAddress {
        way(of: head, from: peer, trusting: fronts).client
    }

    /// Returns the client's address, the number of entries from the last one to the client's, and the number of all. Without a
    /// trusted peer or the field both numbers are 0.
    static func way(
        of head: RequestHead, from peer: PeerAddress, trusting fronts: [AddressRange]
    ) -> (client: PeerAddress, hops: Int, entries: Int) {
        func isFront(_ address: PeerAddress) -> Bool { fronts.contains { $0.contains(address) } }
        guard isFront(peer), let field = head[.xForwardedFor] else { return (peer, 0, 0) }
        let entries = field.split(separator: ",", omittingEmptySubsequences: false)
        var known = peer
        for (index, entry) in entries.reversed().enumerated() {
            let text = entry.trimmingCharacters(in: .whitespaces)
            guard let address = PeerAddress(forwarded: text[...]) else { return (known, index + 1, entries.count) }
            known = address
            guard isFront(known) else { return (known, index + 1, entries.count) }
        }
        return (known, entries.count, entries.count)
    }
}
