import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

extension PreparedResponse {
    /// JSON that no cache keeps.
    static func json(_ value: JSONValue) -> PreparedResponse {
        PreparedResponse(body: value.bytes, contentType: "application/json")
    }
}

extension JSONValue {
    /// Text, or `null` where there is none, because the key is always there.
    static func orNull(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
}

extension Response {
    /// A value as JSON that no cache keeps: everything that the companion answers with JSON concerns a person.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        // Encoding our own plain structures cannot fail; were it to, an empty object is the least wrong answer.
        return json((try? encoder.encode(value)).map { [UInt8]($0) } ?? Array("{}".utf8), status)
    }

    /// The same for what is only known as JSON.
    static func json(_ value: JSONValue) -> Response { json(value.bytes, .ok) }

    private static func json(_ body: [UInt8], _ status: HTTPResponse.Status) -> Response {
        Response(
            status: status, headerFields: [.contentType: "application/json", .cacheControl: "no-store"], body: body)
    }

    /// A redirect that no cache keeps.
    static func redirect(to location: String, status: HTTPResponse.Status = .seeOther) -> Response {
        Response(status: status, headerFields: [.location: location, .cacheControl: "no-store"], body: [])
    }
}
