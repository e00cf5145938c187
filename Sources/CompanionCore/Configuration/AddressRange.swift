import Foundation
package import HTTPServer

/// A network in CIDR notation (RFC 4632), as `10.0.0.0/8` or `fd00::/8`; a lone address is a network of one.
package struct AddressRange: Sendable, Equatable {
    private let bytes: [UInt8]
    private let prefixBits: Int

    /// Takes CIDR notation; nil when it is none.
    package init?(_ text: String) {
        // No network is written longer.
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = parts.first, let bytes = AddressRange.bytes(of: String(address)), parts.count <= 2 else {
            return nil
        }
        var prefixBits = bytes.count * 8
        if parts.count == 2 {
            guard let bits = Int(digits: parts[1]), (0...prefixBits).contains(bits) else { return nil }
            prefixBits = bits
        }
        // As peers' addresses are: one of IPv4, however it is written, is one of IPv4.
        let isMapped = bytes.count == 16 && prefixBits >= 96 && bytes.starts(with: AddressRange.mappedPrefix)
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        self.prefixBits = isMapped ? prefixBits - 96 : prefixBits
    }

    /// Whether an address, as text, lies in the network.
    package func contains(_ address: String) -> Bool {
        AddressRange.bytes(of: address).map(contains) ?? false
    }

    /// Whether a peer's address lies in the network.
    package func contains(_ peer: PeerAddress) -> Bool { contains(peer.addressBytes) }

    private func contains(_ other: [UInt8]) -> Bool {
        guard other.count == bytes.count else { return false }
        for (index, (mine, theirs)) in zip(bytes, other).enumerated() {
            let bits = min(max(prefixBits - index * 8, 0), 8)
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            guard mine & mask == theirs & mask else { return false }
        }
        return true
    }

    /// Whether its addresses are IPv6's.
    var isIPv6: Bool { bytes.count == 16 }

    /// Whether it is every address there is.
    package var isEverything: Bool { prefixBits == 0 }

    /// Whether it is larger than one network of a few machines: more than a /24 of IPv4 or a /64 of IPv6. All of 127.0.0.0/8
    /// is this machine.
    package var isTooWide: Bool {
        if isIPv6 { return prefixBits < 64 }
        return prefixBits < 24 && !(prefixBits >= 8 && bytes.first == 127)
    }

    /// Of the addresses of IPv4 that are written as such of IPv6 (RFC 4291 section 2.5.5.2).
    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    private static func bytes(of address: String) -> [UInt8]? {
        var ipv4 = in_addr()
        if inet_pton(AF_INET, address, &ipv4) == 1 { return withUnsafeBytes(of: &ipv4) { Array($0) } }
        var ipv6 = in6_addr()
        if inet_pton(AF_INET6, address, &ipv6) == 1 { return withUnsafeBytes(of: &ipv6) { Array($0) } }
        return nil
    }
}
