import CLinux
import EventLoop
import Foundation
import HTTPTypes
import HTTPWire
import TLS

/// One client connection: the whole of its state machine.
///
/// A connection is in one phase at a time, and the phase's payload is all that it knows of the request under way.
///
/// | in phase | when | it goes on to |
/// |---|---|---|
/// | `idle`, `head` | a part of a head comes | `head` |
/// | `idle`, `head` | a head comes that is answered at once | `idle`, or `ending` |
/// | `idle`, `head` | a head comes whose body is collected for a handler, or skipped | `body` |
/// | `body` | its end comes, and the answer is ready | `idle`, or `ending` |
/// | `body` | its end comes, and a handler is to give the answer | `handling` |
/// | `handling` | the handler returns | `idle`, or `ending` |
/// | `idle`, `head`, `body` | the client ends its half | `ending` |
/// | `head`, `body` | the bytes break the protocol's rules → 4xx, 5xx | `ending` |
/// | `head`, `body`, `handling` | the deadline passes → 408, 408, 503 | `ending` |
/// | all but `lingering` | the kernel does not take all of the output | `writing`, which keeps the phase |
/// | `writing` | everything is sent | the phase that it kept |
/// | `ending` | everything is sent, and unread input may be left (RFC 9112 §9.6) | `lingering` |
/// | `ending` | everything is sent, and the client expects the end | `closed` |
/// | `lingering` | the client ends its half, or sends too much | `closed` |
/// | `idle`, `head` without a byte | the server stops | `closed` |
/// | `idle`, `head`, `body`, `lingering` | another connection needs the place, and no whole request waits | `closed` |
/// | `writing` | another connection needs the place, and the client has not taken enough for a while | `closed` |
/// | `idle`, `head` without a byte, `writing`, `lingering` | the deadline passes | `closed` |
/// | any | the connection is reset, or the grace of a stop is over | `closed` |
///
/// The laws:
/// - Input is read only in `idle`, `head` and `body`. So pipelined requests are answered in order, and a client that
///   sends faster than it reads waits in its own kernel.
/// - Output leaves when the turn ends, with one system call for all answers of the turn.
/// - Each phase has one deadline, which starts when the phase is entered. Only `writing` restarts it, at each step of
///   progress: a client may read slowly, but it may not send slowly.
/// - An answer says `Connection: close` if and only if `ending` follows it. No later request is read then.
/// - A handler runs only in `handling`. Whatever else ends that phase cancels the handler's task, and `ending` or
///   `closed` follows, so that an answer which comes too late finds no phase that wants it.
/// - A client that has ended its half still gets its answers; one that has reset the connection has its handler
///   cancelled. TCP does not distinguish a client that is gone from one that only ended its half until we write to it;
///   the configuration says for which the handler's task takes it.
/// - The connection holds bytes of its own only while a request or an answer is incomplete: it reads into the lane's
///   buffer, parses there, and puts answers together in the lane's output.
///
/// Over TLS all of this stays as it is. The handshake happens within the first reads, in `head`. Three things differ: only
/// the session knows when the socket is empty, because it reads ahead; close_notify goes before our half's end; and what
/// lingers is thrown away as it comes, unopened.
///
/// `@unchecked Sendable`: touched only on the worker of its lane, where its handlers' tasks run too.
final class Connection: ReadinessHandler, @unchecked Sendable {
    private enum Phase {
        /// No byte of the next request has arrived.
        case idle
        /// A request's head is read. Every connection begins with this phase, and so with this deadline.
        case head
        /// A request's body is read. The bytes received so far are kept if a handler takes them.
        case body(Exchange, Reply, [UInt8])
        /// A handler runs. There is no task yet while the handler runs for the first time, within the turn's reading.
        case handling(Exchange, Task<Void, Never>?)
        /// These parts of the output wait, in order, until the client makes room.
        indirect case writing([ArraySlice<UInt8>], then: Phase)
        /// The last answer was given. It was not expected to be the last if requests may be under way behind it.
        case ending(isExpected: Bool)
        /// Our half has ended. This many bytes of input were read since, and thrown away.
        case lingering(Int)
        case closed

        /// The stage whose deadline applies.
        var stage: Stage? {
            switch self {
            case .idle: .idle
            case .head: .head
            case .body: .body
            case .handling: .handler
            case .writing: .write
            case .lingering: .linger
            // This phase does not outlast the turn.
            case .ending: nil
            case .closed: nil
            }
        }

        var isReading: Bool {
            switch self {
            case .idle, .head, .body: true
            default: false
            }
        }

        /// The phase itself, or the one that waits until everything is sent.
        var afterWriting: Phase { if case .writing(_, let next) = self { next } else { self } }

        /// The request under way, once its head has come.
        var exchange: Exchange? {
            switch self {
            case .body(let exchange, _, _), .handling(let exchange, _): exchange
            default: nil
            }
        }
    }

    /// A request whose head has arrived, and the values from its beginning that its summary needs.
    private struct Exchange {
        let head: RequestHead
        let began: MonotonicTime
        let mark: RequestMark
    }

    /// The input that the kernel has for us, as far as its edges and our reads have shown.
    private enum Input {
        /// No input until the next edge.
        case none
        /// Perhaps something.
        case some
        /// Perhaps something, and the client's end behind it.
        case last
        /// The client's end was read.
        case ended
    }

    /// A connection reads this many times before others have their turn.
    private static let readsPerTurn = 16

    let peer: PeerAddress
    private let descriptor: Int32
    private let lane: Lane
    /// nil on a connection in plain text.
    private var tls: TLSSession?
    var watch: Watch?

    // The connection's position in the lane's queues, which alone set these.
    var stage: Stage?
    var deadline = MonotonicTime(nanoseconds: 0)
    var places = ConnectionQueue.Places(repeating: .init())
    /// The connections of the same address; they alone set this and the rank.
    var neighbours: Neighbours?
    var rank: Neighbours.Rank?
    /// The time when the client last had taken enough of the output, or when the output began to wait.
    private(set) var tookEnough = MonotonicTime(nanoseconds: 0)
    /// The bytes that it has taken since then.
    private var taken = 0
    /// Less than this is no progress: a stranger could take a byte now and then.
    private static let enough = 16 * 1024

    private var phase = Phase.head
    /// The phase was entered in this turn; its deadline starts when the turn ends.
    private var startsDeadline = false
    private var input = Input.none
    private var parser: RequestParser
    /// The number of requests that were answered.
    private(set) var answers = 0
    /// Input that was read and not consumed.
    private var received: [UInt8] = []

    /// Takes over the descriptor.
    init(_ descriptor: Int32, peer: PeerAddress, lane: Lane, tls: consuming TLSSession?) {
        self.descriptor = descriptor
        self.peer = peer
        self.lane = lane
        self.tls = tls
        parser = RequestParser(limits: lane.shared.configuration.limits.wire)
    }

    // MARK: Events

    func ready(_ readiness: Readiness, on worker: Worker) {
        if !readiness.isDisjoint(with: [.error, .hangUp]) { return close() }
        switch input {
        case .none, .some: input = readiness.contains(.peerClosed) ? .last : readiness.contains(.read) ? .some : input
        case .last, .ended: break
        }
        if readiness.contains(.peerClosed), lane.shared.configuration.cancelsAtHalfClose,
            case .handling(_, let task) = phase
        {
            task?.cancel()
        }
        if readiness.contains(.write) { sendRest() }
        advance()
    }

    func deadlineHasPassed() {
        switch phase {
        case .head where !received.isEmpty:
            refuse(.requestTimeout, "The request's head did not arrive in time.")
        case .body:
            refuse(.requestTimeout, "The request's body did not arrive in time.")
        case .handling(_, let late):
            refuse(.serviceUnavailable, "The server did not finish in time. Try again later.")
            late?.cancel()
        default:
            return close()
        }
        advance()
    }

    /// The server stops: an idle connection ends, unless a request waits in the kernel; others do when they are idle.
    func finishUp() { readWhatWaits() }

    var hasTakenEnough: Bool { taken >= Self.enough }

    func startTaking(at now: MonotonicTime) { (tookEnough, taken) = (now, 0) }

    /// Another connection needs the place: this one ends, unless a whole request waits in the kernel.
    /// - Returns: Whether it has ended.
    func giveWay() -> Bool {
        switch phase {
        case .writing, .lingering:
            close()
            return true
        case .idle, .head, .body, .handling, .ending, .closed: break
        }
        let before = answers
        readWhatWaits()
        switch phase {
        case .idle, .head, .body: if answers == before { close() }
        case .handling, .writing, .ending, .lingering, .closed: break
        }
        if case .closed = phase { return true }
        return false
    }

    private func readWhatWaits() {
        if input == .none { input = .some }
        advance()
    }

    func close() {
        if case .closed = phase { return }
        let last = phase.afterWriting
        if case .writing = phase {} else { tls?.shutdown() }
        phase = .closed
        received = []
        lane.forget(self)
        if let watch { lane.worker.unwatchAndClose(watch) }
        if case .handling(_, let task) = last { task?.cancel() }
    }

    // MARK: The turn

    /// Continues for as long as there is input to read and room to write.
    private func advance() {
        var reads = 0
        if !received.isEmpty, phase.isReading { parseReceived() }
        while reads < Self.readsPerTurn, phase.isReading, read() { reads += 1 }
        flush()
        switch phase {
        case .ending(let isExpected): end(isExpected: isExpected)
        case .idle, .head: if lane.closesIdle, received.isEmpty, input == .none { close() }
        default: break
        }
        // The rest of a client that sends without end has its turn after the other connections.
        if reads == Self.readsPerTurn { _ = lane.worker.addTimer(after: .zero) { self.advance() } }
        drain()
        if startsDeadline, let stage = phase.stage {
            startsDeadline = false
            lane.enter(self, stage)
        }
    }

    /// Enters `next`, or makes it follow when everything is sent.
    private func enter(_ next: Phase) {
        if case .writing(let unsent, _) = phase {
            phase = .writing(unsent, then: next)
        } else {
            phase = next
            startsDeadline = true
        }
    }

    // MARK: The way of a request

    /// Reads once and parses the bytes. Returns false when there is nothing to read now, or never will be.
    private func read() -> Bool {
        let count = receive()
        guard count > 0 else { return false }
        let buffer = UnsafeRawBufferPointer(rebasing: lane.receiveBuffer[..<count])
        if received.isEmpty {
            let bytes = buffer.assumingMemoryBound(to: UInt8.self)
            let consumed = consume(bytes.span)
            received = Array(bytes[consumed...])
        } else {
            received.append(contentsOf: buffer)
            parseReceived()
        }
        return true
    }

    /// Parses the input that was kept. This costs little when the parser has seen everything before.
    private func parseReceived() {
        let bytes = received
        let consumed = consume(bytes.span)
        // Incomplete input is not copied: for a request that comes byte by byte, that would cost the square of its
        // size.
        if consumed > 0 { received = consumed == bytes.count ? [] : Array(bytes[consumed...]) }
    }

    /// Reads into the lane's buffer; 0 when there is nothing now, or never will be.
    private func receive() -> Int {
        guard input == .some || input == .last else { return 0 }
        if tls != nil, phase.isReading { return decrypt() }
        let buffer = lane.receiveBuffer
        var count: Int
        repeat { count = recv(descriptor, buffer.baseAddress, buffer.count, 0) } while count < 0 && errno == EINTR
        if count > 0 {
            // A short read has emptied the socket; what comes later is a new edge. An end that is known to follow
            // is not, and must be read.
            if count < buffer.count, input == .some { input = .none }
            return count
        }
        if count == 0 {
            inputHasEnded()
        } else {
            if errno != EAGAIN { close() }
            input = .none
        }
        return 0
    }

    /// The same over TLS.
    private func decrypt() -> Int {
        guard let (count, outcome) = tls?.read(into: lane.receiveBuffer, isLast: input == .last) else { return 0 }
        if outcome == .wantsInput { input = .none }
        // The bytes that came count first; the next read reports the end again.
        guard count == 0 else { return count }
        switch outcome {
        // The next edge goes on, of input or of room.
        case .done, .wantsInput, .wantsRoom: break
        case .ended: inputHasEnded()
        case .failed: close()
        case .isPlainHTTP:
            tls = nil
            refuse(.badRequest, "This port speaks https. Begin the address with https:// instead of http://.")
        }
        return 0
    }

    private func inputHasEnded() {
        input = .ended
        if phase.isReading { enter(.ending(isExpected: true)) } else { close() }
    }

    /// Parses input while requests are read. Returns the number of bytes that were consumed.
    private func consume(_ bytes: Span<UInt8>) -> Int {
        var offset = 0
        while phase.isReading {
            switch parser.next(bytes, at: &offset) {
            case .needMoreBytes:
                if case .idle = phase, offset < bytes.count { enter(.head) }
                return offset
            case .head(let head, let framing): begin(head, framing, moreIsHere: offset < bytes.count)
            case .body(let range): append(bytes.extracting(range))
            case .end: endOfRequest()
            case .failure(let error): refuse(error.status, error.reason)
            }
        }
        return offset
    }

    private func begin(_ head: RequestHead, _ framing: BodyFraming, moreIsHere: Bool) {
        let began = lane.shared.configuration.onRequestEnd == nil ? lane.worker.now : .read()
        var mark = RequestMark()
        let reply = lane.shared.responder.reply(to: head, from: peer, mark: &mark)
        let exchange = Exchange(head: head, began: began, mark: mark)
        switch reply {
        case .handler(let maxBodyBytes, _):
            enter(.body(exchange, reply, []))
            parser.maxBodyBytes = maxBodyBytes
            let isWanted = if case .length(let length) = framing { length <= maxBodyBytes } else { framing == .chunked }
            if head.expectsContinue, isWanted, !moreIsHere { lane.output.appendContinue() }
        case .response, .prepared, .asset:
            switch framing {
            case .none:
                respond(reply, to: exchange)
            case .length(let length)
            where length <= lane.shared.configuration.limits.maxSkippedBodyBytes && !head.expectsContinue:
                // A body that no one asked for, but short and on its way, is skipped first: a proxy that has the
                // answer may hand the connection to its next client, whose request would be taken for the rest of
                // this body (seen with HAProxy 2.6.12).
                enter(.body(exchange, reply, []))
                parser.maxBodyBytes = length
            default:
                respond(reply, to: exchange, leavingItsBody: true)
            }
        }
    }

    private func append(_ bytes: Span<UInt8>) {
        guard case .body(let exchange, let reply, var body) = phase, case .handler = reply else { return }
        // Without a second reference to its bytes the body grows in place.
        phase = .idle
        bytes.withUnsafeBufferPointer { body.append(contentsOf: $0) }
        phase = .body(exchange, reply, body)
    }

    /// The end of a body that was collected or skipped. A request without one may have been answered at its head.
    private func endOfRequest() {
        guard case .body(let exchange, let reply, let body) = phase else { return }
        guard case .handler(_, let handler) = reply else { return respond(reply, to: exchange) }
        enter(.handling(exchange, nil))
        let request = Request(head: exchange.head, body: body, peer: peer)
        let task = Task.immediateDetached(executorPreference: lane.worker) {
            let response = await handler(request)
            self.handlerHasFinished(response)
        }
        if case .handling = phase { phase = .handling(exchange, task) }
    }

    private func handlerHasFinished(_ response: Response) {
        guard case .handling(let exchange, let task) = phase.afterWriting else { return }
        respond(.response(response), to: exchange)
        // Without a task this is the turn that read the request, and it goes on by itself.
        if task != nil { advance() }
    }

    // MARK: Answers

    /// - Parameter leavesBody: Whether the request has a body that is neither collected nor skipped.
    private func respond(_ reply: Reply, to exchange: Exchange, leavingItsBody leavesBody: Bool = false) {
        if case .response(let response) = reply, response.isWithheld {
            // The answers to earlier requests on this connection are still sent.
            flush()
            return close()
        }
        let isLast = if case .response(let response) = reply { response.endsConnection } else { false }
        let persistence = proceed(after: exchange.head, isLast: isLast || leavesBody)
        switch reply {
        case .response(let response): respond(response, to: exchange, persistence)
        case .prepared(let response): respond(response, to: exchange, persistence)
        case .asset(let asset): respond(asset, to: exchange, persistence)
        case .handler: break
        }
    }

    /// Enters the phase after an answer and returns how the answer announces it. This comes before the answer is sent,
    /// because `writing` keeps the phase that it finds.
    ///
    /// - Parameter isLast: Whether it ends the connection although the client does not expect that.
    private func proceed(after head: RequestHead, isLast: Bool) -> Persistence {
        answers &+= 1
        guard head.keepAlive, !isLast, !lane.isStopping else {
            enter(.ending(isExpected: !head.keepAlive && !isLast))
            return .close
        }
        enter(.idle)
        return Persistence(for: head)
    }

    private func respond(_ response: Response, to exchange: Exchange, _ persistence: Persistence) {
        var response = response
        if !(200..<600).contains(response.status.code) {
            lane.shared.logger.error("a handler answered with status \(response.status.code); 500 was sent instead")
            response = lane.shared.errorResponse(.internalServerError, "The server made a mistake.")
        }
        lane.output.appendHead(of: response, persistence)
        let hasBody = exchange.head.method != .head && ResponseWriter.mayHaveBody(response.status)
        if hasBody { send(body: response.body[...]) }
        report(exchange, response.status, hasBody ? response.body.count : 0)
    }

    private func respond(_ response: PreparedResponse, to exchange: Exchange, _ persistence: Persistence) {
        lane.output.appendHead(of: response, persistence)
        let hasBody = exchange.head.method != .head
        if hasBody { send(body: response.body[...]) }
        report(exchange, .ok, hasBody ? response.body.count : 0)
    }

    private func respond(_ asset: Asset, to exchange: Exchange, _ persistence: Persistence) {
        let asset = asset.form(for: exchange.head)
        let answer = AssetAnswer(asset, to: exchange.head)
        if case .refused(let status, let detail, let fields) = answer {
            var response = lane.shared.errorResponse(status, detail)
            for field in fields { response.headerFields[field.name] = field.value }
            return respond(response, to: exchange, persistence)
        }
        lane.output.appendHead(of: asset, answer, persistence)
        let body = exchange.head.method == .head ? [] : answer.body(of: asset)
        send(body: body)
        report(exchange, answer.status, body.count)
    }

    /// Sends an answer of the server itself, after which the connection ends.
    private func refuse(_ status: HTTPResponse.Status, _ detail: String) {
        let exchange = phase.exchange
        enter(.ending(isExpected: false))
        let response = lane.shared.errorResponse(status, detail)
        lane.output.appendHead(of: response, .close)
        let isHead = exchange?.head.method == .head
        if !isHead { send(body: response.body[...]) }
        report(exchange, status, isHead ? 0 : response.body.count)
    }

    private func report(_ exchange: Exchange?, _ status: HTTPResponse.Status, _ bodyBytes: Int) {
        guard let onRequestEnd = lane.shared.configuration.onRequestEnd else { return }
        onRequestEnd(
            RequestSummary(
                head: exchange?.head, status: status, duration: exchange.map { .read() - $0.began } ?? .zero,
                bodyBytes: bodyBytes, peer: peer, mark: exchange?.mark ?? RequestMark()))
    }

    // MARK: Output

    /// Small bodies are copied behind their heads; larger ones are sent from where they are.
    private func send(body: ArraySlice<UInt8>) {
        if lane.output.hasRoom(for: body.count) { lane.output.append(body) } else { flush(with: body) }
    }

    /// Sends what has been put together, with one system call.
    private func flush(with body: ArraySlice<UInt8> = []) {
        if case .closed = phase { return lane.output.removeAll() }
        guard !(lane.output.isEmpty && body.isEmpty) else { return }
        defer { lane.output.removeAll() }
        if case .writing(let unsent, let next) = phase {
            phase = .writing(unsent + [lane.output.bytes[...], body].filter { !$0.isEmpty }, then: next)
            return
        }
        let headCount = lane.output.bytes.count
        let count = transmit(body)
        guard count >= 0 else { return close() }
        guard count < headCount + body.count else { return }
        var unsent: [ArraySlice<UInt8>] = []
        if count < headCount { unsent.append(ArraySlice(Array(lane.output.bytes[count...]))) }
        if !body.isEmpty { unsent.append(body.dropFirst(max(0, count - headCount))) }
        phase = .writing(unsent, then: phase)
        startsDeadline = true
    }

    /// Sends the output and then `body`: in plain text with one system call, over TLS with one for each record.
    /// - Returns: How many bytes were taken, 0 when the kernel has no room, or -1 when the connection is gone.
    private func transmit(_ body: ArraySlice<UInt8>) -> Int {
        guard tls != nil else { return lane.output.send(to: descriptor, body) }
        let head = transmit(part: lane.output.bytes[...])
        guard head == lane.output.bytes.count, !body.isEmpty else { return head }
        let rest = transmit(part: body)
        return rest < 0 ? rest : head + rest
    }

    /// The same for one part.
    private func transmit(part: ArraySlice<UInt8>) -> Int {
        guard tls != nil else { return OutputBuffer.send(part, to: descriptor) }
        return part.withUnsafeBytes { tls?.write($0) ?? -1 }
    }

    private func sendRest() {
        guard case .writing(let unsent, let next) = phase else { return }
        for (place, part) in unsent.enumerated() {
            let count = transmit(part: part)
            guard count >= 0 else { return close() }
            // The deadline of `writing`, or of the phase after it.
            if count > 0 { startsDeadline = true }
            taken += count
            guard count == part.count else {
                phase = .writing([part.dropFirst(count)] + unsent[(place + 1)...], then: next)
                return
            }
        }
        taken = Self.enough
        phase = next
    }

    // MARK: The end

    /// Everything is sent. Unread input would make the kernel's close a reset, which can destroy the answer before
    /// the client has read it; so our half is ended first and the rest of the input thrown away.
    private func end(isExpected: Bool) {
        let inputIsRead = received.isEmpty && input == .none
        if input == .ended || isExpected && inputIsRead { return close() }
        received = []
        tls?.shutdown()
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return close() }
        enter(.lingering(0))
    }

    private func drain() {
        while case .lingering(let before) = phase {
            let count = receive()
            guard count > 0 else { return }
            phase = .lingering(before + count)
            if before + count > lane.shared.configuration.limits.maxLingerBytes { close() }
        }
    }
}
