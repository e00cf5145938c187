import Cryptography
public import HTTPTypes
public import HTTPWire
import Synchronization
public import WebFormats

/// A body in memory, with everything that responses to it need. The server sends it to GET and HEAD, whole, in part or
/// as `304 Not Modified`. A body that may be compressed is also sent in other content codings, after ``compress()`` was
/// called.
public final class Asset: Sendable {
    /// The bytes.
    public let body: [UInt8]
    /// Its strong entity tag (half of the SHA-256), and the time of its last change.
    public let validators: Validators

    let kind: ContentKind

    /// The field lines of a 200 or 206, without those of the length.
    let contentLines: [UInt8]
    /// The field lines of a 304 (RFC 9110 §15.4.5).
    let notModifiedLines: [UInt8]
    /// The Content-Length line of a 200.
    let lengthLine: [UInt8]

    /// The fields from which variants in other content codings are made; nil for an asset that is only sent as it is.
    private let fields: (content: HTTPFields, lastModified: HTTPDate?)?
    private let coded = AtomicLazyReference<CodedForms>()

    /// The content in other codings, the best first.
    private final class CodedForms: Sendable {
        let assets: [(coding: ContentCoding, asset: Asset)]

        init(_ assets: [(coding: ContentCoding, asset: Asset)]) { self.assets = assets }
    }

    /// The fields in the lines above, which the server's common fields therefore must not repeat.
    static let fieldNames: [HTTPField.Name] = [
        .contentType, .cacheControl, .eTag, .lastModified, .acceptRanges, .contentRange, .contentEncoding,
    ]

    /// - Parameters:
    ///   - body: The bytes.
    ///   - contentType: Their media type.
    ///   - cacheControl: The `Cache-Control` of every response; the default makes browsers revalidate each time.
    ///   - lastModified: The time of the last change, if it is known.
    ///   - mayBeCompressed: Whether there will be other content codings. Every response then says so (`Vary`).
    ///   - fields: Further fields of every response, including a 304, such as `Vary` and `Content-Language`.
    public convenience init(
        body: [UInt8], contentType: String, cacheControl: String = "no-cache", lastModified: HTTPDate? = nil,
        mayBeCompressed: Bool = false, fields further: HTTPFields = [:]
    ) {
        var fields: HTTPFields = [.contentType: contentType, .cacheControl: cacheControl]
        fields.append(contentsOf: further)
        if mayBeCompressed { fields.append(HTTPField(name: .vary, value: "Accept-Encoding")) }
        self.init(body: body, lastModified: lastModified, fields: fields, isVariable: mayBeCompressed)
    }

    private init(body: [UInt8], lastModified: HTTPDate?, fields: HTTPFields, isVariable: Bool) {
        self.body = body
        self.fields = isVariable ? (fields, lastModified) : nil
        let tag = EntityTag(strong: Hex.encode(SHA256.hash(data: body).prefix(16)))
        validators = Validators(entityTag: tag, lastModified: lastModified)
        // HTTPTypes makes the fields, so that no line end in a parameter can reach the wire.
        var fields = fields
        kind = ContentKind(type: fields[.contentType])
        fields[.eTag] = tag?.text
        fields[.lastModified] = lastModified?.text
        fields[.acceptRanges] = "bytes"
        contentLines = Self.lines(fields)
        // A 304 has the fields that a cache updates, but not those that describe the content (RFC 9110 section 15.4.5).
        for name in [HTTPField.Name.contentType, .contentEncoding, .acceptRanges] { fields[name] = nil }
        notModifiedLines = Self.lines(fields)
        lengthLine = Array("Content-Length: \(body.count)\r\n".utf8)
    }

    /// Makes the other codings of the content, which later requests get. Takes milliseconds: do not call it on a
    /// worker.
    ///
    /// - Parameter twin: An asset with the same body that gets them too.
    public func compress(with twin: Asset? = nil) {
        guard fields != nil, coded.load() == nil else { return }
        let bodies = ContentCoding.allCases.map { ($0, $0.encode(body)) }
        for asset in [self, twin].compactMap(\.self) { asset.publish(bodies) }
    }

    private func publish(_ bodies: [(ContentCoding, [UInt8]?)]) {
        guard let fields else { return }
        let forms = bodies.compactMap { coding, body -> (coding: ContentCoding, asset: Asset)? in
            guard let body else { return nil }
            var content = fields.content
            content[.contentEncoding] = coding.rawValue
            return (
                coding,
                Asset(body: body, lastModified: fields.lastModified, fields: content, isVariable: false)
            )
        }
        _ = coded.storeIfNil(CodedForms(forms))
    }

    /// Returns the form of the content that suits a request: an asset of its own, with its own tag and length.
    func form(for head: RequestHead) -> Asset {
        guard let forms = coded.load()?.assets, let field = head[.acceptEncoding],
            let coding = AcceptEncoding(field).best(of: forms.lazy.map(\.coding))
        else { return self }
        return forms.first { $0.coding == coding }?.asset ?? self
    }

    /// Returns fields as lines on the wire.
    static func lines(_ fields: HTTPFields) -> [UInt8] {
        fields.flatMap { Array("\($0.name.rawName): \($0.value)\r\n".utf8) }
    }
}
