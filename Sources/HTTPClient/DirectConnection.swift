import CCurl
import EventLoop
import Foundation
import HTTPWire

/// A connection that libcurl has made (`CURLOPT_CONNECT_ONLY`: name, address, TLS) and on which we speak HTTP/1.1, one
/// request at a time. Its handle stays in the multi handle: taking it out closes the connection. Confined to its worker.
final class DirectConnection: ReadinessHandler {
    let origin: String
    /// When it is too old to be kept.
    let endOfLife: MonotonicTime
    /// When it is closed if nobody has used it.
    var expiry: MonotonicTime

    private let isSecure: Bool
    private let handle: EasyHandle
    private unowned let pool: DirectConnections
    private var descriptor: Int32 = -1
    private var watch: Watch?
    private var isClosed = false
    /// How many requests it has carried.
    private var uses = 0

    // Of the present request.
    private var transfer: Transfer?
    private var sent = 0
    private var started = MonotonicTime(nanoseconds: 0)
    private var firstByte: MonotonicTime?
    private var parser = ResponseParser(maxBodyBytes: 0)
    /// Received, and not yet consumed by the parser.
    private var pending: [UInt8] = []
    private var head: ResponseHead?
    private var body: [UInt8] = []

    init(to origin: String, isSecure: Bool, handle: EasyHandle, pool: DirectConnections, endOfLife: MonotonicTime) {
        self.origin = origin
        self.isSecure = isSecure
        self.handle = handle
        self.pool = pool
        self.endOfLife = endOfLife
        expiry = endOfLife
        handle.connection = self
    }

    private var worker: Worker { pool.worker }

    /// When `timeOut` has to be called; nil while libcurl sees to it.
    var deadline: MonotonicTime? {
        guard descriptor >= 0 else { return nil }
        return transfer == nil ? expiry : transfer?.deadline
    }

    // MARK: Requests

    /// Sends `transfer` when the connection stands.
    func wait(with transfer: Transfer) {
        self.transfer = transfer
        transfer.connection = self
        started = worker.now
    }

    /// libcurl has made the connection, or has not.
    func connected(_ code: CURLcode) {
        guard let transfer else { return }
        guard code == CURLE_OK, let socket = handle.socket else {
            return fail(HTTPClientError(code == CURLE_OK ? CURLE_COULDNT_CONNECT : code, of: transfer, on: handle))
        }
        descriptor = socket
        // Once for the connection's life: no call to change it when there is something to send.
        guard let watch = try? worker.watch(socket, for: [.read, .write, .peerClosed, .edgeTriggered], self) else {
            return fail(HTTPClientError(kind: .other, reason: "the worker refused a socket"))
        }
        self.watch = watch
        send(transfer)
    }

    /// Whether a kept connection is good for another request: not too old, and nothing has come that nobody asked for,
    /// which would be taken for the response, nor the end.
    func canBeUsed(at now: MonotonicTime) -> Bool { now < expiry && isQuiet }

    /// Sends `transfer` on a kept connection.
    func begin(_ transfer: Transfer) {
        self.transfer = transfer
        transfer.connection = self
        started = worker.now
        send(transfer)
    }

    /// Ends the present request without a response, and the connection.
    func fail(_ error: HTTPClientError) { release()?.finish(.failure(error)) }

    /// The deadline of the request has passed, or that of a connection that is kept.
    func timeOut() {
        guard let transfer else { return close() }
        let stage = firstByte == nil ? "the answer" : "the rest of the answer"
        fail(.timedOut(stage, transfer.request.authority))
    }

    /// Closes the connection, which is on nobody's list afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // Before libcurl closes the descriptor.
        watch.map { worker.unwatch($0) }
        watch = nil
        pool.forget(self)
        pool.multi.disconnect(handle)
    }

    /// Gives up the present request and the connection.
    private func release() -> Transfer? {
        let transfer = transfer
        self.transfer = nil
        transfer?.connection = nil
        close()
        return transfer
    }

    // MARK: Bytes

    func ready(_ readiness: Readiness, on worker: Worker) {
        guard let transfer else {
            // TLS may have something to say between two requests; a server may not.
            if !isQuiet { close() }
            return
        }
        if sent < transfer.bytes.count { write(transfer) }
        if readiness.contains(.read) { receive() }
    }

    private func send(_ transfer: Transfer) {
        sent = 0
        firstByte = nil
        head = nil
        uses += 1
        parser = ResponseParser(method: transfer.direct?.method ?? .get, maxBodyBytes: transfer.maxBodyBytes)
        if let deadline = transfer.deadline { pool.fire(by: deadline) }
        write(transfer)
    }

    private func write(_ transfer: Transfer) {
        let bytes = transfer.bytes
        while sent < bytes.count {
            switch bytes.withUnsafeBytes({ write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .bytes(let count): sent += count
            case .nothing: return
            case .end, .failure:
                // The server may have answered before it closed.
                sent = .max
                receive()
                if self.transfer === transfer { lose() }
                return
            }
        }
    }

    private func receive() {
        while transfer != nil {
            switch read(into: pool.buffer) {
            case .bytes(let count): take(UnsafeBufferPointer(rebasing: pool.buffer[..<count]))
            case .nothing: return
            case .end where parser.isCompleteAtClose: complete(canBeKept: false)
            case .end, .failure: lose()
            }
        }
    }

    /// The connection has ended within the response, or before it.
    private func lose() {
        let isLate = uses > 1 && firstByte == nil
        guard let transfer = release() else { return }
        if isLate, !transfer.isRetried {
            // Closed while it was kept: only the request crossed the end on its way (RFC 9112 section 9.3.1).
            pool.retry(transfer)
        } else {
            transfer.finish(.failure(.connectionEnded(transfer.request.authority)))
        }
    }

    // MARK: The response

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        if firstByte == nil { firstByte = worker.now }
        if pending.isEmpty {
            let consumed = parse(bytes)
            if transfer != nil, consumed < bytes.count { pending = Array(bytes[consumed...]) }
        } else {
            var whole: [UInt8] = []
            swap(&whole, &pending)
            whole += bytes
            let consumed = whole.withUnsafeBufferPointer { parse($0) }
            guard transfer != nil else { return }
            whole.removeFirst(consumed)
            swap(&whole, &pending)
        }
    }

    /// Returns how many bytes are consumed.
    private func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var offset = 0
        while let transfer {
            switch parser.next(bytes.span, at: &offset) {
            case .needMoreBytes: return offset
            case .head(let head):
                self.head = head
                if Self.isCoded(head), transfer.direct?.method != .head {
                    leaveToLibcurl()
                } else if case .length(let length) = head.framing {
                    body.reserveCapacity(min(length, transfer.maxBodyBytes))
                }
            case .body(let range): body.append(contentsOf: bytes[range])
            case .end: complete(canBeKept: offset == bytes.count && sent == transfer.bytes.count)
            case .failure(.foldedLine): leaveToLibcurl()
            case .failure(let error): fail(Self.error(error, transfer.request.authority))
            }
        }
        return offset
    }

    private func complete(canBeKept: Bool) {
        guard let head, let transfer else { return }
        let response = HTTPClientResponse(head, body: body, timings: timings)
        body = []
        if canBeKept, head.keepAlive {
            self.transfer = nil
            self.head = nil
            transfer.connection = nil
            pool.keep(self)
        } else {
            _ = release()
        }
        transfer.finish(.success(response))
    }

    /// The body is coded although we asked for it as it is, or the head folded: libcurl can read that. A GET may be made
    /// twice (RFC 9110 section 9.2.2).
    private func leaveToLibcurl() {
        if let transfer = release() { pool.leaveToLibcurl(transfer) }
    }

    private static func isCoded(_ head: ResponseHead) -> Bool {
        guard let coding = head[.contentEncoding] else { return false }
        return coding.lowercased() != "identity"
    }

    private static func error(_ error: WireError, _ authority: String) -> HTTPClientError {
        switch error {
        case .headTooLarge, .tooManyFields, .trailersTooLarge: .tooLarge("head", authority)
        case .bodyTooLarge, .chunkLineTooLong, .chunkExtensionsTooLong: .tooLarge("body", authority)
        default: .notHTTP(authority)
        }
    }

    private var timings: HTTPClientResponse.Timings {
        var timings = HTTPClientResponse.Timings(connectionReused: uses > 1)
        if uses == 1 {
            let connecting = handle.timings
            timings.nameResolved = connecting.nameResolved
            timings.connected = connecting.connected
            timings.secured = connecting.secured
        }
        timings.firstByte = (firstByte ?? started) - started
        timings.total = worker.now - started
        return timings
    }
}

// MARK: The socket

extension DirectConnection {
    private enum Outcome { case bytes(Int), nothing, end, failure }

    /// Whether there is nothing to read.
    private var isQuiet: Bool {
        if case .nothing = read(into: pool.buffer) { return true }
        return false
    }

    private func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Outcome {
        guard isSecure else { return Self.outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0)) }
        var count = 0
        return Self.outcome(curl_easy_recv(handle.raw, buffer.baseAddress, buffer.count, &count), count)
    }

    /// The first bytes of a connection go through libcurl in any case: it holds a connection that nobody has used for an
    /// idle one, which it may close.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard isSecure || uses == 1 else {
            return Self.outcome(Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
        }
        var count = 0
        return Self.outcome(curl_easy_send(handle.raw, bytes.baseAddress, bytes.count, &count), count)
    }

    private static func outcome(_ code: CURLcode, _ count: Int) -> Outcome {
        switch code {
        case CURLE_OK: count > 0 ? .bytes(count) : .end
        case CURLE_AGAIN: .nothing
        default: .failure
        }
    }

    private static func outcome(_ count: Int) -> Outcome {
        if count > 0 { return .bytes(count) }
        if count == 0 { return .end }
        return errno == EAGAIN || errno == EINTR ? .nothing : .failure
    }
}

extension Transfer {
    /// The request as it goes out on a connection of ours.
    fileprivate var bytes: [UInt8] { direct?.bytes ?? [] }
}
