import CCurl
import HTTPTypes

/// A request that was found fit to be sent, in libcurl's terms.
struct OutgoingRequest: Sendable {
    let method: HTTPRequest.Method
    let url: String
    let authority: String
    let isSecure: Bool
    /// Field lines as libcurl wants them: `Name: value`, `Name;` for an empty value, `Name:` to leave out its own.
    let fieldLines: [String]
    let body: [UInt8]
    /// Whether a body is sent, be it an empty one.
    let hasBody: Bool

    init(_ request: HTTPRequest, body: [UInt8]) throws(HTTPClientError) {
        guard let scheme = request.scheme?.lowercased(), scheme == "https" || scheme == "http" else {
            throw .invalid("the scheme must be http or https")
        }
        guard let authority = request.authority, !authority.isEmpty, authority.utf8.allSatisfy(Self.isAuthorityByte)
        else {
            throw .invalid("the authority must be a host, with a port where needed, and without user information")
        }
        guard let path = request.path, path.utf8.first == UInt8(ascii: "/"),
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else {
            throw .invalid("\(authority): the path must begin with / and be percent-encoded, without a fragment")
        }
        guard request.method != .connect else {
            throw .invalid("\(authority): CONNECT is libcurl's to send")
        }
        method = request.method
        url = "\(scheme)://\(authority)\(path)"
        self.authority = authority
        isSecure = scheme == "https"
        self.body = body
        hasBody = !body.isEmpty || [.post, .put, .patch].contains(request.method)
        fieldLines = try Self.fieldLines(request.headerFields, authority: authority, hasBody: hasBody)
    }

    private static func fieldLines(
        _ fields: HTTPFields, authority: String, hasBody: Bool
    ) throws(HTTPClientError) -> [String] {
        var lines: [String] = []
        for field in fields {
            switch field.name {
            case .contentLength:
                continue
            case .transferEncoding:
                throw .invalid("\(authority): Transfer-Encoding is libcurl's to send")
            default:
                lines.append(field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)")
            }
        }
        if hasBody {
            // Not libcurl's form type, and no round trip for "100 Continue".
            if !fields.contains(.contentType) { lines.append("Content-Type:") }
            if !fields.contains(.expect) { lines.append("Expect:") }
        }
        return lines
    }

    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}

extension HTTPClientError {
    static func invalid(_ reason: String) -> HTTPClientError {
        HTTPClientError(kind: .invalidRequest, reason: reason)
    }
}
