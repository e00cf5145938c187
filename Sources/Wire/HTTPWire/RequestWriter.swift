public import HTTPTypes

/// Writes requests as HTTP/1.1 bytes. The part that all requests share is written once, and the rest is added to it.
/// Anything that could end a line, or change the framing of the message, is refused, so that a request ends where it
/// appears to.
public struct RequestWriter: Sendable {
    /// The reason for which a request cannot be written.
    public enum Problem: Error, Sendable, Hashable {
        /// The method is CONNECT, whose target has another form.
        case invalidMethod
        /// The target is not a path with an optional query, percent-encoded and without a fragment.
        case invalidTarget
        /// The host is not a name or an address with an optional port.
        case invalidHost
        /// The field's value has a control character.
        case invalidValue(HTTPField.Name)
        /// The field belongs to the framing of the message or to the connection, and the caller must not send it.
        case reserved(HTTPField.Name)
    }

    private let beginning: [UInt8]

    /// Creates a writer of requests that begin with this request line, Host and these fields.
    public init(
        method: HTTPRequest.Method, target: String, host: String, headerFields: HTTPFields = [:]
    ) throws(Problem) {
        guard method != .connect else { throw .invalidMethod }
        guard target.utf8.first == ASCII.slash,
            target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw .invalidTarget }
        guard Host.isValid(Array(host.utf8).span, 0..<host.utf8.count) else { throw .invalidHost }
        var bytes = Array("\(method.rawValue) \(target) HTTP/1.1\r\nHost: \(host)\r\n".utf8)
        for field in headerFields { try Self.append(field, to: &bytes) }
        beginning = bytes
    }

    /// Returns a request with these fields after those of the writer, in an array of its own. Without a body there is
    /// no Content-Length; an empty body has the length 0.
    public func request(adding headerFields: HTTPFields = [:], body: [UInt8]? = nil) throws(Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        // Room for a bearer token and a trace, so that the buffer is allocated once.
        bytes.reserveCapacity(beginning.count + 4096 + (body?.count ?? 0))
        bytes += beginning
        for field in headerFields { try Self.append(field, to: &bytes) }
        if let body { bytes += "Content-Length: \(body.count)\r\n".utf8 }
        bytes += ResponseWriter.lineEnd
        if let body { bytes += body }
        return bytes
    }

    private static func append(_ field: HTTPField, to output: inout [UInt8]) throws(Problem) {
        switch field.name.canonicalName {
        case "host", "content-length", "transfer-encoding", "trailer", "te", "connection", "keep-alive", "expect",
            "upgrade", "proxy-connection", "http2-settings":
            throw .reserved(field.name)
        default: break
        }
        output += field.name.rawName.utf8
        output.append(ASCII.colon)
        let isValid = field.withUnsafeBytesOfValue { value in
            guard LineScanner.firstControl(value.span, from: 0, limit: value.count) == value.count else { return false }
            if !value.isEmpty { output.append(ASCII.space) }
            output.append(contentsOf: value)
            return true
        }
        guard isValid else { throw .invalidValue(field.name) }
        output += ResponseWriter.lineEnd
    }
}
