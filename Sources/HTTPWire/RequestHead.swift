import HTTPTypes

/// The validated head of one request. Only the parser makes heads, so every one has passed all of its checks.
///
/// It owns the head's bytes and a table of where each field is; strings are made when they are asked for.
public struct RequestHead: Sendable {
    /// Request line and field lines, without the empty line.
    let bytes: [UInt8]
    let fields: [FieldSlices]
    let layout: HeadLayout

    /// The method; any token is one.
    public var method: HTTPRequest.Method {
        if HeadLayout.equals(bytes.span, layout.method.range, "GET") { return .get }
        // The parser let nothing but a token pass, so that this is never nil.
        return HTTPRequest.Method(text(layout.method)) ?? .get
    }

    /// The request target as it was sent.
    public var target: String { text(layout.target) }

    /// The target's path, still percent-encoded; it begins with `/`, or is `*` (RFC 9112 §3.2).
    public var path: String {
        layout.path.isEmpty ? emptyPath : text(layout.path)
    }

    /// What stands after the target's `?`, still encoded; nil when there is no `?`.
    public var query: String? {
        layout.flags.contains(.hasQuery) ? text(layout.query) : nil
    }

    /// HTTP/1.0 or HTTP/1.1.
    public var version: HTTPVersion { layout.flags.contains(.http11) ? .http11 : .http10 }

    /// The host and optional port that the request names: an absolute-form target's, else the Host field's; empty for
    /// HTTP/1.0 without either. It is what the client says, never our own address.
    public var host: String { text(layout.host) }

    /// How the body is delimited.
    public var framing: BodyFraming {
        if layout.flags.contains(.chunked) { return .chunked }
        return layout.contentLength == 0 ? .none : .length(layout.contentLength)
    }

    /// Whether the client wants to send another request on this connection (RFC 9112 §9.3).
    public var keepAlive: Bool {
        if layout.flags.contains(.connectionClose) { return false }
        return version == .http11 || layout.flags.contains(.connectionKeepAlive)
    }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    public var expectsContinue: Bool { layout.flags.contains(.expectsContinue) && version == .http11 }

    /// The value of the field: of a field that comes on several lines all of them, joined by `, ` (`; ` for Cookie);
    /// nil when there is none. Bytes beyond ASCII become U+FFFD each: no field that is read here has any, and text in Unicode
    /// can cost the square of its length to compare or to search.
    public subscript(name: HTTPField.Name) -> String? {
        guard let first = firstIndex(of: name) else { return nil }
        var value = ASCII.text(bytes[fields[first].value.range])
        var last = first
        while let next = firstIndex(of: name, from: last + 1) {
            value += name == .cookie ? "; " : ", "
            value += ASCII.text(bytes[fields[next].value.range])
            last = next
        }
        return value
    }

    /// The value of each of the field's lines, in order; bytes beyond ASCII become U+FFFD.
    public func values(for name: HTTPField.Name) -> [String] {
        var values: [String] = []
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            values.append(ASCII.text(bytes[fields[index].value.range]))
            start = index + 1
        }
        return values
    }

    /// Whether the field is there.
    public func contains(_ name: HTTPField.Name) -> Bool { firstIndex(of: name) != nil }

    /// All fields as a collection of HTTPTypes, made anew at each call.
    public var headerFields: HTTPFields {
        var all = HTTPFields()
        for field in fields {
            if let name = HTTPField.Name(text(field.name)) {
                all.append(HTTPField(name: name, value: bytes[field.value.range]))
            }
        }
        return all
    }

    /// A head for a test or another in-memory caller. It is written out and read by the parser, so that it is held to
    /// the same rules as one from a socket; a missing Host field becomes `localhost`.
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
        self.bytes = bytes
        self.fields = fields
        self.layout = layout
    }

    /// RFC 9112 §3.2.4: an absolute-form OPTIONS without a path asks about the server as a whole.
    private var emptyPath: String {
        HeadLayout.equals(bytes.span, layout.method.range, "OPTIONS") ? "*" : "/"
    }

    private func text(_ slice: Slice16) -> String { String(decoding: bytes[slice.range], as: UTF8.self) }

    private func firstIndex(of name: HTTPField.Name, from start: Int = 0) -> Int? {
        let wanted = name.canonicalName.utf8.span
        let bytes = bytes.span
        for index in start..<max(start, fields.count) {
            let slice = fields[index].name
            if slice.count == wanted.count, ASCII.matches(bytes, slice.range, wanted) { return index }
        }
        return nil
    }
}

extension RequestHead {
    /// Where the value of a field is in `bytes` that comes on one line; nil when it comes on none or on several.
    func onlySlice(for name: HTTPField.Name) -> Range<Int>? {
        guard let index = firstIndex(of: name), firstIndex(of: name, from: index + 1) == nil else { return nil }
        return fields[index].value.range
    }

    /// The same as `values(for:)` without making strings: the ranges of the field's lines in `bytes`.
    func slices(for name: HTTPField.Name) -> [Range<Int>] {
        var slices: [Range<Int>] = []
        var start = 0
        while let index = firstIndex(of: name, from: start) {
            slices.append(fields[index].value.range)
            start = index + 1
        }
        return slices
    }
}
