import CompanionCore
import CompanionSignIn
import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire

/// Whose request it is, as far as its address says.
enum ClientAddress {
    /// The peer, or behind trusted fronts the last entry of `X-Forwarded-For` that is not one of them. Each front adds whom
    /// it has spoken with at the end, so that what a client says of itself stands before and is not looked at. Where an
    /// entry cannot be read, the front that wrote it is the last that is known.
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
    /// Whom each front has spoken with, the last one last.
    static let xForwardedFor = literal("x-forwarded-for")
}
