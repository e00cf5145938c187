public import HTTPTypes
public import WebFormats

/// A request to be sent to the identity provider. This module does no input or output itself.
public struct ProviderRequest: Sendable, Redacted {
    /// The method, scheme, authority, path and header fields.
    public var head: HTTPRequest
    /// The body; empty for GET. It contains codes, tokens and client secrets: never log it.
    public var body: [UInt8]
    /// The same with the client's secret elsewhere, if the provider may want that.
    var alternative: SecretAlternative?

    /// Wraps a request that is ready to be sent.
    public init(head: HTTPRequest, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}

/// The provider's complete response: the transport follows no redirects and limits the body's size.
public struct ProviderResponse: Sendable, Redacted {
    /// The status and header fields.
    public var head: HTTPResponse
    /// The body. It contains tokens: never log it.
    public var body: [UInt8]

    /// Creates a response from its parts.
    public init(head: HTTPResponse, body: [UInt8]) {
        self.head = head
        self.body = body
    }
}

extension ProviderRequest {
    /// Returns a request for a page, in the form of a browser without a session.
    public static func page(_ endpoint: Endpoint) -> ProviderRequest {
        ProviderRequest(
            head: HTTPRequest(
                method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.pathAndQuery,
                headerFields: [.accept: "text/html"]))
    }

    static func get(_ endpoint: Endpoint) -> ProviderRequest {
        ProviderRequest(
            head: HTTPRequest(
                method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.pathAndQuery,
                headerFields: [.accept: "application/json"]))
    }

    static func post(_ endpoint: Endpoint, form: [(name: String, value: String)]) -> ProviderRequest {
        ProviderRequest(
            head: HTTPRequest(
                method: .post, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.pathAndQuery,
                headerFields: [.accept: "application/json", .contentType: "application/x-www-form-urlencoded"]),
            body: [UInt8](FormEncoding.encode(form).utf8))
    }
}
