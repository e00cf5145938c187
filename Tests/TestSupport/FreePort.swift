import Foundation

/// Ports whose numbers a test has to tell before its servers are there, as redirect URIs do. They lie below those that the
/// kernel gives to clients, and in a range that no other process of the tests has (Tests/ports.py shares out the rest).
public enum FreePort {
    private static let size = 2000

    /// The lock on the file of a range lasts until the process ends.
    private static let range: Range<Int> = {
        let folder = "/tmp/companion-ports"
        mkdir(folder, 0o777)
        chmod(folder, 0o777)
        for first in stride(from: 20_000, to: 32_000, by: size) {
            let file = open("\(folder)/\(first)", O_RDONLY | O_CREAT | O_CLOEXEC, 0o644)
            if file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 { return first..<(first + size) }
            if file >= 0 { close(file) }
        }
        return 20_000..<32_000
    }()

    /// Returns the first of so many free ports that follow each other.
    public static func first(of count: Int) throws -> Int {
        for first in range.shuffled() where first + count <= range.upperBound {
            if (0..<count).allSatisfy({ isFree(first + $0) }) { return first }
        }
        throw POSIXError(.EADDRINUSE)
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
