import EventLoop
import HTTPTypes
import Synchronization

/// One request on its way and what has come back of it.
///
/// `@unchecked Sendable`: made by the caller, handed to a worker once, and from then on confined to it; only the
/// cancellation flag is touched by others, and it is atomic.
final class Transfer: @unchecked Sendable {
    /// Fields of a response that no honest server exceeds.
    static let maxHeadBytes = 65_536

    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    private(set) var request: OutgoingRequest
    private(set) var timeout: Duration
    /// What the request is on a connection of ours; nil when libcurl sends it.
    private(set) var direct: DirectRequest?
    /// The connection that it is on, or waits for.
    var connection: DirectConnection?
    /// When it has to have ended, once it has begun on a connection of ours.
    var deadline: MonotonicTime?
    /// Whether a kept connection had ended before a byte of the response.
    var isRetried = false
    /// Called once, at the end.
    var completion: Completion?
    /// What was too large, "head" or "body".
    private(set) var overflow: String?

    let maxBodyBytes: Int
    private let cancelled = Atomic<Bool>(false)
    private var headBytes = 0
    private var headIsComplete = false
    private var status = 0
    private var fields = HTTPFields()
    /// The last field line, which folded lines may continue.
    private var lastField: (name: HTTPField.Name, value: [UInt8])?
    private var body: [UInt8] = []

    init(request: OutgoingRequest, direct: DirectRequest? = nil, timeout: Duration, maxBodyBytes: Int) {
        self.request = request
        self.direct = direct
        self.timeout = timeout
        self.maxBodyBytes = maxBodyBytes
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }

    /// Ends the transfer for who waits for it; the first end counts.
    func finish(_ result: Result<HTTPClientResponse, HTTPClientError>) {
        let waiting = completion
        completion = nil
        waiting?(result)
    }

    /// Makes it one that libcurl sends, within `timeout`.
    func leaveToLibcurl(timeout: Duration) throws(HTTPClientError) {
        guard let direct else { return }
        self.timeout = timeout
        request = try direct.outgoing
        self.direct = nil
    }

    /// The response, once libcurl says that it is complete.
    func response(timings: HTTPClientResponse.Timings) -> HTTPClientResponse? {
        guard headIsComplete, (100...999).contains(status) else { return nil }
        if fields.contains(.contentEncoding), request.method != .head {
            fields[.contentEncoding] = nil
            fields[.contentLength] = nil
        }
        fields[.transferEncoding] = nil
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        return HTTPClientResponse(head: head, body: body, timings: timings)
    }

    // MARK: What libcurl hands over; false ends the transfer

    /// A status line, a field line, or the empty line, each whole and with its line end.
    func receiveFieldLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= Self.maxHeadBytes else {
            overflow = "head"
            return false
        }
        var text = line[...]
        while let last = text.last, last == 0x0D || last == 0x0A { text.removeLast() }
        if text.starts(with: "HTTP/".utf8) {
            // A new head: the last one was an interim response (RFC 9110 section 15.2).
            guard !headIsComplete else { return true }
            fields = HTTPFields()
            lastField = nil
            status = Self.status(of: text)
        } else if text.isEmpty {
            endField()
            headIsComplete = status >= 200
        } else if !headIsComplete {
            receiveField(text)
        }
        return true
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= maxBodyBytes - body.count else {
            overflow = "body"
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    private func receiveField(_ text: Slice<UnsafeRawBufferPointer>) {
        let isFolded = text.first == 0x20 || text.first == 0x09
        guard !isFolded, let colon = text.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self))
        else {
            // Folding is obsolete (RFC 9112 section 5.2): the line continues the value before it.
            guard isFolded else { return }
            lastField?.value.append(UInt8(ascii: " "))
            lastField?.value.append(contentsOf: text.trimmed)
            return
        }
        endField()
        lastField = (name, Array(text[(colon + 1)...].trimmed))
    }

    private func endField() {
        if let lastField { fields.append(HTTPField(name: lastField.name, value: lastField.value)) }
        lastField = nil
    }

    /// The three digits after the first space, or 0.
    private static func status(of line: Slice<UnsafeRawBufferPointer>) -> Int {
        guard let space = line.firstIndex(of: 0x20) else { return 0 }
        return Int(String(decoding: line[(space + 1)...].prefix(3), as: UTF8.self)) ?? 0
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Without spaces and tabs at either end.
    fileprivate var trimmed: Self {
        var text = self
        while let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}
