import CLinux
import EventLoop
import Glibc
import HTTPTypes
import HTTPWire

/// One client connection: the whole of its state machine.
///
/// It reads a request, has it answered, and only then reads on, so that pipelined requests are answered in order
/// and a client that sends faster than it reads waits in its own kernel. Bytes are read into the lane's buffer and
/// parsed there; the connection holds bytes of its own only while a request or an answer is incomplete.
///
/// - A client that has ended its half (FIN) still gets its answer; one that has reset the connection has its handler
///   cancelled. TCP does not tell a client that is gone from one that only ended its half until we write to it.
/// - An answer after which unread input may be left is followed by a lingering close (RFC 9112 §9.6).
///
/// `@unchecked Sendable`: touched only on the worker of its lane, where its handlers' tasks run too.
final class Connection: ReadinessHandler, @unchecked Sendable {
    private enum State {
        /// Requests are read.
        case receiving
        /// A handler's task runs.
        case handling
        /// Everything is answered and our half ended; input is thrown away until the client ends its half.
        case lingering
        case closed
    }

    /// What a request's summary tells of its begin.
    private struct Origin {
        let began: MonotonicTime
        var mark = RequestMark()
    }

    /// A request whose body is still to come or whose handler runs.
    private struct Exchange {
        let head: RequestHead
        let origin: Origin
        let reply: Reply
        /// What came of the body, where a handler wants it.
        var body: [UInt8] = []
    }

    /// So often a connection reads before others have their turn.
    private static let readsPerTurn = 16

    let peer: PeerAddress
    private let descriptor: Int32
    private let lane: Lane
    var watch: Watch?

    // Where the connection stands in the lane's deadline queues, which alone set these.
    var stage: Stage?
    var deadline = MonotonicTime(nanoseconds: 0)
    var previous: Connection?
    var next: Connection?

    private var state = State.receiving
    private var parser: RequestParser
    private var exchange: Exchange?
    private var task: Task<Void, Never>?
    /// Tells the present handler's answer from one that comes after its deadline.
    private var taskNumber: UInt32 = 0
    /// What was read and not consumed.
    private var received: [UInt8] = []
    /// What could not be sent yet, in order.
    private var unsent: [ArraySlice<UInt8>] = []
    private var lingeredBytes = 0

    /// The kernel may have input for us: set by an edge, cleared when a read has emptied the socket.
    private var mayRead = false
    private var peerHasEnded = false
    /// `received` holds bytes that the parser has not seen.
    private var hasUnparsed = false
    /// No further request is read; when the output is out, the connection ends.
    private var isEnding = false
    /// Requests may be under way that will not be answered: the client did not expect the end.
    private var endsUnexpectedly = false
    private var isAdvancing = false
    /// The present stage's deadline starts anew.
    private var restartsDeadline = false
    private var hasServed = false

    /// Takes over the descriptor.
    init(_ descriptor: Int32, peer: PeerAddress, lane: Lane) {
        self.descriptor = descriptor
        self.peer = peer
        self.lane = lane
        parser = RequestParser(limits: lane.shared.configuration.limits.wire)
    }

    // MARK: Events

    func ready(_ readiness: Readiness, on worker: Worker) {
        if !readiness.isDisjoint(with: [.error, .hangUp]) { return close() }
        if readiness.contains(.peerClosed) { peerHasEnded = true }
        if readiness.contains(.read) { mayRead = true }
        if readiness.contains(.write), !unsent.isEmpty {
            sendRest()
            guard unsent.isEmpty else { return }
        }
        advance()
    }

    func deadlineHasPassed() {
        switch stage {
        case .head where parser.isMidRequest || !received.isEmpty:
            refuse(.requestTimeout, "The request's head did not arrive in time.")
        case .body:
            refuse(.requestTimeout, "The request's body did not arrive in time.")
        case .handler:
            let late = task
            task = nil
            taskNumber &+= 1
            refuse(.serviceUnavailable, "The server did not finish in time. Try again later.")
            late?.cancel()
        default:
            return close()
        }
        advance()
    }

    /// The server stops: an idle connection ends, unless a request waits in the kernel; others do when they are idle.
    func finishUp() {
        mayRead = true
        advance()
    }

    func close() {
        guard state != .closed else { return }
        state = .closed
        let task = task
        self.task = nil
        exchange = nil
        received = []
        unsent = []
        lane.forget(self)
        if let watch { lane.worker.unwatchAndClose(watch) }
        task?.cancel()
    }

    private var isMidRequest: Bool { parser.isMidRequest || !received.isEmpty }

    // MARK: The way of a request

    /// Goes as far as there is input to read and room to write.
    private func advance() {
        var reads = 0
        isAdvancing = true
        while state == .receiving, takesRequests, reads < Self.readsPerTurn, step() { reads += 1 }
        isAdvancing = false
        flush()
        if unsent.isEmpty, state == .receiving {
            if isEnding { end() } else if lane.closesIdle, !isMidRequest, !mayRead { close() }
        }
        // The rest of a client that sends without end has its turn after the other connections.
        if reads == Self.readsPerTurn { _ = lane.worker.addTimer(after: .zero) { self.advance() } }
        if state == .lingering { drain() }
        setDeadline()
    }

    private var takesRequests: Bool { unsent.isEmpty && !isEnding }

    /// False when there is nothing to parse now.
    private func step() -> Bool {
        if hasUnparsed {
            parseReceived()
            return true
        }
        guard mayRead else { return false }
        let count = receive()
        guard count > 0 else { return false }
        let buffer = UnsafeRawBufferPointer(rebasing: lane.receiveBuffer[..<count])
        if received.isEmpty {
            let bytes = buffer.assumingMemoryBound(to: UInt8.self)
            let consumed = consume(bytes.span)
            received = Array(bytes[consumed...])
            hasUnparsed = hasUnparsed && !received.isEmpty
        } else {
            received.append(contentsOf: buffer)
            parseReceived()
        }
        return true
    }

    private func parseReceived() {
        let bytes = received
        let consumed = consume(bytes.span)
        // What waits for more is not copied: a request that comes byte by byte would cost the square of its size.
        if consumed > 0 { received = consumed == bytes.count ? [] : Array(bytes[consumed...]) }
        hasUnparsed = hasUnparsed && !received.isEmpty
    }

    /// Reads into the lane's buffer; 0 when there is nothing now, or never will be.
    private func receive() -> Int {
        let buffer = lane.receiveBuffer
        var count: Int
        repeat { count = recv(descriptor, buffer.baseAddress, buffer.count, 0) } while count < 0 && errno == EINTR
        if count > 0 {
            // A short read has emptied the socket; what comes later is a new edge. An end that is known to follow
            // is not, and must be read.
            if count < buffer.count, !peerHasEnded { mayRead = false }
            return count
        }
        mayRead = false
        if count == 0 {
            peerHasEnded = true
            if state == .receiving { isEnding = true } else { close() }
        } else if errno != EAGAIN {
            close()
        }
        return 0
    }

    /// Answers how many bytes were consumed, and sets `hasUnparsed` when it stopped before the parser wanted to.
    private func consume(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        while state == .receiving, takesRequests {
            switch parser.next(bytes, at: &offset) {
            case .needMoreBytes:
                hasUnparsed = false
                return offset
            case .head(let head, let framing): begin(head, framing, moreIsHere: offset < bytes.count)
            case .body(let range): append(bytes.extracting(range))
            case .end: endOfRequest()
            case .failure(let error): refuse(error.status, error.reason)
            }
        }
        hasUnparsed = true
        return offset
    }

    private func begin(_ head: RequestHead, _ framing: BodyFraming, moreIsHere: Bool) {
        restartsDeadline = true
        hasServed = true
        var origin = Origin(began: lane.shared.configuration.onRequestEnd == nil ? lane.worker.now : .read())
        let reply = lane.shared.responder.reply(to: head, from: peer, mark: &origin.mark)
        switch reply {
        case .handler(let maxBodyBytes, _):
            exchange = Exchange(head: head, origin: origin, reply: reply)
            parser.maxBodyBytes = maxBodyBytes
            let isWanted = if case .length(let length) = framing { length <= maxBodyBytes } else { framing == .chunked }
            if head.expectsContinue, isWanted, !moreIsHere { lane.output.appendContinue() }
        case .response, .asset:
            switch framing {
            case .none:
                respond(reply, to: head, origin)
            case .length(let length)
            where length <= lane.shared.configuration.limits.maxSkippedBodyBytes && !head.expectsContinue:
                // A body that no one asked for, but short and on its way, is skipped first: a proxy that has the
                // answer may hand the connection to its next client, whose request would be taken for the rest of
                // this body (seen with HAProxy 2.6.12).
                exchange = Exchange(head: head, origin: origin, reply: reply)
                parser.maxBodyBytes = length
            default:
                isEnding = true
                endsUnexpectedly = true
                respond(reply, to: head, origin)
            }
        case .close:
            // What earlier requests on this connection were answered still goes out.
            flush()
            close()
        }
    }

    private func append(_ bytes: Span<UInt8>) {
        guard case .handler = exchange?.reply else { return }
        bytes.withUnsafeBufferPointer { exchange?.body.append(contentsOf: $0) }
    }

    private func endOfRequest() {
        guard let exchange else { return }
        guard case .handler(_, let handler) = exchange.reply else {
            self.exchange = nil
            return respond(exchange.reply, to: exchange.head, exchange.origin)
        }
        let request = Request(head: exchange.head, body: exchange.body, peer: peer)
        self.exchange?.body = []
        state = .handling
        restartsDeadline = true
        taskNumber &+= 1
        let number = taskNumber
        let task = Task.immediateDetached(executorPreference: lane.worker) {
            let response = await handler(request)
            self.handlerHasFinished(number, response)
        }
        if state == .handling, number == taskNumber { self.task = task }
    }

    private func handlerHasFinished(_ number: UInt32, _ response: Response) {
        guard state == .handling, number == taskNumber, let exchange else { return }
        task = nil
        state = .receiving
        self.exchange = nil
        respond(response, to: exchange.head, exchange.origin)
        if !isAdvancing { advance() }
    }

    // MARK: Answers

    private func respond(_ reply: Reply, to head: RequestHead, _ origin: Origin) {
        switch reply {
        case .response(let response): respond(response, to: head, origin)
        case .asset(let asset): respond(asset, to: head, origin)
        case .handler, .close: break
        }
    }

    private func respond(_ response: Response, to head: RequestHead, _ origin: Origin) {
        var response = response
        if !(200..<600).contains(response.status.code) {
            lane.shared.logger.error("a handler answered with status \(response.status.code); 500 was sent instead")
            response = lane.shared.errorResponse(.internalServerError, "The server made a mistake.")
        }
        lane.output.appendHead(of: response, persistence(after: head))
        let hasBody = head.method != .head && ResponseWriter.mayHaveBody(response.status)
        if hasBody { send(body: response.body[...]) }
        report(head, response.status, hasBody ? response.body.count : 0, origin)
    }

    private func respond(_ asset: Asset, to head: RequestHead, _ origin: Origin) {
        let answer = AssetAnswer(asset, to: head)
        if case .refused(let status, let detail, let fields) = answer {
            var response = lane.shared.errorResponse(status, detail)
            for field in fields { response.headerFields[field.name] = field.value }
            return respond(response, to: head, origin)
        }
        lane.output.appendHead(of: asset, answer, persistence(after: head))
        let body = head.method == .head ? [] : answer.body(of: asset)
        send(body: body)
        report(head, answer.status, body.count, origin)
    }

    /// An answer of the server's own, after which the connection ends.
    private func refuse(_ status: HTTPResponse.Status, _ detail: String) {
        let exchange = exchange
        self.exchange = nil
        if state == .handling { state = .receiving }
        isEnding = true
        endsUnexpectedly = true
        let response = lane.shared.errorResponse(status, detail)
        lane.output.appendHead(of: response, .close)
        let isHead = exchange?.head.method == .head
        if !isHead { send(body: response.body[...]) }
        report(exchange?.head, status, isHead ? 0 : response.body.count, exchange?.origin ?? Origin(began: .read()))
    }

    private func persistence(after head: RequestHead) -> Persistence {
        if !head.keepAlive { isEnding = true }
        if lane.isStopping, !isEnding {
            isEnding = true
            endsUnexpectedly = true
        }
        return isEnding ? .close : Persistence(for: head)
    }

    private func report(
        _ head: RequestHead?, _ status: HTTPResponse.Status, _ bodyBytes: Int, _ origin: Origin
    ) {
        guard let onRequestEnd = lane.shared.configuration.onRequestEnd else { return }
        onRequestEnd(
            RequestSummary(
                head: head, status: status, duration: .read() - origin.began, bodyBytes: bodyBytes, peer: peer,
                mark: origin.mark))
    }

    // MARK: Output

    /// Small bodies are copied behind their heads; larger ones are sent from where they are.
    private func send(body: ArraySlice<UInt8>) {
        if lane.output.hasRoom(for: body.count) { lane.output.append(body) } else { flush(with: body) }
    }

    /// Sends what has been put together, with one system call.
    private func flush(with body: ArraySlice<UInt8> = []) {
        guard state != .closed, !(lane.output.isEmpty && body.isEmpty) else { return lane.output.removeAll() }
        defer { lane.output.removeAll() }
        guard unsent.isEmpty else {
            unsent.append(lane.output.bytes[...])
            if !body.isEmpty { unsent.append(body) }
            return
        }
        let headCount = lane.output.bytes.count
        let count = lane.output.send(to: descriptor, body)
        guard count >= 0 else { return close() }
        if count < headCount { unsent.append(ArraySlice(Array(lane.output.bytes[count...]))) }
        if !body.isEmpty, count < headCount + body.count { unsent.append(body.dropFirst(max(0, count - headCount))) }
        if !unsent.isEmpty { restartsDeadline = true }
    }

    private func sendRest() {
        while let part = unsent.first {
            let count = OutputBuffer.send(part, to: descriptor)
            guard count >= 0 else { return close() }
            if count > 0 { lane.enter(self, .write) }
            guard count == part.count else {
                unsent[0] = part.dropFirst(count)
                return
            }
            unsent.removeFirst()
        }
    }

    // MARK: The end

    /// Everything is sent. Unread input would make the kernel's close a reset, which can destroy the answer before
    /// the client has read it; so our half is ended first and the rest of the input thrown away.
    private func end() {
        if peerHasEnded && !mayRead { return close() }
        let inputIsRead = exchange == nil && received.isEmpty && !mayRead
        if inputIsRead && !endsUnexpectedly { return close() }
        exchange = nil
        received = []
        hasUnparsed = false
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return close() }
        state = .lingering
    }

    private func drain() {
        while state == .lingering, mayRead {
            lingeredBytes += receive()
            if lingeredBytes > lane.shared.configuration.limits.maxLingerBytes { close() }
        }
    }

    private func setDeadline() {
        let wanted: Stage
        switch state {
        case .closed: return
        case _ where !unsent.isEmpty: wanted = .write
        case .handling: wanted = .handler
        case .lingering: wanted = .linger
        case .receiving where exchange != nil: wanted = .body
        case .receiving: wanted = isMidRequest || !hasServed ? .head : .idle
        }
        if wanted != stage || restartsDeadline { lane.enter(self, wanted) }
        restartsDeadline = false
    }
}
