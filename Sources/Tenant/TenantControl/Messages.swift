import Foundation
import HTTPServer
package import HTTPTypes
package import HTTPWire
import TenantDirectory
package import WebFormats

extension RequestHead {
    /// The access token that a request carries (RFC 6750 section 2.1).
    package var bearerToken: String? {
        let parts = (self[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].trimmingCharacters(in: .whitespaces)
    }
}

extension FormFields {
    /// Returns the value of a field; nil if it is missing or empty, which mean the same in OAuth (RFC 6749 §3.1).
    package func text(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}

extension Response {
    /// Returns JSON in the platform's form.
    package static func json(_ status: HTTPResponse.Status, _ value: JSONValue) -> Response {
        noStore(status, "application/json; charset=utf-8", value.platformBytes)
    }

    /// Returns the response so that scripts of an origin may read it (Fetch, CORS protocol).
    package func readable(by origin: String) -> Response {
        var response = self
        response.headerFields[.accessControlAllowOrigin] = origin
        if origin != "*" { response.headerFields[.vary] = "Origin" }
        return response
    }
}

extension Controls.InjectedAnswer {
    /// Returns the response that was requested at `/control`.
    package var response: Response {
        let content: (type: String, bytes: [UInt8])
        if let text = body.string {
            content = ("text/plain; charset=utf-8", Array(text.utf8))
        } else if body == .null {
            content = ("text/plain; charset=utf-8", [])
        } else {
            content = ("application/json; charset=utf-8", body.bytes)
        }
        var response = Response.noStore(HTTPResponse.Status(code: status), content.type, content.bytes)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { response.headerFields[name] = value }
        }
        return response
    }
}
