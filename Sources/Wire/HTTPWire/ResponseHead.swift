public import HTTPTypes

/// The validated head of one final response. Only the parser creates heads, so every head has passed all of its checks.
///
/// It owns the head's bytes and a table of the positions of the fields; strings are made when they are requested.
public struct ResponseHead: Sendable {
    /// The status, from 200 to 999. The reason phrase is not kept.
    public let status: HTTPResponse.Status
    /// The framing of the body; `none` also if the status or the request's method allows no body.
    public let framing: BodyFraming
    /// Whether another request may follow on the connection (RFC 9112 §9.3).
    public let keepAlive: Bool
    /// HTTP/1.0 or HTTP/1.1.
    public let version: HTTPVersion
    /// The bytes and fields of the status line and the field lines, without the empty line.
    private(set) var section: FieldSection

    init(status: Int, section: FieldSection, framing: BodyFraming, layout: HeadLayout) {
        self.status = HTTPResponse.Status(code: status)
        self.framing = framing
        self.section = section
        keepAlive = layout.keepsAlive && framing != .untilClose
        version = layout.flags.contains(.http11) ? .http11 : .http10
    }

    /// The value of the field, or nil. If there are several lines, all values are joined by `, `. Each byte beyond
    /// ASCII becomes U+FFFD.
    public subscript(name: HTTPField.Name) -> String? { section[name] }

    /// The value of each of the field's lines, in order; bytes beyond ASCII become U+FFFD.
    public func values(for name: HTTPField.Name) -> [String] { section.values(for: name) }

    /// Whether the field exists.
    public func contains(_ name: HTTPField.Name) -> Bool { section.contains(name) }

    /// All fields as a collection of HTTPTypes, which is created at each call.
    public var headerFields: HTTPFields { section.headerFields }

    /// Returns the head without these fields, which do not describe a body that was decoded.
    public func without(_ names: [HTTPField.Name]) -> ResponseHead {
        var head = self
        head.section = section.without(names)
        return head
    }
}
