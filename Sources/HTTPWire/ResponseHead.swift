public import HTTPTypes

/// The validated head of one final response. Only the parser makes heads, so every one has passed all of its checks.
///
/// It owns the head's bytes and a table of where each field is; strings are made when they are asked for.
public struct ResponseHead: Sendable {
    /// The status, from 200 to 999. The reason phrase is not kept.
    public let status: HTTPResponse.Status
    /// How the body is delimited; `none` also where the status or the request's method allows none.
    public let framing: BodyFraming
    /// Whether another request may follow on the connection (RFC 9112 §9.3).
    public let keepAlive: Bool
    /// HTTP/1.0 or HTTP/1.1.
    public let version: HTTPVersion
    /// Of the status line and the field lines, without the empty line.
    private(set) var section: FieldSection

    init(status: Int, section: FieldSection, framing: BodyFraming, layout: HeadLayout) {
        self.status = HTTPResponse.Status(code: status)
        self.framing = framing
        self.section = section
        keepAlive = layout.keepsAlive && framing != .untilClose
        version = layout.flags.contains(.http11) ? .http11 : .http10
    }

    /// The value of the field: of a field that comes on several lines all of them, joined by `, `; nil when there is
    /// none. Bytes beyond ASCII become U+FFFD each.
    public subscript(name: HTTPField.Name) -> String? { section[name] }

    /// The value of each of the field's lines, in order; bytes beyond ASCII become U+FFFD.
    public func values(for name: HTTPField.Name) -> [String] { section.values(for: name) }

    /// Whether the field is there.
    public func contains(_ name: HTTPField.Name) -> Bool { section.contains(name) }

    /// All fields as a collection of HTTPTypes, made at each call.
    public var headerFields: HTTPFields { section.headerFields }

    /// The same head without these fields, which do not describe a body that was decoded.
    public func without(_ names: [HTTPField.Name]) -> ResponseHead {
        var head = self
        head.section = section.without(names)
        return head
    }
}
