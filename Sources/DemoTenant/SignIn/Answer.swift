import HTTPTypes
import HTTPWire
import WebFormats

/// Responses of the authorization endpoint to the application.
extension Platform {
    /// Sends parameters, and `state`, to the application's redirect URI.
    func answer(_ parameters: [(String, String?)], to target: AnswerTarget) -> Response {
        var pairs = parameters.compactMap { name, value in value.map { (name, $0) } }
        if let state = target.state { pairs.append(("state", state)) }
        switch target.responseMode {
        case .query: return .redirect(to: target.redirectURI.appending(query: pairs))
        case .fragment: return .redirect(to: "\(target.redirectURI)#\(FormEncoding.encode(pairs))")
        case .formPost: return page(FormPostPage(action: target.redirectURI, fields: pairs))
        }
    }

    /// Reports an error to the application.
    func answer(_ error: PlatformError, _ diagnostics: Diagnostics, to target: AnswerTarget) -> Response {
        answer(
            [
                ("error", error.error), ("error_subcode", error.suberror),
                ("error_description", diagnostics.describe(error)), ("claims", error.claims),
            ], to: target)
    }
}

/// application/x-www-form-urlencoded.
enum FormEncoding {
    static func encode(_ pairs: [(String, String)]) -> String {
        pairs.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")
    }

    /// Encodes everything except RFC 3986's unreserved characters as %XX, which is valid in any URL.
    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension String {
    /// Returns a URL with these parameters added to its query.
    func appending(query pairs: [(String, String)]) -> String {
        guard !pairs.isEmpty else { return self }
        return "\(self)\(contains("?") ? "&" : "?")\(FormEncoding.encode(pairs))"
    }
}

extension Response {
    /// Caches keep nothing of the tenant except its assets.
    static func noStore(_ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8]) -> Response {
        Response(
            status: status, headerFields: [.contentType: contentType, .cacheControl: "no-store"], body: body)
    }

    static func json(_ status: HTTPResponse.Status, _ value: JSONValue) -> Response {
        noStore(status, "application/json; charset=utf-8", value.bytes)
    }

    static func redirect(to location: String, _ status: HTTPResponse.Status = .found) -> Response {
        Response(status: status, headerFields: [.location: location, .cacheControl: "no-store"])
    }
}
