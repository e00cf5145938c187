import HTTPTypes

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
