import EventLoop
import Foundation
import Synchronization

/// A server on real loopback sockets that sends the bytes of a script, even such as no honest server would send.
final class RawServer: Sendable {
    /// The server's step for a request, whose head and body are given as they came.
    enum Answer: Sendable {
        /// Send this and wait for the next request.
        case bytes([UInt8])
        /// Send this and close.
        case last([UInt8])
        /// Send this, and then nothing.
        case stall([UInt8])
        /// Send this and reset the connection.
        case reset([UInt8])
        /// Send this over and over, as fast as it is taken.
        case flood([UInt8])
        /// Send this byte by byte, one in so long.
        case trickle([UInt8], every: Duration)
        /// Send each of these after a pause, and wait for the next request all the while.
        case pieces([(Duration, String)])
        /// The same, made of this and what was `own` for the request before on the same connection.
        case mixed(own: String, @Sendable (_ own: String, _ earlier: String) -> [(Duration, String)])

        static func text(_ text: String) -> Answer { .bytes(Array(text.utf8)) }
    }

    let port: Int
    private let worker: Worker
    private let log: Log

    /// The connections and requests that the server has seen.
    final class Log: Sendable {
        let accepted = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        private let received = Mutex<[String]>([])
        var requests: [String] { received.withLock { $0 } }
        func append(_ request: String) { received.withLock { $0.append(request) } }
    }

    var acceptCount: Int { log.accepted.load(ordering: .relaxed) }
    var endCount: Int { log.ended.load(ordering: .relaxed) }
    var requests: [String] { log.requests }

    /// - Parameter greeting: is sent as soon as a connection stands.
    init(on worker: Worker, greeting: String = "", answer: @escaping @Sendable (String) -> Answer) async throws {
        let (listener, port) = try listen(backlog: 4096)
        self.port = port
        self.worker = worker
        let log = Log()
        self.log = log
        await worker.perform { worker in
            let acceptor = Acceptor(listener: listener, log: log, greeting: Array(greeting.utf8), answer: answer)
            acceptor.watch = try? worker.watch(listener, for: .read, acceptor)
        }
    }
}

/// A port of 127.0.0.1 that refuses connections: nobody else can get it while this exists.
final class RefusingPort {
    let number: Int
    private let descriptor: Int32

    init() throws { (descriptor, number) = try listen(backlog: nil) }

    deinit { _ = close(descriptor) }
}

/// - Parameter backlog: nil takes the port only.
private func listen(backlog: Int32?) throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0
                && (backlog.map { Foundation.listen(descriptor, $0) == 0 } ?? true)
                && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard listening else { throw EventLoopError.system(operation: "listen", code: errno) }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}

private final class Acceptor: ReadinessHandler {
    private let listener: Int32
    private let log: RawServer.Log
    private let greeting: [UInt8]
    private let answer: @Sendable (String) -> RawServer.Answer
    var watch: Watch?

    init(
        listener: Int32, log: RawServer.Log, greeting: [UInt8],
        answer: @escaping @Sendable (String) -> RawServer.Answer
    ) {
        self.listener = listener
        self.log = log
        self.greeting = greeting
        self.answer = answer
    }

    deinit { close(listener) }

    func ready(_ readiness: Readiness, on worker: Worker) {
        while true {
            let fd = accept(listener, nil, nil)
            guard fd >= 0 else { return }
            _ = fcntl(fd, F_SETFL, O_NONBLOCK)
            log.accepted.add(1, ordering: .relaxed)
            if !greeting.isEmpty { _ = send(fd, greeting, greeting.count, Int32(MSG_NOSIGNAL)) }
            let connection = RawConnection(fd: fd, log: log, answer: answer)
            connection.watch = try? worker.watch(fd, for: .read, connection)
        }
    }
}

private final class RawConnection: ReadinessHandler {
    private let fd: Int32
    private let log: RawServer.Log
    private let answer: @Sendable (String) -> RawServer.Answer
    private var received: [UInt8] = []
    private var flood: [UInt8] = []
    private var hasEnded = false
    private var earlier: String?
    var watch: Watch?

    init(fd: Int32, log: RawServer.Log, answer: @escaping @Sendable (String) -> RawServer.Answer) {
        self.fd = fd
        self.log = log
        self.answer = answer
    }

    func ready(_ readiness: Readiness, on worker: Worker) {
        if !flood.isEmpty, readiness.contains(.write) {
            guard send(fd, flood, flood.count, Int32(MSG_NOSIGNAL)) >= 0 || errno == EAGAIN else { return end(worker) }
        }
        guard readiness.contains(.read) else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(fd, &buffer, buffer.count, 0)
        guard count > 0 else { return end(worker) }
        received += buffer[..<count]
        while let request = takeRequest() {
            log.append(request)
            answer(request, on: worker)
        }
    }

    private func answer(_ request: String, on worker: Worker) {
        switch answer(request) {
        case .bytes(let bytes), .stall(let bytes):
            _ = send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        case .last(let bytes):
            _ = send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            end(worker)
        case .reset(let bytes):
            _ = send(fd, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            var abrupt = linger(l_onoff: 1, l_linger: 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
            end(worker)
        case .pieces(let pieces): sendPieces(pieces[...], on: worker)
        case .mixed(let own, let pieces):
            sendPieces(pieces(own, earlier ?? own)[...], on: worker)
            earlier = own
        case .trickle(let bytes, let pause): trickle(bytes[...], every: pause, on: worker)
        case .flood(let bytes):
            flood = bytes
            watch.map { _ = worker.update($0, for: [.read, .write]) }
        }
    }

    /// The next whole request, with the body that its Content-Length announces; or a TLS handshake, as it is.
    private func takeRequest() -> String? {
        if received.first == 0x16 {
            defer { received = [] }
            return String(decoding: received, as: UTF8.self)
        }
        let text = String(decoding: received, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let head = text[..<end.upperBound]
        var length = 0
        for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            length = Int(line.dropFirst(15).filter(\.isNumber)) ?? 0
        }
        let whole = head.utf8.count + length
        guard received.count >= whole else { return nil }
        defer { received.removeFirst(whole) }
        return String(decoding: received[..<whole], as: UTF8.self)
    }

    private func sendPieces(_ pieces: ArraySlice<(Duration, String)>, on worker: Worker) {
        guard let (pause, text) = pieces.first else { return }
        let next = { [self] in
            guard !hasEnded, send(fd, text, text.utf8.count, Int32(MSG_NOSIGNAL)) >= 0 else { return }
            sendPieces(pieces.dropFirst(), on: worker)
        }
        if pause == .zero { next() } else { _ = worker.addTimer(after: pause, next) }
    }

    private func trickle(_ bytes: ArraySlice<UInt8>, every pause: Duration, on worker: Worker) {
        guard !hasEnded, var byte = bytes.first, send(fd, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
        _ = worker.addTimer(after: pause) { [self] in trickle(bytes.dropFirst(), every: pause, on: worker) }
    }

    private func end(_ worker: Worker) {
        hasEnded = true
        log.ended.add(1, ordering: .relaxed)
        watch.map { worker.unwatchAndClose($0) }
    }
}
