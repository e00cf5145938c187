import Foundation
import TestSupport

/// Sends bytes as they are to a server on this machine, and returns all that comes until the server ends the connection.
func rawAnswer(port: Int, to request: String) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        // The calls block, and would hold one of Swift's few threads.
        Thread.detachNewThread { continuation.resume(with: Result { try exchange(Array(request.utf8), port) }) }
    }
}

private func exchange(_ request: [UInt8], _ port: Int) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw TestFailure("socket: \(errno)") }
    defer { close(descriptor) }
    var longest = timeval(tv_sec: Int(patience), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &longest, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    guard status == 0 else { throw TestFailure("connect: \(errno)") }
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
        throw TestFailure("send: \(errno)")
    }
    var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 64 * 1024))
    while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw TestFailure("recv: \(errno)") }
        guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
        answer += buffer[..<count]
    }
}
