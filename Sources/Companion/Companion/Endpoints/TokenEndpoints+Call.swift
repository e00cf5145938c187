import CompanionCore
import CompanionSignIn
import HTTPClient
import HTTPTypes
import HTTPWire
import WebFormats

/// The portal's calls of the allowed APIs.
extension TokenEndpoints {
    /// The largest answer that is passed on, in bytes.
    private static let maxCallBytes = 256 * 1024

    /// Calls an allowed API. The answer says what was called and what came, whatever its status.
    func call(_ call: Call, _ asking: SignedIn) async throws -> Response {
        guard configuration.deviceMode == .private, !asking.application.isAtKiosk else {
            throw Problem(.accessDenied, "A shared device calls no other API than the application's own.")
        }
        let api = try api(named: call.field("api"), of: asking.application)
        let (path, query) = try address(call, of: api)
        guard let pattern = api.pattern(of: path), let url = api.address(path, query) else {
            throw Problem(
                .accessDenied, "The operator does not allow this path. The list is apis in the configuration.")
        }
        let start = ContinuousClock.now
        let (answer, tokenTime) = try await self.api.get(url, of: api, at: pattern, for: asking)
        let taken = start.duration(to: .now) - tokenTime
        guard answer.body.count <= Self.maxCallBytes else {
            throw Problem(
                .apiUnavailable, "The answer is larger than 256 KB. Ask for less with $select or $top.",
                correlationID: answer[.requestID])
        }
        let body = JSONValue(parsing: answer.body)
        guard body != nil || answer.body.isEmpty || answer.status.kind != .successful else {
            throw Problem(
                .apiUnavailable, "The API returned \(answer.status.code) with content of an unexpected type.",
                correlationID: answer[.requestID])
        }
        let link = body?["@odata.nextLink"]?.string
        let next = link.flatMap(api.next)
        let members: [String: JSONValue?] = [
            "status": .integer(answer.status.code), "request_id": .text(answer[.requestID]),
            "ms": .integer(Int(taken / .milliseconds(1))), "url": .string(url.description), "body": body,
            "next": next.map { ["path": .string($0.path.text), "query": .string($0.query.text)] },
            "next_refused": .bool(link != nil && next == nil),
        ]
        return .json(.members(members))
    }

    /// Returns an API to which the application's tokens may go.
    private func api(named name: String?, of application: Application) throws(Problem) -> AllowedAPI {
        let own = configuration.apis.filter { $0.applications.contains(application.id) }
        guard let api = own.first(where: { $0.name == name }) else {
            throw Problem(.notFound, "No API of this name is configured. The list is apis in the configuration.")
        }
        return api
    }

    private func address(_ call: Call, of api: AllowedAPI) throws(Problem) -> (APIPath, APIQuery) {
        guard let path = call.field("path").flatMap(APIPath.init) else {
            throw Problem(
                .badRequest,
                "“path” must be a plain path such as /me/messages, without escapes, dots and slashes at the end.")
        }
        if let link = call.field("next") {
            guard let query = APIQuery(link: link) else {
                throw Problem(.badRequest, "“next” must be the query of the answer's link to its next page.")
            }
            return (path, query)
        }
        return (
            path,
            try APIQuery(select: call.field("select"), top: call.field("top"), filter: call.field("filter"))
        )
    }
}
