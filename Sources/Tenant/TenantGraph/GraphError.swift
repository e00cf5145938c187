import HTTPTypes
import HTTPWire
import TenantControl
import WebFormats

/// An error in Graph's form.
struct GraphError: Error {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    /// The value of WWW-Authenticate.
    var challenge: String?
    /// The number of seconds to wait.
    var retryAfter: Int?
    /// The methods that the resource has, for status 405.
    var allow: String?

    /// The request does not fit Graph's schema.
    static func badRequest(_ message: String) -> Self {
        Self(status: .badRequest, code: "BadRequest", message: message)
    }

    /// The directory refuses a part of the request.
    static func badDirectoryRequest(_ message: String) -> Self {
        Self(status: .badRequest, code: "Request_BadRequest", message: message)
    }

    /// The directory cannot answer a query option, or not without the header `ConsistencyLevel: eventual`.
    static func unsupportedQuery(_ message: String) -> Self {
        Self(status: .badRequest, code: "Request_UnsupportedQuery", message: message)
    }

    /// The collection does not support this operation.
    static let notImplemented = Self(
        status: .notImplemented, code: "NotImplemented", message: "This operation target is not yet supported.")

    static func unknownSegment(_ segment: String) -> Self {
        badRequest("Resource not found for the segment '\(segment)'.")
    }

    static func unknownProperty(_ name: String, of type: GraphType, in part: String) -> Self {
        badRequest("\(part): Could not find a property named '\(name)' on type 'microsoft.graph.\(type.name)'.")
    }

    static func notFound(_ id: String) -> Self {
        Self(
            status: .notFound, code: "Request_ResourceNotFound",
            message: "Resource '\(id)' does not exist or one of its queried reference-property objects are not present."
        )
    }

    /// - Parameter needs: The sets of permissions that are enough.
    static func denied(_ needs: [[String]]) -> Self {
        let sets = needs.map { $0.joined(separator: " and ") }.joined(separator: ", or ")
        let hint = sets.isEmpty ? "" : " The token has no scope for this: it needs \(sets)."
        return Self(
            status: .forbidden, code: "Authorization_RequestDenied",
            message: "Insufficient privileges to complete the operation.\(hint)")
    }
}

extension GraphIDs {
    /// Returns the error as a response.
    func refusal(_ error: GraphError) -> Response {
        let body: JSONValue = [
            "error": [
                "code": .string(error.code), "message": .string(error.message),
                "innerError": [
                    "date": .string(date), "request-id": .string(requestID),
                    "client-request-id": .string(clientRequestID),
                ],
            ]
        ]
        return .json(error.status, body).with(.retryAfter, error.retryAfter.map(String.init))
            .with(.wwwAuthenticate, error.challenge).with(.allow, error.allow)
    }
}
