import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore

/// Calls the application's API (Graph's `/me`) with the account's access token and passes the answer on.
struct APIProxy: Sendable {
    let client: HTTPClient
    let tokens: TokenAcquisition
    let timeline: Timeline
    let trips: TripLimit

    /// GET on the API or below it.
    ///
    /// - Parameter path: what to add to the API's URL, as `/photo/$value`.
    /// - Returns: the upstream's answer, whatever its status.
    /// - Throws: ``Problem`` when there is no token or no answer.
    func get(
        _ application: Application, session: Session, account: Account, path: String = "", correlationID: String
    ) async throws -> HTTPClientResponse {
        let start = ContinuousClock.now
        do {
            let token = try await tokens.acquire(
                application, session: session.key, account: account, scopes: application.registration.scopes,
                correlationID: correlationID)
            var answer = try await call(application.api + path, token: token.token, correlationID: correlationID)
            if answer.head.status == .unauthorized {
                // The API knows better than the clock: once, with a token that it has not yet seen.
                let other = try await tokens.acquire(
                    application, session: session.key, account: account, scopes: application.registration.scopes,
                    demand: .insteadOf(token.token), correlationID: correlationID)
                answer = try await call(application.api + path, token: other.token, correlationID: correlationID)
            }
            if answer.head.status.kind == .successful { trips.reset(session: session.key.value, app: application.id) }
            timeline.record(
                session: session.key.value, app: application.id, step: "api",
                outcome: answer.head.status.kind == .successful ? "ok" : "http_\(answer.head.status.code)",
                since: start,
                correlationID: answer.head.headerFields[.requestID] ?? correlationID)
            return answer
        } catch {
            var problem = Problem(any: error)
            problem.correlationID = problem.correlationID ?? correlationID
            timeline.record(
                session: session.key.value, app: application.id, step: "api", outcome: problem.code.rawValue,
                since: start,
                correlationID: problem.correlationID)
            throw problem
        }
    }

    private func call(
        _ url: String, token: StoredAccessToken, correlationID: String
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        guard let url = URL(string: url), let host = url.host else {
            throw HTTPClientError(kind: .invalidRequest, reason: "the API's URL cannot be read")
        }
        var request = HTTPRequest(
            method: .get, scheme: url.scheme, authority: url.port.map { "\(host):\($0)" } ?? host,
            path: url.path + (url.query.map { "?\($0)" } ?? ""))
        request.headerFields[.authorization] = "Bearer \(token.secret)"
        request.headerFields[.accept] = "application/json, image/*;q=0.9"
        request.headerFields[.clientRequestID] = correlationID
        return try await client.send(request)
    }
}

extension HTTPField.Name {
    /// Graph's identifier of a request.
    static let requestID = literal("request-id")
    /// Our identifier of a request, which Graph logs and gives back.
    static let clientRequestID = literal("client-request-id")

    static func literal(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is a token (RFC 9110 §5.6.2)") }
        return name
    }
}
