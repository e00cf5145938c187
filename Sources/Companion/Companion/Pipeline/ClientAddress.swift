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
        func isFront(_ address: PeerAddress) -> Bool { fronts.contains { $0.contains(address) } }
        guard isFront(peer), let field = head[.xForwardedFor] else { return peer }
        var known = peer
        for entry in field.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            let text = entry.trimmingCharacters(in: .whitespaces)
            guard let address = PeerAddress(forwarded: text[...]) else { return known }
            known = address
            guard isFront(known) else { return known }
        }
        return known
    }
}

extension HTTPField.Name {
    /// The chain of addresses that proxies append.
    static let xForwardedFor = literal("x-forwarded-for")
}
