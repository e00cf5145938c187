import Foundation

/// Ports of 127.0.0.1 whose numbers a test has to tell before its servers are there, as redirect URIs do. From the moment
/// when they are chosen nobody else gets them, as long as this exists: its sockets are bound, and do not listen. A server
/// that sets SO_REUSEADDR, as ours and all usual ones do, can listen there; until then, connections are refused.
///
/// They are in a range that no other process of the tests has, below the ports that the kernel gives to clients.
public final class HeldPorts: Sendable {
    /// The first of the numbers, which follow each other.
    public let first: Int
    private let sockets: [Int32]

    /// Takes free ports.
    public init(_ count: Int = 1) throws {
        let range = try Self.range.get()
        for first in range.shuffled() where first + count <= range.upperBound {
            let sockets = (first..<(first + count)).compactMap(Self.bind)
            if sockets.count == count {
                self.first = first
                self.sockets = sockets
                return
            }
            for socket in sockets { close(socket) }
        }
        throw POSIXError(.EADDRINUSE)
    }

    deinit { for socket in sockets { close(socket) } }

    /// The shares of the ports; Tests/ports.py reads them, too.
    private struct Shares: Decodable {
        struct Share: Decodable { let first, end, size: Int }
        let folder: String
        let swift: Share
    }

    /// The lock on the file of a range lasts until the process ends.
    private static let range = Result<Range<Int>, any Error> {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../ports.json").standardized
        let shares = try JSONDecoder().decode(Shares.self, from: Data(contentsOf: file))
        let share = shares.swift
        mkdir(shares.folder, 0o777)
        chmod(shares.folder, 0o777)
        for first in stride(from: share.first, to: share.end, by: share.size) {
            let file = open("\(shares.folder)/\(first)", O_RDONLY | O_CREAT | O_CLOEXEC, 0o644)
            if file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 { return first..<(first + share.size) }
            if file >= 0 { close(file) }
        }
        return share.first..<share.end
    }

    /// A socket that is bound to a port; nil where the port is not free.
    private static func bind(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // Only now: with this at first, a port that another one holds would be free.
        var isReused: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard status == 0, setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, size) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
