import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
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
    /// Configures the companion's main listener, with the fields that every response has and those of documents.
    init(
        _ configuration: CompanionConfiguration, _ limits: RequestLimits, _ languages: Languages,
        onRequestEnd: @escaping @Sendable (RequestSummary) -> Void
    ) {
        var documentFields: HTTPFields = [
            .contentSecurityPolicy:
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                + "trusted-types 'none'"
        ]
        documentFields[.permissionsPolicy] = unusedFeatures.map { $0 + "=()" }.joined(separator: ", ")
        documentFields[.crossOriginOpenerPolicy] = "same-origin"
        var fields: HTTPFields = [.xContentTypeOptions: "nosniff"]
        fields[.referrerPolicy] = "no-referrer"
        fields[.crossOriginResourcePolicy] = "same-origin"
        // A browser would remember it for everything else on this machine too, whatever the port.
        if configuration.publicURL.isSecure, !Loopback.contains(configuration.publicURL.host) {
            fields[.strictTransportSecurity] = "max-age=31536000"
        }
        self.init(host: configuration.host, port: configuration.port, responseFields: fields)
        self.documentFields = documentFields
        addressLimit = limits.connections(configuration)
        self.onRequestEnd = onRequestEnd
        let tooLarge = Self.tooLarge(at: configuration.publicURL.host, languages)
        errorBody = { status, _ in status == .requestHeaderFieldsTooLarge ? tooLarge : nil }
    }

    /// Returns the page for a browser that sends too many cookies. Nothing can be loaded from here with them, and the
    /// languages that it wants are unknown.
    private static func tooLarge(at host: String, _ languages: Languages) -> Response {
        let sentence: Message =
            "Your browser sends more data than the server accepts, usually cookies of other applications. Delete the cookies of \(host) in the browser's settings, and reload the page."
        let paragraphs = languages.all.map { language in
            "<p lang=\"\(language.tag)\">" + HTML(escaping: language.text(sentence)).text + "</p>"
        }
        let page =
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
            + "<title>Companion</title><h1>431</h1>" + paragraphs.joined()
        return Response(
            status: .requestHeaderFieldsTooLarge,
            headerFields: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"], body: Array(page.utf8))
    }
}
