import Foundation
import TLSClient
import TestSupport

/// A client that knows nothing of HTTP but where an answer ends: what a test sends is what goes over the wire.
/// Its calls block, so tests use it inside `blocking`. A call that waits longer than ten seconds fails.
///
/// `@unchecked Sendable`: a test hands it from one thread to the next and never uses it on two at a time.
final class RawClient: @unchecked Sendable {
    struct Answer: Equatable {
        var status: Int
        var fields: [String: String]
        /// As text, with what is no text replaced.
        var body: String
        var bytes: [UInt8] = []
    }

    /// The way in which the other end finished; `unannounced` is over TLS without close_notify.
    enum End: Equatable { case closed, unannounced, reset, open }

    enum Failure: Error, Equatable {
        case system(String, code: Int32)
        case endedEarly(after: String, End)
        case notAnAnswer(String)
        case handshake(alert: Int32)
    }

    /// In milliseconds.
    private static let patience = Int32(TestSupport.patience * 1000)

    /// The offer of a client in its handshake.
    struct Handshake {
        /// The highest version, such as 0x0303; 0 for any.
        var version: Int32 = 0
        /// In the order in which ALPN offers them.
        var protocols = ["http/1.1"]
        /// From an earlier connection.
        var ticket: Ticket?
        var takesTickets = true
        /// The time between its hello and its first look at the answer.
        var pauseMicroseconds: UInt32 = 0
    }

    /// A server gave this for a later connection.
    ///
    /// `@unchecked Sendable`: OpenSSL counts the references, and nothing changes it.
    final class Ticket: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { tls_ticket_free(pointer) }
        /// The number of bytes that a client may send with it before the handshake is complete.
        var maxEarlyData: UInt32 { tls_ticket_early_data(pointer) }
    }

    let descriptor: Int32
    /// nil in plain text.
    private(set) var tls: OpaquePointer?
    private var received: [UInt8] = []
    private var isOpen = true

    /// - Parameter source: the address to come from, one of the loopback's.
    init(port: Int, receiveBuffer: Int32? = nil, from source: UInt32 = 0x7F00_0001) throws {
        descriptor = try Self.connect(port: port, receiveBuffer: receiveBuffer, from: source)
        if TestCertificate.isUsed(atPort: port) { try shakeHands() }
    }

    /// - Parameter handshake: nil leaves the connection in plain text, whatever the server speaks.
    init(port: Int, handshake: Handshake?, receiveBuffer: Int32? = nil, from source: UInt32 = 0x7F00_0001) throws {
        descriptor = try Self.connect(port: port, receiveBuffer: receiveBuffer, from: source)
        if let handshake { try shakeHands(handshake) }
    }

    private func shakeHands(_ handshake: Handshake = Handshake()) throws {
        let protocols = handshake.protocols.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
        let tls = tls_client_new(
            descriptor, handshake.version, protocols.isEmpty ? nil : protocols, UInt32(protocols.count),
            handshake.ticket?.pointer)
        self.tls = tls
        if let tls, !handshake.takesTickets { tls_client_refuse_tickets(tls) }
        if let tls, handshake.pauseMicroseconds > 0 {
            _ = tls_client_connect(tls, 0)
            usleep(handshake.pauseMicroseconds)
        }
        guard let tls, tls_client_connect(tls, Self.patience) == 1 else {
            throw Failure.handshake(alert: tls.map(tls_client_alert) ?? 0)
        }
    }

    /// The first bytes of a handshake.
    static func hello() throws -> [UInt8] {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw Failure.system("socketpair", code: errno)
        }
        defer { for end in ends { Foundation.close(end) } }
        guard let tls = tls_client_new(ends[0], 0, nil, 0, nil) else { throw Failure.handshake(alert: 0) }
        defer { tls_client_free(tls) }
        _ = tls_client_connect(tls, 0)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(ends[1], &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    private static func connect(port: Int, receiveBuffer: Int32?, from source: UInt32) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system("socket", code: errno) }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var patience = timeval(tv_sec: Int(TestSupport.patience), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        own.sin_addr.s_addr = source.bigEndian
        // Without need no address is bound: the kernel then has fewer ports to choose from.
        let isBound =
            source == 0x7F00_0001
            || withUnsafeBytes(of: &own) { raw in
                raw.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(raw.count)) == 0 }
            }
        let status = withUnsafeBytes(of: &address) { raw in
            raw.withMemoryRebound(to: sockaddr.self) {
                isBound ? Foundation.connect(descriptor, $0.baseAddress, socklen_t(raw.count)) : -1
            }
        }
        guard status == 0 else {
            let code = errno
            Foundation.close(descriptor)
            throw Failure.system("connect", code: code)
        }
        return descriptor
    }

    deinit { close() }

    func close() {
        guard isOpen else { return }
        isOpen = false
        if let tls { tls_client_free(tls) }
        tls = nil
        Foundation.close(descriptor)
    }

    /// Ends the connection with a reset instead of a FIN.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Ends its half; over TLS with close_notify first.
    func endOutput(withNotice: Bool = true) {
        if let tls, withNotice { tls_client_shutdown(tls) }
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                if let tls, let start = bytes.baseAddress {
                    return tls_client_write(tls, start, bytes.count, Self.patience)
                }
                return Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure.system("send", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends without waiting; answers how many bytes the kernel took.
    func offer(_ bytes: [UInt8]) -> Int {
        if let tls { return max(0, tls_client_write(tls, bytes, bytes.count, 0)) }
        return max(0, Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }

    /// Puts bytes onto the wire, over TLS too, without waiting.
    func offerAsItIs(_ bytes: [UInt8]) {
        _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    /// Reads one answer. To HEAD there is no body, whatever the length says.
    func answer(toHead: Bool = false) throws -> Answer {
        let separator = Array("\r\n\r\n".utf8)
        while true {
            if let end = received.firstRange(of: separator) {
                let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
                received.removeFirst(end.upperBound)
                var answer = try Self.parse(head)
                let hasBody = !toHead && answer.status != 304 && answer.status != 204 && answer.status >= 200
                let length = hasBody ? Int(answer.fields["content-length"] ?? "0") ?? 0 : 0
                while received.count < length { try more() }
                answer.bytes = Array(received.prefix(length))
                answer.body = String(decoding: answer.bytes, as: UTF8.self)
                received.removeFirst(length)
                return answer
            }
            try more()
        }
    }

    /// Reads to the end of the connection.
    func rest() -> (text: String, end: End) {
        while true {
            do {
                try more()
            } catch Failure.endedEarly(_, let end) {
                defer { received = [] }
                return (String(decoding: received, as: UTF8.self), end)
            } catch {
                return ("\(error)", .open)
            }
        }
    }

    /// Whether something can be read, or the end has come.
    func hasInput(withinMilliseconds timeout: Int32) -> Bool {
        if let tls { return tls_client_has_input(tls, timeout) != 0 }
        return isReady(for: POLLIN, within: timeout)
    }

    /// Whether the kernel takes something.
    func hasRoom(withinMilliseconds timeout: Int32) -> Bool { isReady(for: POLLOUT, within: timeout) }

    private func isReady(for events: Int32, within timeout: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&request, 1, timeout) > 0
    }

    /// Reads and forgets until the end or until so many bytes; answers how many there were.
    func countToEnd(bytes limit: Int = .max, pauseMicroseconds: UInt32) -> Int {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        var total = 0
        while total < limit {
            let count = receive(&buffer)
            guard count > 0 else { break }
            total += count
            if pauseMicroseconds > 0 { usleep(pauseMicroseconds) }
        }
        return total
    }

    private func more() throws {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = receive(&buffer)
        if count > 0 {
            received += buffer[..<count]
            return
        }
        let end: End =
            if tls != nil {
                switch Int32(clamping: count) {
                case tls_end_notified.rawValue: .closed
                case tls_end_without_notice.rawValue: .unannounced
                case tls_end_reset.rawValue: .reset
                default: .open
                }
            } else {
                count == 0 ? .closed : errno == ECONNRESET ? .reset : .open
            }
        throw Failure.endedEarly(after: String(decoding: received, as: UTF8.self), end)
    }

    private func receive(_ buffer: inout [UInt8]) -> Int {
        if let tls { return tls_client_read(tls, &buffer, buffer.count, Self.patience) }
        return recv(descriptor, &buffer, buffer.count, 0)
    }

    private static func parse(_ head: String) throws -> Answer {
        let lines = head.components(separatedBy: "\r\n")
        let start = lines[0].split(separator: " ", maxSplits: 2)
        guard start.count >= 2, start[0] == "HTTP/1.1", let status = Int(start[1]) else {
            throw Failure.notAnAnswer(head)
        }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Failure.notAnAnswer(head) }
            let name = line[..<colon].lowercased()
            // A field that is set twice shows up as such.
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields[name] = fields[name].map { "\($0) + \(value)" } ?? value
        }
        return Answer(status: status, fields: fields, body: "")
    }
}

// Facts of the TLS connection.
extension RawClient {
    var version: Int32 {
        get throws { try tls.map(tls_client_version) ?? { throw Failure.handshake(alert: 0) }() }
    }
    /// The alert that the server sent last, or 0.
    var alert: Int32 { tls.map(tls_client_alert) ?? 0 }
    var isResumed: Bool { tls.map(tls_client_is_resumed) == 1 }
    var serial: Int { tls.map(tls_client_serial) ?? -1 }
    /// The number of records with content that have come.
    var records: Int32 { tls.map(tls_client_records) ?? 0 }
    /// The choice of ALPN; empty without one.
    var protocolName: String {
        guard let tls else { return "" }
        var start: UnsafePointer<UInt8>?
        let count = tls_client_protocol(tls, &start)
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
    /// The newest that has come.
    var ticket: Ticket? { tls.flatMap(tls_client_ticket).map(Ticket.init) }
    func updateKey() { if let tls { _ = tls_client_update_key(tls) } }
    /// Whether another handshake succeeds.
    func renegotiates() -> Bool { tls.map { tls_client_renegotiate($0, 2_000) } == 1 }
}

/// Runs blocking calls on a thread of their own, so that they hold none of Swift's few.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
    }
}
