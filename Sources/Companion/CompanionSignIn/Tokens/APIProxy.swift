package import CompanionCore
package import Foundation
package import HTTPClient
import HTTPTypes
package import OpenIDConnect
import SessionStore
import Synchronization
import WebFormats

/// Calls the application's API (Graph's `/me`, or UserInfo), or one of the allowed APIs, with the account's access token and
/// passes on the response.
package struct APIProxy: Sendable {
    package let client: HTTPClient
    package let tokens: TokenAcquisition
    package let directory: ProviderDirectory
    package let throttle: Throttle
    package let timeline: Timeline
    package let metrics: Metrics
    package let now: @Sendable () -> Date
    private let parallel = ParallelCalls()
    private let prepared: PreparedCalls

    /// There is no token for a call, so that the API is not called. The token's own step says why.
    private struct NoToken: Error {
        let cause: any Error
    }

    package init(
        client: HTTPClient, tokens: TokenAcquisition, directory: ProviderDirectory, throttle: Throttle,
        reportingTo reports: (timeline: Timeline, metrics: Metrics), now: @escaping @Sendable () -> Date
    ) {
        self.client = client
        self.tokens = tokens
        self.directory = directory
        self.throttle = throttle
        (timeline, metrics) = reports
        self.now = now
        prepared = PreparedCalls(client: client)
    }

    /// One call.
    private struct Call {
        let url: Endpoint
        /// The path by which pauses are kept, and the person in the answer is checked.
        let path: String
        /// The scopes of the token; nil stands for those of the application.
        let scopes: [String]?
        /// Whether the URL is one of few, so that its request is prepared once.
        let isFixed: Bool
    }

    /// Sends a GET request to the API or a path below it.
    ///
    /// - Parameters:
    ///   - path: the path to append to the API's URL, such as `/photo/$value`.
    ///   - asking: the account whose token is used.
    /// - Returns: the upstream's response, whatever its status, and the time taken for the token.
    /// - Throws: ``Problem`` if there is no token or no response, or if the response demands an action of the person.
    package func get(
        _ path: String = "", for asking: SignedIn
    ) async throws -> (answer: HTTPClientResponse, tokenTime: Duration) {
        try await run(asking, path) {
            Call(url: try await url(of: asking.application, path), path: path, scopes: nil, isFixed: true)
        }
    }

    /// Sends a GET request to an address of an allowed API. Redirects are not followed.
    ///
    /// - Returns: the upstream's response, whatever its status, and the time taken for the token.
    /// - Throws: ``Problem`` as ``get(_:for:)``; `consent_required` with a link to sign in if the person has not consented
    ///   to the path's scopes.
    package func get(
        _ url: Endpoint, of api: AllowedAPI, at pattern: APIPathPattern, for asking: SignedIn
    ) async throws -> (answer: HTTPClientResponse, tokenTime: Duration) {
        let path = "\(api.name) \(pattern)"
        return try await run(asking, path) { Call(url: url, path: path, scopes: api.scopes[pattern], isFixed: false) }
    }

    private func run(
        _ asking: SignedIn, _ path: String, _ makeCall: () async throws -> Call
    ) async throws -> (answer: HTTPClientResponse, tokenTime: Duration) {
        let (application, session) = (asking.application, asking.session.key)
        let start = ContinuousClock.now
        var url: Endpoint?
        do {
            let made = try await makeCall()
            url = made.url
            let throttleKey = Throttle.Key(
                app: application.id, account: asking.account.id, path: path,
                session: throttle.isOfSession ? session : nil)
            do throws(Problem) {
                try throttle.check(throttleKey)
                try parallel.begin(session)
            } catch {
                metrics.apiThrottled(application.id, byCompanion: true)
                throw error
            }
            defer { parallel.end(session) }
            let (answer, tokenTime) = try await call(made, for: asking)
            let status = answer.status
            if [429, 503].contains(status.code) {
                throttle.note(throttleKey, status: status.code, retryAfter: retryAfter(answer))
            }
            if status.kind == .successful, made.isFixed { try checkPerson(answer, path, asking) }
            timeline.record(
                TimelineStep(
                    "api", outcome: status.kind == .successful ? "ok" : "http_\(status.code)",
                    at: made.url.description, since: start, correlationID: answer[.requestID]),
                of: session, app: application.id)
            return (answer, tokenTime)
        } catch let error as NoToken {
            throw error.cause
        } catch {
            let problem = Problem(any: error)
            timeline.record(
                TimelineStep("api", problem, at: url?.description, since: start), of: session, app: application.id)
            throw problem
        }
    }

    /// Returns the configured API, or the provider's UserInfo endpoint.
    private func url(of application: Application, _ path: String) async throws -> Endpoint {
        if let api = application.api { return path.isEmpty ? api : api.appending(path: path) }
        guard let endpoint = try await directory.metadata(for: application.authority).userInfoEndpoint else {
            throw Problem(
                .apiUnavailable, "The identity provider has no UserInfo endpoint. The operator has to configure api.")
        }
        return path.isEmpty ? endpoint : endpoint.appending(path: path)
    }

    /// Makes the call, and a second one if a newer token may help.
    private func call(
        _ call: Call, for asking: SignedIn
    ) async throws -> (HTTPClientResponse, tokenTime: Duration) {
        var tokenTime = Duration.zero
        func token(_ demand: TokenAcquisition.Demand) async throws -> StoredAccessToken {
            let start = ContinuousClock.now
            defer { tokenTime += start.duration(to: .now) }
            do {
                return try await tokens.acquire(for: asking, scopes: call.scopes, demand: demand).token
            } catch {
                throw NoToken(cause: error)
            }
        }
        let first = try await token(.fresh)
        let start = ContinuousClock.now
        var answer = try await send(call, for: asking, token: first)
        var challenges = APIProxy.challenges(answer)
        if answer.status == .unauthorized {
            let claims = ClaimsRequest(challenges: challenges)
            timeline.record(
                TimelineStep(
                    "api", outcome: claims == nil ? "http_401" : "claims_challenge",
                    at: call.url.description, since: start,
                    correlationID: answer[.requestID]), of: asking.session.key, app: asking.application.id)
            // The API may reject a token before it expires (continuous access evaluation). The call is repeated once,
            // with a token that the API has not seen and that satisfies the requested claims.
            let other = try await token(.insteadOf(first, claims: claims))
            answer = try await send(call, for: asking, token: other)
            challenges = APIProxy.challenges(answer)
            if answer.status == .unauthorized, let claims = ClaimsRequest(challenges: challenges) {
                let target = asking.target(scopes: call.scopes)
                // Another API's answer says nothing about the application's own token.
                if target.isOwn(of: asking.application) {
                    try await tokens.learn(claims, reason: .interactionRequired, for: target)
                }
                throw Problem(
                    .interactionRequired, "The API requires more than a silent renewal can provide. Sign in again.",
                    action: tokens.signIn(asking, target, claims: claims))
            }
        }
        if let missing = AuthenticationChallenge.insufficientScopes(in: challenges), !missing.isEmpty {
            // The operator has listed what an allowed API may ask for. Only the application's own may name more.
            let more = call.isFixed ? missing : call.scopes ?? []
            throw Problem(
                .consentRequired, "The API requires additional permissions: \(missing.joined(separator: ", ")).",
                action: tokens.signIn(
                    asking,
                    asking.target(scopes: asking.application.registration.scopes + more),
                    claims: nil))
        }
        return (answer, tokenTime)
    }

    /// Rejects a response about another person, whichever server mixed it up (OpenID Connect Core section 5.3.2).
    private func checkPerson(_ answer: HTTPClientResponse, _ path: String, _ asking: SignedIn) throws(Problem) {
        let (application, account) = (asking.application, asking.account)
        guard let api = application.api else {
            guard !UserInfo.isAbout(subject: account.identity.subject, body: answer.body) else { return }
            throw Problem(
                .apiUnavailable, "The identity provider returned the details of someone else.")
        }
        // In another tenant the person is a guest, with another object ID.
        guard path.isEmpty, asking.tenant == nil, let objectID = account.identity.objectID,
            GraphProfile.isServed(at: api, with: application.authority),
            !GraphProfile.isAbout(objectID: objectID, body: answer.body)
        else { return }
        throw Problem(.apiUnavailable, "The API returned the details of someone else.")
    }

    private static func challenges(_ answer: HTTPClientResponse) -> [AuthenticationChallenge] {
        AuthenticationChallenge.parse(answer.values(for: .wwwAuthenticate))
    }

    private func retryAfter(_ answer: HTTPClientResponse) -> Duration? {
        answer[.retryAfter].flatMap { value in
            RetryAfter.pause(value, now: HTTPDate(secondsSince1970: Int64(now().timeIntervalSince1970)))
        }
    }

    private func send(
        _ call: Call, for asking: SignedIn, token: StoredAccessToken
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        let request = try prepared.request(to: call.url, isKept: call.isFixed)
        let (application, context) = (asking.application, RequestContext.current)
        let owner = RequestOwner(
            account: "\(application.id) \(asking.account.id)",
            requestID: context?.correlationID ?? RandomUUID.text(SessionStore.secureRandomBytes(16)))
        var fields = HTTPFields()
        fields.append(HTTPField(name: .authorization, value: "Bearer \(token.secret)"))
        context?.mark(&fields)
        let start = ContinuousClock.now
        do throws(HTTPClientError) {
            let answer = try await client.send(request, adding: fields, for: owner)
            metrics.api(application.id, .success(answer.status), took: start.duration(to: .now))
            context?.note(answer.status, retryAfter: answer[.retryAfter], of: .api)
            let isThrottled =
                answer.status == .tooManyRequests
                || answer.status == .serviceUnavailable && answer[.retryAfter] != nil
            if isThrottled { metrics.apiThrottled(application.id, byCompanion: false) }
            return answer
        } catch {
            metrics.api(application.id, .failure(error), took: start.duration(to: .now))
            throw error
        }
    }
}

/// The prepared requests to the APIs, each validated and serialized once.
private final class PreparedCalls: Sendable {
    private let client: HTTPClient
    /// The number of requests is bounded: two paths per API, whose URLs come only from the configuration and the
    /// providers.
    private let requests = Mutex<[Endpoint: PreparedRequest]>([:])

    init(client: HTTPClient) {
        self.client = client
    }

    func request(to url: Endpoint, isKept: Bool) throws(HTTPClientError) -> PreparedRequest {
        if let known = requests.withLock({ $0[url] }) { return known }
        var request = HTTPRequest(
            method: .get, scheme: url.scheme, authority: url.authority, path: url.pathAndQuery)
        request.headerFields[.accept] = "application/json, image/*;q=0.9"
        let made = try client.prepare(request)
        if isKept { requests.withLock { $0[url] = made } }
        return made
    }
}
