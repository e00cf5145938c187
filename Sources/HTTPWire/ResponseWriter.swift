public import HTTPTypes

/// How an answer leaves the connection.
public enum Persistence: Sendable, Hashable {
    /// The connection stays open, as HTTP/1.1 takes for granted.
    case keepAlive
    /// The same for an HTTP/1.0 client, which does not assume it.
    case keepAliveHTTP10
    /// The connection closes after this answer.
    case close

    /// What `head`'s client asked for; a server that wants to close says `.close` itself.
    public init(for head: RequestHead) {
        self = head.keepAlive ? (head.version == .http11 ? .keepAlive : .keepAliveHTTP10) : .close
    }
}

/// Writes answers as HTTP/1.1 bytes. Framing fields are written here and nowhere else, and no CR, LF or NUL of a value
/// reaches the wire, so that an answer ends where its Content-Length says whatever its fields hold.
public struct ResponseWriter: Sendable {
    private let commonFields: [(name: HTTPField.Name, line: [UInt8])]
    private let allCommonFields: [UInt8]

    /// A writer that puts `commonFields` on every answer that does not set a field of the same name itself. They are
    /// rendered here, once.
    public init(commonFields: HTTPFields = [:]) {
        var lines: [(name: HTTPField.Name, line: [UInt8])] = []
        for field in commonFields where !Self.isOwnField(field.name) {
            var line: [UInt8] = []
            Self.append(field, to: &line)
            lines.append((field.name, line))
        }
        self.commonFields = lines
        allCommonFields = lines.flatMap(\.line)
    }

    /// Appends a head up to and including the empty line. `contentLength` is left away where a body is impossible; nil
    /// leaves it away too (for 304 of a resource whose length is unknown). `date` is the Date field's value, normally
    /// `HTTPDate.bytes` made once a second; empty for no Date.
    public func appendHead(
        status: HTTPResponse.Status, headerFields: HTTPFields, contentLength: Int?, to output: inout [UInt8],
        date: [UInt8], persistence: Persistence
    ) {
        appendFields(status: status, headerFields: headerFields, contentLength: contentLength, to: &output)
        if !date.isEmpty {
            output += Self.dateName
            Self.appendValue(date.span, to: &output)
            output += Self.lineEnd
        }
        output += Self.headEnd(persistence)
    }

    /// Everything of a head but Date, Connection and the empty line. For a head that is kept: send it followed by
    /// `Date: ` with 29 bytes, CR LF, and `headEnd`.
    public func headWithoutDate(
        status: HTTPResponse.Status, headerFields: HTTPFields, contentLength: Int?
    ) -> [UInt8] {
        var output: [UInt8] = []
        appendFields(status: status, headerFields: headerFields, contentLength: contentLength, to: &output)
        return output
    }

    /// `Date: `.
    public static let dateName: [UInt8] = Array("Date: ".utf8)
    /// CR LF.
    public static let lineEnd: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]
    /// The interim answer to `RequestHead.expectsContinue`.
    public static let continueResponse: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// The end of a head: the Connection field where there must be one, and the empty line.
    public static func headEnd(_ persistence: Persistence) -> [UInt8] {
        switch persistence {
        case .keepAlive: lineEnd
        case .keepAliveHTTP10: keepAliveEnd
        case .close: closeEnd
        }
    }

    /// Whether an answer with this status can have a body (RFC 9110 §6.4.1).
    public static func mayHaveBody(_ status: HTTPResponse.Status) -> Bool {
        status.code >= 200 && status.code != 204 && status.code != 304
    }

    private static let keepAliveEnd: [UInt8] = Array("Connection: keep-alive\r\n\r\n".utf8)
    private static let closeEnd: [UInt8] = Array("Connection: close\r\n\r\n".utf8)
    private static let version: [UInt8] = Array("HTTP/1.1 ".utf8)
    private static let contentLengthName: [UInt8] = Array("Content-Length: ".utf8)

    private func appendFields(
        status: HTTPResponse.Status, headerFields: HTTPFields, contentLength: Int?, to output: inout [UInt8]
    ) {
        output += Self.version
        let code = status.code
        output.append(UInt8(truncatingIfNeeded: 0x30 + code / 100 % 10))
        output.append(UInt8(truncatingIfNeeded: 0x30 + code / 10 % 10))
        output.append(UInt8(truncatingIfNeeded: 0x30 + code % 10))
        output.append(ASCII.space)
        Self.appendValue(status.reasonPhrase.utf8.span, to: &output)
        output += Self.lineEnd
        for field in headerFields where !Self.isOwnField(field.name) { Self.append(field, to: &output) }
        if headerFields.isEmpty || !commonFields.contains(where: { headerFields.contains($0.name) }) {
            output += allCommonFields
        } else {
            for field in commonFields where !headerFields.contains(field.name) { output += field.line }
        }
        // RFC 9110 §8.6: none on 1xx and 204; on 304 only what a 200 would have had.
        if let contentLength, Self.mayHaveBody(status) {
            output += Self.contentLengthName
            output += String(contentLength).utf8
            output += Self.lineEnd
        }
    }

    /// The fields that frame the answer, in their canonical names.
    private static func isOwnField(_ name: HTTPField.Name) -> Bool {
        switch name.canonicalName {
        case "content-length", "transfer-encoding", "connection", "date": true
        default: false
        }
    }

    private static func append(_ field: HTTPField, to output: inout [UInt8]) {
        output += field.name.rawName.utf8
        output.append(ASCII.colon)
        output.append(ASCII.space)
        field.withUnsafeBytesOfValue { appendValue($0.span, to: &output) }
        output += lineEnd
    }

    /// HTTPTypes has already taken such bytes out of a field's value and of a reason phrase. This is the last line of
    /// defence on the way to the wire, also for what another package builds without those checks.
    private static func appendValue(_ value: Span<UInt8>, to output: inout [UInt8]) {
        let clean = LineScanner.firstControl(value, from: 0, limit: value.count)
        value.withUnsafeBufferPointer { output.append(contentsOf: $0[..<clean]) }
        for index in clean..<value.count {
            let byte = value[index]
            output.append((byte < 0x20 && byte != ASCII.tab) || byte == 0x7F ? ASCII.space : byte)
        }
    }
}
