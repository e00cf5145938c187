package import HTTPServer
import HTTPTypes
import HTTPWire
package import WebFormats

extension JSONValue {
    /// An object without the members that have no value.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues(\.self))
    }

    /// Text; nil, and so no member of ``members(_:)``, where there is none.
    package static func text(_ text: String?) -> JSONValue? { text.map(JSONValue.string) }

    /// Text, or `null` where there is none, because the key is always there.
    package static func orNull(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// A list of texts.
    package static func list(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
}

extension PreparedResponse {
    /// JSON that no cache keeps.
    package static func json(_ value: JSONValue) -> PreparedResponse {
        PreparedResponse(body: value.bytes, contentType: "application/json")
    }
}
