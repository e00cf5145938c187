/// Hosts that always mean this machine: `localhost` and names below it (RFC 6761 section 6.3), 127.0.0.0/8 and `::1`.
/// Only for these are plain http, cookies without `Secure`, open monitoring and databases without TLS allowed.
public enum Loopback {
    /// - Parameter host: a name or an address without a port; an IPv6 address with or without brackets.
    public static func contains(_ host: some StringProtocol) -> Bool {
        let name = host.lowercased()
        if name == "localhost" || name == "::1" || name == "[::1]" { return true }
        if isBelowLocalhost(name) { return true }
        let octets = name.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127"
            && octets.allSatisfy { octet in
                octet.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(octet) != nil
            }
    }

    /// Whether the host of a `Host` field is loopback: with or without a port, an IPv6 address in brackets.
    public static func contains(authority: some StringProtocol) -> Bool {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            let rest = authority[authority.index(after: end)...]
            return (rest.isEmpty || rest.hasPrefix(":")) && contains(authority[...end])
        }
        return contains(authority.prefix { $0 != ":" })
    }

    /// Whether a name is below `localhost`. Resolvers that do not support such names ask the network.
    public static func isBelowLocalhost(_ name: some StringProtocol) -> Bool {
        let labels = name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.last == "localhost" && labels.allSatisfy { !$0.isEmpty }
    }
}
