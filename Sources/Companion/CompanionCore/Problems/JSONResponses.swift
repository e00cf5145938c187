package import HTTPServer
package import WebFormats

extension JSONValue {
    /// Returns an object without the members whose value is nil.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues(\.self))
    }

    /// Returns a JSON string; nil for nil, so that ``members(_:)`` omits it.
    package static func text(_ text: String?) -> JSONValue? { text.map(JSONValue.string) }

    /// Returns a JSON string, or `null` for a key that is always present.
    package static func orNull(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// Returns a list of JSON strings.
    package static func list(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
}

extension PreparedResponse {
    /// Returns a JSON response that is not cached anywhere.
    package static func json(_ value: JSONValue) -> PreparedResponse {
        PreparedResponse(body: value.bytes, contentType: "application/json")
    }
}
