package import WebFormats

extension JSONValue {
    /// The members that the platform writes first, where an object has them (t2-rt-06, t2-tok-09, t2-dc-04, t2-disc-02,
    /// t2-at-03, t2-graph-05).
    private static let first = [
        "error", "error_description", "error_codes", "timestamp", "trace_id", "correlation_id", "error_uri", "suberror",
        "claims", "user_code", "device_code", "verification_uri", "expires_in", "interval", "code", "message",
        "innerError", "date", "request-id", "client-request-id", "kty", "use", "kid", "x5t", "n", "e", "x5c",
        "cloud_instance_name", "issuer", "aud", "iss", "iat", "nbf", "exp",
    ]

    /// ``bytes`` in the platform's order.
    package var platformBytes: [UInt8] { bytes(beginningWith: Self.first) }
}
