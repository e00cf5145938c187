public import HTTPTypes

/// The names of header fields that HTTPTypes does not have.
extension HTTPField.Name {
    // MARK: Security

    /// Clear Site Data (W3C).
    public static let clearSiteData = literal("Clear-Site-Data")
    /// HTML, cross-origin opener policies.
    public static let crossOriginOpenerPolicy = literal("Cross-Origin-Opener-Policy")
    /// Permissions Policy (W3C).
    public static let permissionsPolicy = literal("Permissions-Policy")
    /// Referrer Policy (W3C).
    public static let referrerPolicy = literal("Referrer-Policy")
    /// Fetch metadata (W3C): the destination of the response, `document` for a window.
    public static let secFetchDest = literal("Sec-Fetch-Dest")
    /// Fetch metadata (W3C): the mode of the request.
    public static let secFetchMode = literal("Sec-Fetch-Mode")
    /// Fetch metadata (W3C): the site that the request came from.
    public static let secFetchSite = literal("Sec-Fetch-Site")

    // MARK: Proxies and measurements

    /// Server Timing (W3C).
    public static let serverTiming = literal("Server-Timing")
    /// The chain of addresses that proxies append.
    public static let xForwardedFor = literal("X-Forwarded-For")
    /// The schemes that proxies append, or the one that a proxy writes: `http` or `https`.
    public static let xForwardedProto = literal("X-Forwarded-Proto")

    // MARK: Microsoft's

    /// The caller's identifier of a request, which Microsoft's servers log and return.
    public static let clientRequestID = literal("client-request-id")
    /// Asks Microsoft's servers to return the caller's identifier.
    public static let returnClientRequestID = literal("return-client-request-id")
    /// Graph's identifier of a request.
    public static let requestID = literal("request-id")
    /// Graph: `eventual` allows the queries that need its index.
    public static let consistencyLevel = literal("ConsistencyLevel")
    /// The version of OData, 4.0 at Graph.
    public static let odataVersion = literal("OData-Version")
    /// For caches older than Cache-Control.
    public static let pragma = literal("Pragma")
    /// The name of a library, as MSAL sends it to the identity platform.
    public static let clientSKU = literal("x-client-SKU")
    /// The library's version.
    public static let clientVersion = literal("x-client-Ver")
    /// The platform's outcome of a token request, for MSAL's telemetry.
    public static let clientTelemetry = literal("x-ms-clitelem")
    /// The platform's identifier of a request, the trace ID of its errors.
    public static let platformRequestID = literal("x-ms-request-id")

    package static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is a token (RFC 9110 §5.6.2)") }
        return name
    }
}
