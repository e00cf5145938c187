import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import SessionStore
import WebFormats

/// Returns tokens, as far as pages may see them, and calls the API with them.
struct TokenEndpoints: Sendable {
    let configuration: CompanionConfiguration
    let store: SessionStore
    let acquisition: TokenAcquisition
    let api: APIProxy
    let limits: RequestLimits
    let timeline: Timeline

    private static let tokenPreviewCharacters = 8

    private struct TokenBody: Decodable {
        var scopes: [String]?
        var force_refresh: Bool?
        var account: String?
        var tenant: String?
    }

    func token(_ visit: Visit) async throws -> Response {
        let body: TokenBody = try visit.call.body()
        let asking = try visit.signedIn(as: body.account ?? visit.call.field("account"), tenant: body.tenant)
        let application = asking.application
        let isForced = body.force_refresh == true
        if isForced { try limits.take(.forcedRefreshes, of: asking.session.key, for: visit.call) }
        let start = ContinuousClock.now
        let acquired = try await acquisition.acquire(
            for: asking, scopes: body.scopes, demand: isForced ? .refreshed : .fresh)
        if acquired.source == .cache {
            timeline.record(
                TimelineStep("token", outcome: "cache", since: start), of: asking.session.key, app: application.id)
        }
        let token = acquired.token
        return .json([
            "source": .string(acquired.source.rawValue),
            "expires_on": .integer(Int(token.expiresOn.timeIntervalSince1970)),
            "scopes": .list(token.grantedScopes.scopes), "declined_scopes": .list(token.declinedScopes),
            "token": .orNull(shown(token.secret, to: application)),
        ])
    }

    /// Returns a token as the operator allows pages to show it. The first characters are the same in all JWTs.
    private func shown(_ token: String, to application: Application) -> String? {
        switch application.isAtKiosk ? .hidden : configuration.tokenDisplay {
        case .hidden: nil
        case .masked: "\(token.prefix(Self.tokenPreviewCharacters))… (\(token.utf8.count) characters)"
        case .full: token
        }
    }

    func me(_ asking: SignedIn) async throws -> Response {
        let start = ContinuousClock.now
        let (answer, tokenTime) = try await api.get(for: asking)
        var response = try passedOn(answer, types: ["application/json", "application/problem+json"])
        let apiTime = start.duration(to: .now) - tokenTime
        response.headerFields[.serverTiming] =
            "token;dur=\(Self.milliseconds(tokenTime)), api;dur=\(Self.milliseconds(apiTime))"
        return response
    }

    /// Returns milliseconds with one decimal, as in a Server-Timing field (W3C).
    private static func milliseconds(_ duration: Duration) -> Double {
        (duration / .milliseconds(1) * 10).rounded() / 10
    }

    func photo(_ asking: SignedIn) async throws -> Response {
        // Only Microsoft Graph has a photo beside the profile.
        guard asking.application.kind == .workforce else { throw Problem(.notFound, "This account has no photo.") }
        let (answer, _) = try await api.get("/photo/$value", for: asking)
        guard answer.status.kind == .successful else {
            if answer.status == .notFound { throw Problem(.notFound, "This account has no photo.") }
            return try passedOn(answer, types: ["application/json"])
        }
        return try passedOn(answer, types: ["image/jpeg", "image/png", "image/gif", "image/webp"])
    }

    /// Passes on the upstream's status, its body and the header fields that a client needs, but no others and above
    /// all no cookies.
    private func passedOn(_ answer: HTTPClientResponse, types: [String]) throws -> Response {
        let (status, contentType) = (answer.status, answer[.contentType])
        let type = contentType.map { Substring($0.utf8.prefix { $0 != UInt8(ascii: ";") }).lowercased() } ?? ""
        guard answer.body.isEmpty || types.contains(type) else {
            if status.kind == .serverError {
                throw Problem(
                    .apiUnavailable,
                    "The API returned \(status.code). Try again in a moment; if it happens again, tell the operator.",
                    correlationID: answer[.requestID])
            }
            throw Problem(
                .apiUnavailable, "The API returned \(status.code) with content of an unexpected type.",
                correlationID: answer[.requestID])
        }
        var fields = HTTPFields()
        fields.append(HTTPField(name: .cacheControl, value: "no-store"))
        if !answer.body.isEmpty { fields[.contentType] = contentType }
        fields[.requestID] = answer[.requestID]
        fields[.clientRequestID] = answer[.clientRequestID]
        fields[.retryAfter] = answer[.retryAfter]
        return Response(status: status, headerFields: fields, body: answer.body)
    }

    // MARK: Decoded

    /// Returns the claims of the stored tokens, without renewing them.
    func decoded(_ asking: SignedIn) async throws -> Response {
        guard configuration.deviceMode == .private, configuration.tokenDisplay != .hidden, !asking.application.isAtKiosk
        else {
            throw Problem(.accessDenied, "This server is configured not to show tokens.")
        }
        let key = asking.key
        let access = try await store.accessToken(of: key, scopes: asking.application.scopes)
        let idToken = try await store.idToken(of: key)
        let hasRefreshToken = try await store.refreshToken(of: key) != nil
        let isFull = configuration.tokenDisplay == .full
        let answer: JSONValue = [
            "display": .string(configuration.tokenDisplay.rawValue),
            "access_token": access.map { description(of: $0, isFull: isFull) } ?? .null,
            "id_token": idToken.flatMap(DecodedToken.init).map { description(of: $0, isFull: isFull) } ?? .null,
            "has_refresh_token": .bool(hasRefreshToken),
        ]
        return .json(answer)
    }

    private func description(of token: StoredAccessToken, isFull: Bool) -> JSONValue {
        let decoded = DecodedToken(token.secret)
        return [
            "is_jwt": .bool(decoded != nil), "header": (decoded?.header).map(JSONValue.object) ?? .null,
            "payload": (decoded?.payload(isFull: isFull)).map(JSONValue.object) ?? .null,
            "issued_at": (decoded?.time("iat")).map(JSONValue.integer) ?? .null,
            "expires_on": .integer(Int(token.expiresOn.timeIntervalSince1970)),
            "refresh_on": token.refreshOn.map { .integer(Int($0.timeIntervalSince1970)) } ?? .null,
            "scopes": .list(token.grantedScopes.scopes),
            "declined_scopes": .list(token.declinedScopes),
            "characters": .integer(token.secret.utf8.count), "token": isFull ? .string(token.secret) : .null,
        ]
    }

    private func description(of token: DecodedToken, isFull: Bool) -> JSONValue {
        [
            "header": .object(token.header), "payload": .object(token.payload(isFull: isFull)),
            "issued_at": token.time("iat").map(JSONValue.integer) ?? .null,
            "expires_on": token.time("exp").map(JSONValue.integer) ?? .null,
        ]
    }
}
