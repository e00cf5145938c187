public import HTTPTypes

/// The state of the connection after a response.
public enum Persistence: Sendable, Hashable {
    /// The connection stays open, which is HTTP/1.1's default.
    case keepAlive
    /// The connection stays open for an HTTP/1.0 client, for which this is not the default.
    case keepAliveHTTP10
    /// The connection closes after this response.
    case close

    /// Takes the request of `head`'s client; a server that wants to close uses `.close` itself.
    public init(for head: RequestHead) {
        self = head.keepAlive ? (head.version == .http11 ? .keepAlive : .keepAliveHTTP10) : .close
    }
}

/// Writes responses as HTTP/1.1 bytes. Only this type writes framing fields, and no CR, LF or NUL of a value reaches
/// the wire, so a response ends where its Content-Length says, whatever its fields contain.
public struct ResponseWriter: Sendable {
    private let commonFields: [(name: HTTPField.Name, line: [UInt8])]
    private let allCommonFields: [UInt8]

    /// Creates a writer that adds `commonFields` to every response that does not set a field with the same name. They
    /// are rendered here, once.
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

    /// Appends a head up to and including the empty line. `contentLength` is omitted if a body is impossible, or if it
    /// is nil (for 304 of a resource whose length is unknown). `date` is the Date field's value, normally
    /// `HTTPDate.bytes`, made once a second; empty for no Date.
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

    /// Returns a head without Date, Connection and the empty line, to be kept. Send it followed by `Date: ` with 29
    /// bytes, CR LF, and `headEnd`.
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
    /// The interim response to `RequestHead.expectsContinue`.
    public static let continueResponse: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Returns the end of a head: the Connection field if it is needed, and the empty line.
    public static func headEnd(_ persistence: Persistence) -> [UInt8] {
        switch persistence {
        case .keepAlive: lineEnd
        case .keepAliveHTTP10: keepAliveEnd
        case .close: closeEnd
        }
    }

    /// Whether a response with this status can have a body (RFC 9110 §6.4.1).
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
        // RFC 9110 §8.6: 1xx and 204 have none; 304 may only have that of the 200.
        if let contentLength, Self.mayHaveBody(status) {
            output += Self.contentLengthName
            output += String(contentLength).utf8
            output += Self.lineEnd
        }
    }

    /// Whether the field frames the response.
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

    /// Appends a value without control characters. HTTPTypes has already removed such bytes from a field's value and a
    /// reason phrase. This is the last line of defence on the way to the wire, also for values that another package
    /// creates without those checks.
    private static func appendValue(_ value: Span<UInt8>, to output: inout [UInt8]) {
        let clean = LineScanner.firstControl(value, from: 0, limit: value.count)
        value.withUnsafeBufferPointer { output.append(contentsOf: $0[..<clean]) }
        for index in clean..<value.count {
            let byte = value[index]
            output.append((byte < 0x20 && byte != ASCII.tab) || byte == 0x7F ? ASCII.space : byte)
        }
    }
}
