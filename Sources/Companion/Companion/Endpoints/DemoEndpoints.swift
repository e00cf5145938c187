import CompanionCore
import CompanionSignIn
import Expiring
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
import OpenIDConnect
import SessionStore
import Synchronization
import WebFormats

/// The demo tenant's keys, for pages that verify a token, and the demo's missions: deliberate failures that affect only the
/// caller's own sign-in. Both exist only in the demo.
final class DemoEndpoints: Sendable {
    /// The demo tenant ends a failure by itself after this time, in seconds, for example because the page was closed.
    private static let lifetime = 600
    /// A redirect URI that no one has registered, as after a bundle ID was renamed.
    private static let unregisteredURI = "msauth.com.contoso.renamed://auth"

    private let control: Endpoint?
    private let controlToken: String?
    private let applications: [String: Application]
    let client: HTTPClient
    let store: SessionStore
    private let providers: Providers
    private let languages: Languages
    /// The provider's sessions with a failure, by ours: the failure ends even if the person has signed out meanwhile.
    private let failing = Mutex(ExpiringMap<SessionKey, String>(maxCount: 200))
    /// The apps that the server plays, by the name that the page knows.
    let plays = Mutex(ExpiringMap<String, NativePlay>(maxCount: 200))

    init(
        configuration: CompanionConfiguration, client: HTTPClient, store: SessionStore, providers: Providers,
        languages: Languages
    ) {
        control = configuration.demoControlURL.flatMap(Endpoint.init)
        controlToken = configuration.demoControlToken
        applications = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.id, $0) })
        self.client = client
        self.store = store
        self.providers = providers
        self.languages = languages
    }

    /// Returns the keys as the demo tenant publishes them. The address is fixed: nothing in a token determines it.
    ///
    /// - Throws: ``Problem`` `not_found` outside the demo, `provider_unavailable` if the tenant does not return keys.
    func keys() async throws -> Response {
        let request = request(.get, try demoControl(), "/common/discovery/v2.0/keys")
        let answer = try? await client.send(request)
        guard let answer, answer.status == .ok, let keys = JSONValue(parsing: answer.body)?["keys"], keys.array != nil
        else {
            throw Problem(
                .providerUnavailable, "The demo tenant does not return its keys. Try again in a moment.",
                reason: "status \(answer?.status.code ?? 0)")
        }
        return .json(["keys": keys])
    }

    private struct MissionBody: Decodable {
        var app: String?
        /// The name of the failure; nil ends the current one.
        var failure: String?
    }

    /// Begins or ends a failure. The demo tenant identifies the browser by the provider's session (`sid`), which
    /// belongs to this browser alone.
    func mission(_ call: Call, _ session: Session?) async throws -> Response {
        let control = try demoControl()
        let body: MissionBody = try call.body()
        let failure = body.failure.flatMap(Failure.init)
        guard let application = body.app.flatMap({ applications[$0] }), (failure == nil) == (body.failure == nil) else {
            throw Self.badRequest
        }
        if failure == .redirectURI { return try await misdirected(application, call) }
        let account = session?.currentAccount(for: application.id)
        let known = failing.withLock { failing in session.flatMap { failing.remove($0.key) } }
        guard let sid = account?.identity.sid ?? (failure == nil ? known : nil) else {
            // Without a sign-in there is no failure to end.
            if failure == nil { return Response.noStore(.noContent) }
            throw Problem(.interactionRequired, "You are not signed in. Sign in first.")
        }
        if let known, known != sid { try await begin(nil, for: known, control) }
        try await begin(failure?.rule, for: sid, control)
        if let failure, let session, let account {
            if failure.endsToken { try await endToken(session.key(of: account), application) }
            let now = store.currentTime
            failing.withLock {
                _ = $0.set(sid, for: session.key, until: now.addingTimeInterval(TimeInterval(Self.lifetime)), now: now)
            }
        }
        return Response.noStore(.noContent)
    }

    /// The request of a mission: a failure of the demo tenant, or one that the companion makes itself.
    private enum Failure: String {
        /// The access token expires, as in the cache of a native app.
        case tokenEnds = "token_ends"
        /// A sign-in with a redirect URI that is not registered.
        case redirectURI = "redirect_uri"
        case secondFactor = "second_factor"
        case providerDown = "provider_down"
        case graphThrottles = "graph_throttles"
        case revoked, permission

        /// The effect at the demo tenant, as a rule's members.
        var rule: [String: JSONValue]? {
            switch self {
            case .tokenEnds, .redirectURI: nil
            case .secondFactor: ["second_factor": true]
            case .providerDown: ["token_platform_error": 90033]
            case .graphThrottles: ["graph_throttled": true, "times": 1]
            case .revoked: ["revoked": true]
            case .permission: ["no_permissions": true]
            }
        }

        /// Whether the failure is noticed only when the token has to be refreshed.
        var endsToken: Bool { [.tokenEnds, .providerDown, .revoked, .permission].contains(self) }
    }

    /// Replaces the failure of a sign-on session; nil ends it.
    private func begin(_ failure: [String: JSONValue]?, for sid: String, _ control: Endpoint) async throws {
        var change: [String: JSONValue] = ["remove": ["session": .string(sid)]]
        let rule: [String: JSONValue] = ["when": ["session": .string(sid)], "seconds": .integer(Self.lifetime)]
        if let failure { change["rules"] = [.object(rule.merging(failure) { $1 })] }
        let answer = try await client.send(
            request(.post, control, control.pathAndQuery), body: JSONValue.object(change).bytes)
        guard answer.status == .ok else { throw Self.badRequest }
    }

    /// Lets the stored access token expire now. The next silent call refreshes it, or fails, as MSAL's does.
    private func endToken(_ account: AccountKey, _ application: Application) async throws {
        guard let token = try await store.accessToken(of: account, scopes: application.scopes) else { return }
        try await store.storeRefreshed(
            account,
            tokens: NewTokens(
                accessToken: token.secret, requestedScopes: token.requestedScopes, grantedScopes: token.grantedScopes,
                declinedScopes: token.declinedScopes, expiresOn: min(token.expiresOn, store.currentTime)))
    }

    // MARK: What the tenant has seen

    /// Returns the address of a sign-in that the tenant refuses on a page of its own, because it does not know the
    /// redirect URI, and the correlation ID under which the tenant notes it. Nothing of it is kept here.
    private func misdirected(_ application: Application, _ call: Call) async throws -> Response {
        let metadata = try await providers.directory.metadata(for: application.authority)
        var registration = application.registration
        registration.redirectURI = Self.unregisteredURI
        let id = RandomUUID.text(SessionStore.secureRandomBytes(16))
        var request = AuthorizationRequest()
        request.extraParameters = [("client-request-id", id)]
        if let chosen = languages.chosen(by: call.request.head) {
            request.extraParameters.append(("ui_locales", chosen.tag))
        }
        let secrets = AuthorizationAttempt(state: store.newState(), randomBytes: providers.randomBytes)
        return .json([
            "location": .string(request.url(metadata: metadata, registration: registration, attempt: secrets)),
            "request": .string(id),
        ])
    }

    /// Returns what the demo tenant's list of requests shows: their number, whether a client that is not the companion
    /// has redeemed a code since the number `after`, and the errors of the requests with the correlation ID `request`.
    func requests(_ call: Call) async throws -> Response {
        let control = try demoControl()
        let answer = try await client.send(request(.get, control, "/clients"))
        guard let list = JSONValue(parsing: answer.body), let count = list["count"]?.integer else {
            throw ProviderClient.unreachable
        }
        let after = call.field("after").flatMap { Int($0) } ?? count
        let own = Set(applications.values.map { $0.registration.clientID.lowercased() })
        var hasSignedIn = false
        var errors: [String] = []
        for client in list["clients"]?.array ?? [] {
            let isOwn = client["client_id"]?.string.map { own.contains($0) } ?? true
            for request in client["requests"]?.array ?? [] {
                let isRedeemed = request["step"]?.string == "code" && request["status"]?.integer == 200
                if !isOwn, isRedeemed, (request["position"]?.integer ?? 0) > after { hasSignedIn = true }
                guard let id = request["correlation_id"]?.string, id == call.field("request") else { continue }
                if let error = request["error"]?.string { errors.append(error) }
            }
        }
        return .json(["count": .integer(count), "signed_in": .bool(hasSignedIn), "errors": .list(errors)])
    }

    // MARK: The demo

    static let badRequest = Problem(.badRequest, "The body is not the JSON object that this address expects.")

    func demoControl() throws(Problem) -> Endpoint {
        guard let control else { throw Problem(.notFound, "There is nothing at this address.") }
        return control
    }

    func request(_ method: HTTPRequest.Method, _ control: Endpoint, _ path: String) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: control.scheme, authority: control.authority, path: path)
        request.headerFields[method == .post ? .contentType : .accept] = "application/json"
        request.headerFields[.authorization] = controlToken.map { "Bearer \($0)" }
        return request
    }
}
