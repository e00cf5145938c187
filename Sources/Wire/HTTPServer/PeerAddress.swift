import Foundation

/// The other end of a connection: an IP address and a port, in 20 bytes.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64
    /// The TCP port.
    public let port: UInt16
    /// Whether this is an IPv4 address, including IPv4-mapped IPv6.
    public let isIPv4: Bool

    /// Creates an IPv4 address.
    /// - Parameters:
    ///   - ipv4: Its four bytes, in the order in which they are written.
    ///   - port: The TCP port.
    public init(ipv4: (UInt8, UInt8, UInt8, UInt8), port: UInt16) {
        high = 0
        low = UInt64(ipv4.0) << 24 | UInt64(ipv4.1) << 16 | UInt64(ipv4.2) << 8 | UInt64(ipv4.3)
        self.port = port
        isIPv4 = true
    }

    /// Reads an address that a proxy wrote into `X-Forwarded-For`: IPv4 or IPv6, the latter with or without brackets,
    /// both with or without a port; nil for anything else.
    /// - Parameter text: The address, without spaces around it.
    public init?(forwarded text: Substring) {
        // The greatest length of an IPv6 address with brackets and port. C functions see no other bytes than these.
        guard text.utf8.count <= 56, text.utf8.allSatisfy(Self.isOfAddress) else { return nil }
        var address = text
        var rest: Substring = ""
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            address = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            address = text[..<colon]
            rest = text[colon...]
        }
        guard rest.isEmpty || rest.first == ":", let port = rest.isEmpty ? 0 : UInt16(rest.dropFirst()) else {
            return nil
        }
        var storage = sockaddr_storage()
        var ipv4 = sockaddr_in()
        var ipv6 = sockaddr_in6()
        if text.first != "[", inet_pton(AF_INET, String(address), &ipv4.sin_addr) == 1 {
            ipv4.sin_family = sa_family_t(AF_INET)
            ipv4.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: ipv4, as: sockaddr_in.self) }
        } else if inet_pton(AF_INET6, String(address), &ipv6.sin6_addr) == 1 {
            ipv6.sin6_family = sa_family_t(AF_INET6)
            ipv6.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: ipv6, as: sockaddr_in6.self) }
        } else {
            return nil
        }
        self.init(&storage)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"):
            true
        default: false
        }
    }

    /// The network of one customer: an IPv4 address, or the 2^64 IPv6 addresses that share their first half.
    public struct Network: Sendable, Hashable {
        fileprivate let bits: UInt64
        fileprivate let isIPv4: Bool

        /// Bytes that are different for every network.
        public var bytes: [UInt8] { withUnsafeBytes(of: bits.bigEndian) { [isIPv4 ? 4 : 6] + $0 } }
    }

    /// The network by which clients are counted.
    public var network: Network { Network(bits: isIPv4 ? low : high, isIPv4: isIPv4) }

    /// The IPv6 network of one organisation, a /48 (RFC 6177) with 65,536 customer networks; nil for IPv4.
    public var site: Network? { isIPv4 ? nil : Network(bits: high & ~0xFFFF, isIPv4: false) }

    /// Reads the address that `accept4` returned; nil for an address family other than IP.
    init?(_ storage: inout sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            let address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self) }
            high = 0
            low = UInt64(UInt32(bigEndian: address.sin_addr.s_addr))
            port = UInt16(bigEndian: address.sin_port)
            isIPv4 = true
        case AF_INET6:
            let address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
            let (upper, lower) = withUnsafeBytes(of: address.sin6_addr) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let isMapped = upper == 0 && lower >> 32 == 0xFFFF
            high = isMapped ? 0 : upper
            low = isMapped ? lower & 0xFFFF_FFFF : lower
            port = UInt16(bigEndian: address.sin6_port)
            isIPv4 = isMapped
        default:
            return nil
        }
    }

    /// 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        isIPv4 ? low >> 24 == 127 : high == 0 && low == 1
    }

    /// Whether the host of a `Host` field, with or without a port, is this address; never for a name.
    public func isNamed(by authority: String) -> Bool {
        PeerAddress(forwarded: authority[...])?.addressBytes == addressBytes
    }

    /// The address's bytes in network order: 4 or 16.
    public var addressBytes: [UInt8] {
        let words = isIPv4 ? [] : withUnsafeBytes(of: high.bigEndian, Array.init)
        let tail = withUnsafeBytes(of: low.bigEndian, Array.init)
        return isIPv4 ? Array(tail.suffix(4)) : words + tail
    }

    /// The address as text (RFC 5952), without the port.
    public var ip: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let bytes = addressBytes
        let known = bytes.withUnsafeBytes {
            inet_ntop(isIPv4 ? AF_INET : AF_INET6, $0.baseAddress, &text, socklen_t(text.count)) != nil
        }
        return known ? text.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } : "?"
    }

    /// The address and the port, in the form used in a URL.
    public var description: String { isIPv4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
