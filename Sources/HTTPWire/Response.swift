public import HTTPTypes
package import WebFormats

/// An answer whose body is in memory.
public struct Response: Sendable, Hashable {
    /// The status; its reason phrase is sent too.
    public var status: HTTPResponse.Status
    /// The fields. Content-Length, Transfer-Encoding, Connection and Date are the writer's and are not taken from here.
    public var headerFields: HTTPFields
    /// The body. It is not sent in answer to HEAD, nor with 1xx, 204 and 304.
    public var body: [UInt8]
    /// Whether the connection ends with this answer, whatever the client asked for.
    public var endsConnection = false

    /// An answer.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }
}

extension Response {
    /// An answer that no cache keeps, as everything is that concerns one person.
    ///
    /// - Parameter contentType: of the body; nil where there is none.
    package static func noStore(
        _ status: HTTPResponse.Status, _ contentType: String? = nil, _ body: [UInt8] = []
    ) -> Response {
        var fields: HTTPFields = [:]
        fields[.contentType] = contentType
        fields[.cacheControl] = "no-store"
        return Response(status: status, headerFields: fields, body: body)
    }

    /// JSON that no cache keeps.
    package static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, contentType: String = "application/json"
    ) -> Response {
        noStore(status, contentType, value.bytes)
    }

    /// A redirect that no cache keeps.
    package static func redirect(to location: String, status: HTTPResponse.Status = .seeOther) -> Response {
        Response(status: status, headerFields: [.location: location, .cacheControl: "no-store"])
    }
}
