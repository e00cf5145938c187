import HTTPTypes

/// A 200 that can be sent any number of times: its field lines are made once. Unlike an ``Asset`` it has no validators,
/// so conditions and ranges in requests are ignored.
public final class PreparedResponse: Sendable {
    /// The bytes.
    public let body: [UInt8]
    /// Its field lines, including the length.
    let lines: [UInt8]
    let kind: ContentKind

    /// - Parameters:
    ///   - body: The bytes.
    ///   - contentType: Their media type.
    ///   - cacheControl: The `Cache-Control`; the default keeps the response out of every cache.
    public init(body: [UInt8], contentType: String, cacheControl: String = "no-store") {
        self.body = body
        kind = ContentKind(type: contentType)
        let fields: HTTPFields = [.contentType: contentType, .cacheControl: cacheControl]
        lines = Asset.lines(fields) + Array("Content-Length: \(body.count)\r\n".utf8)
    }
}
