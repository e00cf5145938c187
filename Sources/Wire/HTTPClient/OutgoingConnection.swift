import CCurl
import EventLoop
import Foundation
import HTTPWire

/// A connection that libcurl has opened (`CURLOPT_CONNECT_ONLY`: name, address, proxy, TLS), on which we use HTTP/1.1,
/// one request at a time. Its handle stays in the multi handle: removing it closes the connection. Confined to its
/// worker.
final class OutgoingConnection: ReadinessHandler {
    /// The people for whom requests were sent on it.
    private enum Users: Equatable { case nobody, one(String), several }

    /// The time after which it is too old to be kept.
    let endOfLife: MonotonicTime
    /// The time at which it is closed unless it is used.
    var expiry: MonotonicTime

    private let isSecure: Bool
    /// Whether bytes pass through libcurl, for TLS or a proxy. Otherwise the socket is read and written directly.
    private let isCurls: Bool
    private let handle: EasyHandle
    private let origin: OriginConnections
    private unowned let pool: ConnectionPool
    private var descriptor: Int32 = -1
    private var watch: Watch?
    private var isClosed = false
    private var users: Users
    /// The number of requests that it has carried.
    private var uses = 0

    // The state of the current request.
    private var transfer: Transfer?
    private var sent = 0
    private var hasBegun = false
    private var parser = ResponseParser(maxBodyBytes: 0)
    /// Received bytes that the parser has not consumed.
    private var pending: [UInt8] = []
    private var head: ResponseHead?
    private var body: [UInt8] = []

    /// Creates a connection that libcurl is opening, and on which `transfer` is sent when it is open.
    init(
        for transfer: Transfer, in origin: OriginConnections, handle: EasyHandle, pool: ConnectionPool,
        endOfLife: MonotonicTime
    ) {
        self.transfer = transfer
        self.origin = origin
        self.handle = handle
        self.pool = pool
        self.endOfLife = endOfLife
        expiry = endOfLife
        isSecure = transfer.request.isSecure
        isCurls = isSecure || EasyHandle.environmentNamesProxy
        users = transfer.owner.map { .one($0.account) } ?? .nobody
        handle.connection = self
        transfer.connection = self
    }

    private var worker: Worker { pool.worker }

    /// The time at which `timeOut` must be called.
    var deadline: MonotonicTime { transfer?.deadline ?? expiry }

    // MARK: Requests

    /// Called when libcurl has opened the connection, or failed to.
    func connected(_ code: CURLcode) {
        guard let transfer else { return }
        guard code == CURLE_OK, let socket = handle.socket else {
            return fail(HTTPClientError(code == CURLE_OK ? CURLE_COULDNT_CONNECT : code, transfer.authority, handle))
        }
        descriptor = socket
        // The socket is registered once for the connection's life, so sending needs no further call.
        guard let watch = try? worker.watch(socket, for: [.read, .write, .peerClosed, .edgeTriggered], self) else {
            return fail(HTTPClientError(kind: .other, reason: "the worker refused a socket"))
        }
        self.watch = watch
        send(transfer)
    }

    /// Whether requests of this owner may use it.
    func isFor(_ owner: RequestOwner?) -> Bool {
        switch (users, owner) {
        case (.nobody, nil): true
        case (.one(let user), let owner?): user == owner.account || origin.returnsRequestIDs
        case (.several, _?): origin.returnsRequestIDs
        default: false
        }
    }

    /// Whether a kept connection can be used for another request: it is not too old, and has neither ended nor received
    /// unexpected bytes, which would be taken for the response.
    func canBeUsed(at now: MonotonicTime) -> Bool { now < expiry && isQuiet }

    /// Sends `transfer` on a kept connection.
    func begin(_ transfer: Transfer) {
        self.transfer = transfer
        transfer.connection = self
        if let owner = transfer.owner, users != .one(owner.account) { users = .several }
        send(transfer)
    }

    /// Ends the current request without a response, and closes the connection.
    func fail(_ error: HTTPClientError) { release()?.finish(.failure(error)) }

    /// Called when the deadline of the request has passed, or that of a kept connection.
    func timeOut() {
        guard let transfer else { return close() }
        let stage = descriptor < 0 ? handle.stage : hasBegun ? "the rest of the answer" : "the answer"
        fail(.timedOut(stage, transfer.authority))
    }

    /// Closes the connection and removes it from all lists.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // This must happen before libcurl closes the descriptor.
        watch.map { worker.unwatch($0) }
        watch = nil
        pool.multi.disconnect(handle)
        pool.forget(self, of: origin)
    }

    /// Gives up the current request and the connection.
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
            // TLS may send something between two requests; a server must not.
            if !isQuiet { close() }
            return
        }
        if sent < transfer.bytes.count { write(transfer) }
        if readiness.contains(.read) { receive() }
    }

    private func send(_ transfer: Transfer) {
        sent = 0
        hasBegun = false
        uses += 1
        parser = ResponseParser(method: transfer.request.method, maxBodyBytes: transfer.maxBodyBytes)
        write(transfer)
    }

    private func write(_ transfer: Transfer) {
        let bytes = transfer.bytes
        while sent < bytes.count {
            switch bytes.withUnsafeBytes({ write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) {
            case .bytes(let count): sent += count
            case .nothing: return
            case .end, .failure:
                // The server may have sent a response before it closed the connection.
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

    /// Handles a connection that ended within the response, or before it.
    private func lose() {
        let isLate = uses > 1 && !hasBegun
        guard let transfer = release() else { return }
        if isLate {
            // The server closed it while it was kept: its end and the request crossed on the way (RFC 9112 section
            // 9.3.1).
            pool.retry(transfer, in: origin)
        } else {
            transfer.finish(.failure(.connectionEnded(transfer.authority)))
        }
    }

    // MARK: The response

    private func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        hasBegun = true
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

    /// Parses bytes, and returns the number that was consumed.
    private func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var offset = 0
        while let transfer {
            switch parser.next(bytes.span, at: &offset) {
            case .needMoreBytes: return offset
            case .head(let head):
                guard isAnswer(head, to: transfer) else { return offset }
                self.head = head
                if case .length(let length) = head.framing {
                    body.reserveCapacity(min(length, transfer.maxBodyBytes, pool.buffer.count))
                }
            case .body(let range): body.append(contentsOf: bytes[range])
            case .end: complete(canBeKept: offset == bytes.count && sent == transfer.bytes.count)
            case .failure(let error): fail(Self.error(error, transfer.authority))
            }
        }
        return offset
    }

    /// Whether a response with this head belongs to `transfer`; if not, the connection is given up.
    private func isAnswer(_ head: ResponseHead, to transfer: Transfer) -> Bool {
        if isSecure, head.framing == .untilClose {
            // The response may be truncated: libcurl does not report whether TLS ended with close_notify (RFC 9112
            // section 9.8).
            fail(HTTPClientError(kind: .other, reason: "\(transfer.authority): the answer does not say where it ends"))
            return false
        }
        guard let owner = transfer.owner else { return true }
        let ids = head.values(for: .clientRequestID)
        guard ids.allSatisfy({ $0.lowercased() == owner.requestID.lowercased() }) else {
            fail(HTTPClientError(kind: .other, reason: "\(transfer.authority): the answer is another request's"))
            return false
        }
        origin.returnsRequestIDs = !ids.isEmpty
        if ids.isEmpty, users == .several, let transfer = release() {
            // The response may belong to another person's request.
            pool.retry(transfer, in: origin)
            return false
        }
        return true
    }

    private func complete(canBeKept: Bool) {
        guard let head, let transfer else { return }
        let response = transfer.response(head, body)
        self.head = nil
        body = []
        if canBeKept, head.keepAlive, transfer.request.isRepeatable {
            self.transfer = nil
            transfer.connection = nil
            pool.keep(self, of: origin)
        } else {
            _ = release()
        }
        transfer.finish(response)
    }

    private static func error(_ error: WireError, _ authority: String) -> HTTPClientError {
        switch error {
        case .headTooLarge, .tooManyFields, .trailersTooLarge: .tooLarge("head", authority)
        case .bodyTooLarge, .chunkLineTooLong, .chunkExtensionsTooLong: .tooLarge("body", authority)
        default: .notHTTP(authority)
        }
    }
}

// MARK: The socket

extension OutgoingConnection {
    private enum Outcome { case bytes(Int), nothing, end, failure }

    /// Whether there is nothing to read.
    private var isQuiet: Bool {
        if case .nothing = read(into: pool.buffer) { return true }
        return false
    }

    private func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Outcome {
        guard isCurls else { return Self.outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0)) }
        var count = 0
        return Self.outcome(curl_easy_recv(handle.raw, buffer.baseAddress, buffer.count, &count), count)
    }

    /// The first bytes of a connection always go through libcurl, which considers an unused connection idle and may
    /// close it.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard isCurls || uses == 1 else {
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
