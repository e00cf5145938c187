import HTTPTypes
package import WebFormats

extension Controls {
    /// A response to send instead of the real one.
    package struct InjectedAnswer: Sendable, Hashable {
        package var status: Int
        /// The body. A string is sent unchanged, anything else as JSON.
        package var body: JSONValue
        package var headers: [String: String]

        /// A response that people select by name.
        package struct Preset: Sendable {
            package var name: String
            package var title: HTML
            package var answer: JSONValue
        }
    }
}

extension Controls.InjectedAnswer {
    init(_ value: JSONValue) throws(ControlChange.Problem) {
        guard let members = value.object else {
            throw ControlChange.Problem(message: "give null or an object with status, body, headers and times.")
        }
        for key in members.keys.sorted() where !["status", "body", "headers"].contains(key) {
            throw ControlChange.Problem(message: "'\(key)' is none of status, body, headers.")
        }
        guard let status = members["status"]?.integer, (200...599).contains(status) else {
            throw ControlChange.Problem(message: "'status' has to be a number from 200 to 599.")
        }
        var headers: [String: String] = [:]
        for (name, value) in members["headers"]?.object ?? [:] {
            let text = value.string ?? value.integer.map(String.init)
            guard let text, HTTPField.Name(name) != nil, HTTPField.isValidValue(text) else {
                throw ControlChange.Problem(
                    message: "'\(name)' in headers is not a field name with a text as its value.")
            }
            headers[name] = text
        }
        self.init(status: status, body: members["body"] ?? .null, headers: headers)
    }

    var json: JSONValue {
        ["status": .integer(status), "body": body, "headers": .object(headers.mapValues(JSONValue.string))]
    }
}

extension Controls.InjectedAnswer {
    /// The token endpoint's.
    package static let ofToken = [
        Preset(
            name: "unavailable", title: "503 unavailable",
            answer: [
                "status": 503,
                "body": ["error": "temporarily_unavailable", "error_description": "AADSTS90033: A transient error."],
            ]),
        Preset(
            name: "throttled", title: "429, retry after 5 s",
            answer: [
                "status": 429, "headers": ["Retry-After": "5"],
                "body": ["error": "temporarily_unavailable", "error_description": "AADSTS90055: Too many requests."],
            ]),
        Preset(
            name: "invalid_client", title: "401 invalid_client: the secret is wrong",
            answer: [
                "status": 401,
                "body": [
                    "error": "invalid_client", "error_codes": [7_000_215],
                    "error_description": "AADSTS7000215: Invalid client secret provided.",
                ],
            ]),
        Preset(
            name: "invalid_grant", title: "400 invalid_grant: revoked",
            answer: [
                "status": 400,
                "body": [
                    "error": "invalid_grant", "error_codes": [50173],
                    "error_description": "AADSTS50173: The provided grant has expired due to it being revoked.",
                ],
            ]),
        Preset(
            name: "garbage", title: "200 with content that is not JSON",
            answer: ["status": 200, "body": "<p>A proxy was here.</p>"]),
    ]

    /// Those of Graph.
    package static let ofGraph = [
        Preset(
            name: "unavailable", title: "503, retry after 3 s",
            answer: [
                "status": 503, "headers": ["Retry-After": "3"],
                "body": ["error": ["code": "serviceNotAvailable", "message": "The service is unavailable."]],
            ]),
        Preset(
            name: "throttled", title: "429, retry after 5 s",
            answer: [
                "status": 429, "headers": ["Retry-After": "5"],
                "body": ["error": ["code": "TooManyRequests", "message": "Too many requests."]],
            ]),
        Preset(
            name: "unauthorized", title: "401 InvalidAuthenticationToken",
            answer: [
                "status": 401, "headers": ["WWW-Authenticate": "Bearer realm=\"\""],
                "body": ["error": ["code": "InvalidAuthenticationToken", "message": "The token is not accepted."]],
            ]),
        Preset(
            name: "forbidden", title: "403 Authorization_RequestDenied",
            answer: [
                "status": 403,
                "body": ["error": ["code": "Authorization_RequestDenied", "message": "Insufficient privileges."]],
            ]),
    ]
}
