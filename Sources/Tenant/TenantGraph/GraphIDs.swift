import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantDirectory

/// The identifiers of one request to Graph, or to an API beside it.
struct GraphIDs {
    private static let requestIDField = HTTPField.Name("request-id")
    private static let clientRequestIDField = HTTPField.Name("client-request-id")

    let requestID: String
    let clientRequestID: String
    /// The time in the form of Graph's errors: `2026-01-31T23:59:59`.
    let date: String

    init(_ request: Request, clock: TenantClock) {
        requestID = clock.newID()
        let asked = Self.clientRequestIDField.flatMap { request.head[$0] }
        clientRequestID = asked.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? requestID
        date = String(clock.now().formatted(.iso8601).dropLast())
    }

    func put(on response: Response) -> Response {
        var response = response
        if let name = Self.requestIDField, response.headerFields[name] == nil {
            response.headerFields[name] = requestID
        }
        if let name = Self.clientRequestIDField, response.headerFields[name] == nil {
            response.headerFields[name] = clientRequestID
        }
        response.headerFields[.accessControlExposeHeaders] =
            "ETag, Location, Preference-Applied, Content-Range, request-id, client-request-id, ReadWriteConsistencyToken, "
            + "SdkVersion, WWW-Authenticate, x-ms-client-gcc-tenant, Retry-After"
        return response
    }
}
