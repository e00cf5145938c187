import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantDirectory

/// The identifiers of one request to Graph, or to an API beside it.
struct GraphIDs {
    let requestID: String
    let clientRequestID: String
    /// The time in the form of Graph's errors: `2026-01-31T23:59:59`.
    let date: String

    init(_ request: Request, clock: TenantClock) {
        requestID = clock.newID()
        let asked = request.head[.clientRequestID]
        clientRequestID = asked.flatMap(UUID.init(uuidString:))?.uuidString.lowercased() ?? requestID
        date = String(clock.now().formatted(.iso8601).dropLast())
    }

    func put(on response: Response) -> Response {
        var response = response
        response.headerFields[.requestID] = response.headerFields[.requestID] ?? requestID
        response.headerFields[.clientRequestID] = response.headerFields[.clientRequestID] ?? clientRequestID
        response.headerFields[.accessControlExposeHeaders] =
            "ETag, Location, Preference-Applied, Content-Range, request-id, client-request-id, ReadWriteConsistencyToken, "
            + "SdkVersion, WWW-Authenticate, x-ms-client-gcc-tenant, Retry-After"
        return response
    }
}
