import Foundation
package import HTTPServer
package import HTTPTypes
package import HTTPWire
package import TenantDirectory
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

    /// Returns the value of a field that must be there.
    package func required(_ name: String) throws(PlatformError) -> String {
        guard let text = text(name) else { throw .missingParameter(name) }
        return text
    }
}

extension Request {
    /// The parameters: from the body for POST, otherwise from the query; nil if they cannot be read.
    package var parameters: FormFields? {
        try? head.method == .post ? FormFields(body: body) : FormFields(query: head.query ?? "")
    }
}

extension Response {
    /// Returns JSON in the platform's form.
    package static func json(_ status: HTTPResponse.Status, _ value: JSONValue) -> Response {
        noStore(status, "application/json; charset=utf-8", value.platformBytes)
    }

    /// Returns the response with a field; as it is for a value of nil.
    package func with(_ name: HTTPField.Name, _ value: String?) -> Response {
        guard let value else { return self }
        var response = self
        response.headerFields[name] = value
        return response
    }

    /// Returns the response so that scripts of an origin may read it (Fetch, CORS protocol).
    package func readable(by origin: String) -> Response {
        with(.accessControlAllowOrigin, origin).with(.vary, origin == "*" ? nil : "Origin")
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
