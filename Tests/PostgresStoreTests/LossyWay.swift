import Foundation
import StoreTesting
import Synchronization
import TestSupport

@testable import SessionStore

/// A way to a server on loopback that loses a connection at its commit, or from its beginning.
final class LossyWay: Sendable {
    /// The part of the exchange that is lost.
    enum Loss: Sendable {
        /// The commit: the server never sees it.
        case commit
        /// The server's answer to the commit. `meanwhile` runs between the commit and the loss.
        case answer(meanwhile: @Sendable () -> Void)
    }

    /// The port on which it listens.
    let port: Int
    private let target: Int
    private let listener: Int32
    private let next = Mutex<Loss?>(nil)
    private let losses = Mutex(0)
    private let frozen = NSCondition()
    private nonisolated(unsafe) var isFrozen = false
    private let silence = Mutex(Silence.none)

    /// The connection that gets no answers, if there is one.
    private enum Silence {
        case none, next
        case of(Int32)
        case overtaken(whileOpen: Bool)
    }

    init(to target: Int) throws {
        self.target = target
        listener = Self.withAddress(0) { Foundation.bind($0, $1, $2) }
        guard listener >= 0, Foundation.listen(listener, 64) == 0, let port = Self.port(of: listener) else {
            throw UnexpectedOutcome(name: "no listener")
        }
        self.port = port
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends it: nothing more gets through.
    func close() {
        freeze(false)
        _ = shutdown(listener, Int32(SHUT_RDWR))
    }

    /// From now on, the next commit is lost so.
    func lose(_ loss: Loss) { next.withLock { $0 = loss } }
    /// From now on nothing gets through; or again what was said meanwhile, and all that follows.
    func freeze(_ isFrozen: Bool) {
        frozen.withLock {
            self.isFrozen = isFrozen
            frozen.broadcast()
        }
    }
    private func waitWhileFrozen() {
        frozen.withLock { while isFrozen, frozen.wait(until: Date() + patience) {} }
    }
    /// From now on, nobody says anything to the next connection.
    func ignoreNext() { silence.withLock { $0 = .next } }
    /// Whether the one after it came while it was still open; nil before.
    var isOvertaken: Bool? {
        silence.withLock { if case .overtaken(let isOpen) = $0 { isOpen } else { nil } }
    }
    /// The number of connections that were lost.
    var count: Int { losses.withLock { $0 } }

    private func accept() {
        while case let near = Foundation.accept(listener, nil, nil), near >= 0 {
            if isIgnored(near) { continue }
            let far = Self.withAddress(target) { Foundation.connect($0, $1, $2) }
            let pair = Pair(near: near, far: far)
            Thread.detachNewThread { [self] in pass(pair, from: near, to: far) { request($0, pair) } }
            Thread.detachNewThread { [self] in pass(pair, from: far, to: near) { answer($0, pair) } }
        }
        Foundation.close(listener)
    }

    private func isIgnored(_ connection: Int32) -> Bool {
        silence.withLock { silence in
            switch silence {
            case .next:
                silence = .of(connection)
                return true
            case .of(let ignored):
                var buffer = [UInt8](repeating: 0, count: 65_536)
                var count = 0
                repeat { count = recv(ignored, &buffer, buffer.count, Int32(MSG_DONTWAIT)) } while count > 0
                silence = .overtaken(whileOpen: count < 0 && errno == EAGAIN)
                Foundation.close(ignored)
                return false
            case .none, .overtaken: return false
            }
        }
    }

    /// One direction; ends both when `isKept` says that what was read is lost.
    private func pass(_ pair: Pair, from source: Int32, to sink: Int32, isKept: (Data) -> Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(source, &buffer, buffer.count, 0), count > 0, isKept(Data(buffer[..<count])) {
            waitWhileFrozen()
            guard send(sink, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        pair.end()
    }

    private func request(_ data: Data, _ pair: Pair) -> Bool {
        guard data.contains("COMMIT"), let loss = next.withLock({ $0.take() }) else { return true }
        losses.withLock { $0 += 1 }
        guard case .answer = loss else { return false }
        pair.loss.withLock { $0 = loss }
        return true
    }

    private func answer(_ data: Data, _ pair: Pair) -> Bool {
        guard case .answer(let meanwhile) = pair.loss.withLock({ $0 }), data.contains("COMMIT") else { return true }
        meanwhile()
        return false
    }

    /// The sockets of one connection, which are closed when both directions have ended.
    private final class Pair: Sendable {
        let near, far: Int32
        let loss = Mutex<Loss?>(nil)
        private let ended = Mutex(0)

        init(near: Int32, far: Int32) {
            self.near = near
            self.far = far
        }

        func end() {
            for socket in [near, far] { _ = shutdown(socket, Int32(SHUT_RDWR)) }
            let isLast = ended.withLock { ended in
                ended += 1
                return ended == 2
            }
            guard isLast else { return }
            for socket in [near, far] { Foundation.close(socket) }
        }
    }

    private static func port(of socket: Int32) -> Int? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        return status == 0 ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    /// A socket for which `body` has returned 0; negative where it has not.
    private static func withAddress(
        _ port: Int, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return status == 0 ? descriptor : -1
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
