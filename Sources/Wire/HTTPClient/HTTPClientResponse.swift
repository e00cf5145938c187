public import HTTPTypes
import HTTPWire

/// A whole response.
public struct HTTPClientResponse: Sendable {
    private let wire: ResponseHead
    /// The body, decoded.
    public let body: [UInt8]

    init(_ head: ResponseHead, body: [UInt8]) {
        wire = head
        self.body = body
    }

    /// The status and fields, created at each call; single fields can be read without it. The fields describe `body` as
    /// it is here: Transfer-Encoding is omitted, and so are Content-Encoding and Content-Length if the body was
    /// decoded. Trailers are dropped.
    public var head: HTTPResponse {
        var fields = wire.headerFields
        fields[.transferEncoding] = nil
        return HTTPResponse(status: wire.status, headerFields: fields)
    }

    /// The status.
    public var status: HTTPResponse.Status { wire.status }

    /// The value of the field, lines joined by `, `; nil if there is none.
    public subscript(name: HTTPField.Name) -> String? { wire[name] }

    /// The value of each of the field's lines, in order.
    public func values(for name: HTTPField.Name) -> [String] { wire.values(for: name) }
}
