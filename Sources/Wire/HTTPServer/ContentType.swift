/// Returns the media type of a file, by its extension. Only the types of web pages are known; everything else is
/// `application/octet-stream`, which `nosniff` makes harmless.
enum ContentType {
    static func of(fileName: String) -> String {
        guard let dot = fileName.lastIndex(of: ".") else { return fallback }
        return types[fileName[fileName.index(after: dot)...].lowercased()] ?? fallback
    }

    /// Whether files of this type have references, and are worth compressing.
    static func isText(_ type: String) -> Bool {
        type.hasPrefix("text/") || type == "image/svg+xml" || type == "application/json"
            || type == "application/manifest+json" || type == "application/xml"
    }

    private static let fallback = "application/octet-stream"
    private static let types: [String: String] = [
        "css": "text/css; charset=utf-8",
        "gif": "image/gif",
        "html": "text/html; charset=utf-8",
        "ico": "image/vnd.microsoft.icon",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "map": "application/json",
        "mjs": "text/javascript; charset=utf-8",
        "pdf": "application/pdf",
        "png": "image/png",
        "svg": "image/svg+xml",
        "txt": "text/plain; charset=utf-8",
        "webmanifest": "application/manifest+json",
        "webp": "image/webp",
        "woff2": "font/woff2",
        "xml": "application/xml",
    ]
}
