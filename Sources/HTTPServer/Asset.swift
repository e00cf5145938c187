import Crypto
import HTTPTypes
import HTTPWire
import WebFormats

/// A body that is held in memory with everything its answers need: the server sends it to GET and HEAD, whole, in
/// part or as `304 Not Modified`.
public final class Asset: Sendable {
    /// The bytes.
    public let body: [UInt8]
    /// Their strong entity tag (half of the SHA-256), and when they changed last.
    public let validators: Validators

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
    ///   - lastModified: When the bytes changed last, if it is known.
    ///   - fields: Further fields of every answer, a 304 among them, as `Vary` and `Content-Language`.
    public init(
        body: [UInt8], contentType: String, cacheControl: String = "no-cache", lastModified: HTTPDate? = nil,
        fields further: HTTPFields = [:]
    ) {
        self.body = body
        let tag = EntityTag(strong: Hex.encode(SHA256.hash(data: body).prefix(16)))
        validators = Validators(entityTag: tag, lastModified: lastModified)
        // Fields are made by HTTPTypes, so that no line end in a parameter can reach the wire.
        var fields: HTTPFields = [.cacheControl: cacheControl]
        fields[.eTag] = tag?.text
        fields[.lastModified] = lastModified?.text
        fields.append(contentsOf: further)
        notModifiedLines = Self.lines(fields)
        fields[.contentType] = contentType
        fields[.acceptRanges] = "bytes"
        contentLines = Self.lines(fields)
        lengthLine = Array("Content-Length: \(body.count)\r\n".utf8)
    }

    /// Fields as they stand on the wire.
    static func lines(_ fields: HTTPFields) -> [UInt8] {
        fields.flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) }
    }
}
