import Crypto
import HTTPTypes
import HTTPWire

/// A body that is held in memory with everything its answers need: the server sends it to GET and HEAD, whole, in
/// part or as `304 Not Modified`.
public final class Asset: Sendable {
    /// The bytes.
    public let body: [UInt8]
    /// The field lines of a 200 or 206, without those of its length.
    let contentLines: [UInt8]
    /// The field lines of a 304 (RFC 9110 §15.4.5).
    let notModifiedLines: [UInt8]
    /// The Content-Length line of a 200.
    let lengthLine: [UInt8]

    /// What the lines above name, and what the server's common fields therefore must not repeat.
    static let fieldNames: [HTTPField.Name] = [
        .contentType, .cacheControl, .eTag, .lastModified, .acceptRanges, .contentRange,
    ]

    /// - Parameters:
    ///   - body: The bytes.
    ///   - contentType: Their media type.
    ///   - cacheControl: The `Cache-Control` of every answer; the default has browsers revalidate each time.
    public init(
        body: [UInt8], contentType: String, cacheControl: String = "no-cache"
    ) {
        self.body = body
        // Fields are made by HTTPTypes, so that no line end in a parameter can reach the wire.
        var fields: HTTPFields = [.cacheControl: cacheControl]
        notModifiedLines = Self.lines(fields)
        fields[.contentType] = contentType
        fields[.acceptRanges] = "bytes"
        contentLines = Self.lines(fields)
        lengthLine = Array("Content-Length: \(body.count)\r\n".utf8)
    }

    private static func lines(_ fields: HTTPFields) -> [UInt8] {
        fields.flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) }
    }
}
