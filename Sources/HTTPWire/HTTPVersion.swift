/// The versions that this module speaks.
public enum HTTPVersion: UInt8, Sendable, Hashable {
    case http10, http11
}

/// How a message's body is delimited (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Hashable {
    /// There is no body, or Content-Length is 0.
    case none
    /// Content-Length bytes.
    case length(Int)
    /// `Transfer-Encoding: chunked`.
    case chunked
}
