import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// Browser features that our pages do not use (W3C Permissions Policy). They do use clipboard writing.
private let unusedFeatures = [
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "hid", "identity-credentials-get", "idle-detection", "local-fonts", "magnetometer",
    "microphone", "midi", "payment", "picture-in-picture", "publickey-credentials-create",
    "publickey-credentials-get", "screen-wake-lock", "serial", "storage-access", "usb", "window-management",
    "xr-spatial-tracking",
]

extension ServerConfiguration {
    /// Configures the companion's main listener, with the fields that every response has.
    init(
        _ configuration: CompanionConfiguration, _ limits: RequestLimits,
        onRequestEnd: @escaping @Sendable (RequestSummary) -> Void
    ) {
        var fields: HTTPFields = [
            .contentSecurityPolicy:
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                + "trusted-types 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        fields[.referrerPolicy] = "no-referrer"
        fields[.permissionsPolicy] = unusedFeatures.map { $0 + "=()" }.joined(separator: ", ")
        fields[.crossOriginOpenerPolicy] = "same-origin"
        fields[.crossOriginResourcePolicy] = "same-origin"
        // A browser would remember it for everything else on this machine too, whatever the port.
        if configuration.publicURL.isSecure, !Loopback.contains(configuration.publicURL.host) {
            fields[.strictTransportSecurity] = "max-age=31536000"
        }
        self.init(host: configuration.host, port: configuration.port, responseFields: fields)
        addressLimit = limits.connections(configuration)
        self.onRequestEnd = onRequestEnd
    }
}

extension HTTPField.Name {
    static let referrerPolicy = literal("referrer-policy")
    static let permissionsPolicy = literal("permissions-policy")
    static let crossOriginOpenerPolicy = literal("cross-origin-opener-policy")
}
