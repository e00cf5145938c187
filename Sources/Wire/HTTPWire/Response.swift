public import HTTPTypes
package import WebFormats

/// A response whose body is in memory.
public struct Response: Sendable, Hashable {
    /// The status; its reason phrase is sent too.
    public var status: HTTPResponse.Status
    /// The fields. The writer sets Content-Length, Transfer-Encoding, Connection and Date, and ignores them here.
    public var headerFields: HTTPFields
    /// The body. It is not sent in response to HEAD, nor with 1xx, 204 and 304.
    public var body: [UInt8]
    /// Whether the connection ends with this response, whatever the client requested.
    public var endsConnection = false
    /// Whether nothing of it is sent and the connection is closed at once, as if the server had failed. For failures on
    /// demand.
    public var isWithheld = false

    /// Creates a response.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

extension Response {
    /// Returns a response that no cache keeps. Everything about one person must be sent this way.
    ///
    /// - Parameter contentType: the type of the body; nil if there is none.
    package static func noStore(
        _ status: HTTPResponse.Status, _ contentType: String? = nil, _ body: [UInt8] = []
    ) -> Response {
        var fields: HTTPFields = [:]
        fields[.contentType] = contentType
        fields[.cacheControl] = "no-store"
        return Response(status: status, headerFields: fields, body: body)
    }

    /// Returns JSON that no cache keeps.
    package static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, contentType: String = "application/json"
    ) -> Response {
        noStore(status, contentType, value.bytes)
    }

    /// Returns a redirect that no cache keeps.
    package static func redirect(to location: String, status: HTTPResponse.Status = .seeOther) -> Response {
        Response(status: status, headerFields: [.location: location, .cacheControl: "no-store"])
    }
}
