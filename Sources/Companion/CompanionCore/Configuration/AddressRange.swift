import Foundation
package import HTTPServer

/// A network in CIDR notation (RFC 4632), such as `10.0.0.0/8` or `fd00::/8`. A single address is a network of one.
package struct AddressRange: Sendable, Equatable {
    private let bytes: [UInt8]
    private let prefixBits: Int

    /// Parses CIDR notation; returns nil if the text is not in that form.
    package init?(_ text: String) {
        // No valid network has a longer notation.
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
        // An IPv4-mapped IPv6 network becomes an IPv4 network, because peers' addresses are normalized in the same way.
        let isMapped = bytes.count == 16 && prefixBits >= 96 && bytes.starts(with: AddressRange.mappedPrefix)
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        self.prefixBits = isMapped ? prefixBits - 96 : prefixBits
    }

    /// Whether the network contains an address, given as text.
    package func contains(_ address: String) -> Bool {
        AddressRange.bytes(of: address).map(contains) ?? false
    }

    /// Whether the network contains a peer's address.
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

    /// Whether this is an IPv6 network.
    var isIPv6: Bool { bytes.count == 16 }

    /// Whether the network contains every address.
    package var isEverything: Bool { prefixBits == 0 }

    /// Whether the network is larger than one site usually needs: more than a /24 of IPv4 or a /64 of IPv6. Networks
    /// within 127.0.0.0/8 are not, because they contain only this machine.
    package var isTooWide: Bool {
        if isIPv6 { return prefixBits < 64 }
        return prefixBits < 24 && !(prefixBits >= 8 && bytes.first == 127)
    }

    /// The prefix of IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2).
    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    private static func bytes(of address: String) -> [UInt8]? {
        var ipv4 = in_addr()
        if inet_pton(AF_INET, address, &ipv4) == 1 { return withUnsafeBytes(of: &ipv4) { Array($0) } }
        var ipv6 = in6_addr()
        if inet_pton(AF_INET6, address, &ipv6) == 1 { return withUnsafeBytes(of: &ipv6) { Array($0) } }
        return nil
    }
}
