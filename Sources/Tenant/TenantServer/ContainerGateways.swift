import Foundation
import HTTPServer

/// The addresses from which a container is reached through the ports that are published on its host.
enum ContainerGateways {
    /// Returns the gateway of each default route of this machine.
    static func ofThisMachine() -> Set<PeerAddress.Network> {
        read((try? String(contentsOfFile: "/proc/net/route", encoding: .ascii)) ?? "")
    }

    /// - Parameter routes: The text of `/proc/net/route`: after the interface's name the destination and the gateway, in
    ///   hexadecimal digits of the machine's byte order (little-endian), and the mask as the eighth column.
    static func read(_ routes: String) -> Set<PeerAddress.Network> {
        var networks: Set<PeerAddress.Network> = []
        for line in routes.split(separator: "\n") {
            let columns = line.split(whereSeparator: \.isWhitespace)
            guard columns.count >= 8, columns[1] == "00000000", columns[7] == "00000000",
                let gateway = UInt32(columns[2], radix: 16), gateway != 0
            else { continue }
            let bytes = withUnsafeBytes(of: gateway.littleEndian, Array.init)
            let address = (bytes[0], bytes[1], bytes[2], bytes[3])
            networks.insert(PeerAddress(ipv4: address, port: 0).network)
            // In slirp4netns, podman's network without root, requests from the host come from the container's own address.
            if address == (10, 0, 2, 2) { networks.insert(PeerAddress(ipv4: (10, 0, 2, 100), port: 0).network) }
        }
        return networks
    }
}

extension DemoTenantConfiguration {
    /// Whether a machine is served. While everyone knows the accounts' passwords, those are this machine and, if it is a
    /// container, the one on which the container runs.
    func serves(_ peer: PeerAddress) -> Bool {
        if peer.isLoopback { return true }
        guard listensBeyondLoopback else { return false }
        // A container may get its network after the tenant has started.
        return !hasDemoAccounts || containerGateways().contains(peer.network)
    }
}
