import Foundation
import TestSupport
import Testing

@testable import CompanionCommand

@Suite(.timeLimit(.minutes(5))) struct ServiceManagerTests {
    /// The address of a socket.
    private static func address(_ path: String) -> sockaddr_un {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        return name
    }

    private static func with(
        _ name: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int
    ) -> Int {
        withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    @Test func `a manager that does not read its notifications keeps the server for a second at most`() throws {
        let path = TemporaryFolder.ofProcess.appendingPathComponent("notify-\(UUID().uuidString)").path
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue)
        let (manager, other) = (socket(AF_UNIX, kind, 0), socket(AF_UNIX, kind, 0))
        defer {
            close(manager)
            close(other)
            unlink(path)
        }
        let name = Self.address(path)
        try #require(Self.with(name) { Int(bind(manager, $0, $1)) } == 0)
        let ours = ServiceManager(environment: ["NOTIFY_SOCKET": path])
        ours.ready("here")
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = recv(manager, &buffer, buffer.count, 0)
        #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=here")
        while Self.with(name, { sendto(other, "x", 1, 0, $0, $1) }) == 1 {}
        // Without a limit it would wait here until the test's time is over.
        ours.stopping()
    }
}
