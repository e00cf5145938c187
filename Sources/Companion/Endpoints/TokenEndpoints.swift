import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore

/// Tokens, as far as pages may see them, and the API that is called with them.
extension Endpoints {
    private static let tokenPreviewCharacters = 8

    private struct TokenBody: Decodable {
        var scopes: [String]?
        var force_refresh: Bool?
        var account: String?
        var tenant: String?
    }

    private struct TokenAnswer: Encodable {
        var source: AcquiredToken.Source
        var expires_on: Int
        var scopes: [String]
        var declined_scopes: [String]
        @OrNull var token: String?
    }

    func token(_ exchange: Exchange, request: Request) async throws -> Response {
        let body: TokenBody = try decode(request.body)
        let (application, session, account) = try await signedIn(exchange, named: body.account)
        let isForced = body.force_refresh == true
        if isForced {
            try limits.take(
                .forcedRefreshes, session: session.key, at: request.head, from: request.peer,
                application: application.id)
        }
        let start = ContinuousClock.now
        let acquired = try await acquisition.acquire(
            application, session: session.key, account: account, tenant: body.tenant,
            scopes: body.scopes ?? application.registration.scopes,
            demand: isForced ? .refreshed : .fresh, correlationID: exchange.correlationID)
        if acquired.source == .cache {
            timeline.record(
                session: session.key.value, app: application.id, step: "token", outcome: "cache", since: start,
                correlationID: exchange.correlationID)
        }
        return .json(
            TokenAnswer(
                source: acquired.source, expires_on: Int(acquired.token.expiresOn.timeIntervalSince1970),
                scopes: acquired.token.grantedScopes.scopes, declined_scopes: acquired.token.declinedScopes,
                token: shown(acquired.token.secret, on: application.page)))
    }

    /// A token as the operator lets pages show it. The first characters of a JWT are the same for all.
    private func shown(_ token: String, on page: Application.Page) -> String? {
        switch page == .kiosk ? .hidden : configuration.tokenDisplay {
        case .hidden: nil
        case .masked: "\(token.prefix(Endpoints.tokenPreviewCharacters))… (\(token.utf8.count) characters)"
        case .full: token
        }
    }

    func me(_ exchange: Exchange) async throws -> Response {
        let (application, session, account) = try await signedIn(exchange)
        let start = ContinuousClock.now
        let (answer, tokenTime) = try await api.get(
            application, session: session, account: account, tenant: exchange.field("tenant"),
            correlationID: exchange.correlationID)
        var response = try passedOn(
            answer.head, body: answer.body, types: ["application/json", "application/problem+json"])
        let apiTime = start.duration(to: .now) - tokenTime
        response.headerFields[.serverTiming] =
            "token;dur=\(Endpoints.milliseconds(tokenTime)), api;dur=\(Endpoints.milliseconds(apiTime))"
        return response
    }

    /// To a tenth, as Server Timing (W3C) has it.
    private static func milliseconds(_ duration: Duration) -> Double {
        (duration / .milliseconds(1) * 10).rounded() / 10
    }

    func photo(_ exchange: Exchange) async throws -> Response {
        let (application, session, account) = try await signedIn(exchange)
        // Graph alone has a photo below its answer about the person.
        guard application.kind == .workforce else { throw Problem(.notFound, "This account has no photo.") }
        let (answer, _) = try await api.get(
            application, session: session, account: account, tenant: exchange.field("tenant"), path: "/photo/$value",
            correlationID: exchange.correlationID)
        guard answer.head.status.kind == .successful else {
            if answer.head.status == .notFound { throw Problem(.notFound, "This account has no photo.") }
            return try passedOn(answer.head, body: answer.body, types: ["application/json"])
        }
        return try passedOn(
            answer.head, body: answer.body, types: ["image/jpeg", "image/png", "image/gif", "image/webp"])
    }

    /// The upstream's status, body and the fields that a client needs; nothing else of its head, least of all cookies.
    private func passedOn(_ head: HTTPResponse, body: [UInt8], types: Set<String>) throws -> Response {
        let type = (head.headerFields[.contentType] ?? "").split(separator: ";").first.map { $0.lowercased() } ?? ""
        guard body.isEmpty || types.contains(type) else {
            if head.status.kind == .serverError {
                throw Problem(
                    .apiUnavailable,
                    "The API answered \(head.status.code). Try again in a moment; if it happens again, tell the operator.",
                    correlationID: head.headerFields[.requestID])
            }
            throw Problem(
                .apiUnavailable, "The API answered \(head.status.code) with content that is not of the expected kind.",
                correlationID: head.headerFields[.requestID])
        }
        var fields: HTTPFields = [.cacheControl: "no-store"]
        if !body.isEmpty { fields[.contentType] = head.headerFields[.contentType] }
        fields[.requestID] = head.headerFields[.requestID]
        fields[.clientRequestID] = head.headerFields[.clientRequestID]
        fields[.retryAfter] = head.headerFields[.retryAfter]
        return Response(status: head.status, headerFields: fields, body: body)
    }
}

extension HTTPField.Name {
    /// Server Timing (W3C).
    static let serverTiming = literal("server-timing")
}
