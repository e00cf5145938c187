public import HTTPTypes

/// The validated head of one request. Only the parser creates heads, so every head has passed all of its checks.
///
/// It owns the head's bytes and a table of the positions of the fields; strings are made when they are requested.
public struct RequestHead: Sendable {
    /// The bytes and fields of the request line and the field lines, without the empty line.
    let section: FieldSection
    let layout: HeadLayout

    var bytes: [UInt8] { section.bytes }
    var fields: [FieldSlices] { section.fields }

    /// The method, which may be any token.
    public var method: HTTPRequest.Method {
        if HeadLayout.equals(bytes.span, layout.method.range, "GET") { return .get }
        // The parser accepts only tokens, so this is never nil.
        return HTTPRequest.Method(text(layout.method)) ?? .get
    }

    /// The request target as it was sent.
    public var target: String { text(layout.target) }

    /// The target's path, still percent-encoded; it begins with `/`, or is `*` (RFC 9112 §3.2).
    public var path: String {
        layout.path.isEmpty ? emptyPath : text(layout.path)
    }

    /// The part after the target's `?`, still encoded; nil when there is no `?`.
    public var query: String? {
        layout.flags.contains(.hasQuery) ? text(layout.query) : nil
    }

    /// HTTP/1.0 or HTTP/1.1.
    public var version: HTTPVersion { layout.flags.contains(.http11) ? .http11 : .http10 }

    /// The host and optional port in the request: from an absolute-form target, otherwise from the Host field; empty
    /// for HTTP/1.0 without either. The client chooses it, so it need not be our own address.
    public var host: String { text(layout.host) }

    /// The framing of the body.
    public var framing: BodyFraming { layout.framing(else: .none) }

    /// Whether the client wants to send another request on this connection (RFC 9112 §9.3).
    public var keepAlive: Bool { layout.keepsAlive }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    public var expectsContinue: Bool { layout.flags.contains(.expectsContinue) && version == .http11 }

    /// The value of the field, or nil. If there are several lines, all values are joined by `, ` (`; ` for Cookie).
    /// Each byte beyond ASCII becomes U+FFFD: no field that is read here has any, and comparing or searching Unicode
    /// text can cost the square of its length.
    public subscript(name: HTTPField.Name) -> String? { section[name] }

    /// The value of each of the field's lines, in order; bytes beyond ASCII become U+FFFD.
    public func values(for name: HTTPField.Name) -> [String] { section.values(for: name) }

    /// Whether the field exists.
    public func contains(_ name: HTTPField.Name) -> Bool { section.contains(name) }

    /// All fields as a collection of HTTPTypes, which is created at each call.
    public var headerFields: HTTPFields { section.headerFields }

    /// Creates a head for a test or another in-memory caller. It is written out and read by the parser, so the same
    /// rules apply as for a head from a socket. A missing Host field becomes `localhost`.
    public init(
        method: HTTPRequest.Method = .get, target: String, headerFields: HTTPFields = [:]
    ) throws(WireError) {
        var message: [UInt8] = Array("\(method.rawValue) \(target) HTTP/1.1\r\n".utf8)
        if !headerFields.contains(where: { $0.name.canonicalName == "host" }) { message += "Host: localhost\r\n".utf8 }
        for field in headerFields {
            message += field.name.rawName.utf8
            message += ": ".utf8
            field.withUnsafeBytesOfValue { message += $0 }
            message += "\r\n".utf8
        }
        message += "\r\n".utf8
        var parser = RequestParser()
        var offset = 0
        switch parser.next(message.span, at: &offset) {
        case .head(let head, _) where offset == message.count && head.target == target: self = head
        case .failure(let error): throw error
        default: throw .invalidTarget
        }
    }

    init(bytes: [UInt8], fields: [FieldSlices], layout: HeadLayout) {
        section = FieldSection(bytes: bytes, fields: fields)
        self.layout = layout
    }

    /// The path of an absolute-form target without one. For OPTIONS it stands for the server as a whole (RFC 9112
    /// §3.2.4).
    private var emptyPath: String {
        HeadLayout.equals(bytes.span, layout.method.range, "OPTIONS") ? "*" : "/"
    }

    private func text(_ slice: Slice16) -> String { section.text(slice) }
}
