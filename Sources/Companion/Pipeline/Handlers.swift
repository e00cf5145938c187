import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore

/// What each route does, in the route table's order.
struct Handlers: Sendable {
    let configuration: CompanionConfiguration
    let store: SessionStore
    let cookie: SessionCookie
    let signInFlow: SignInFlow
    let signOutFlow: SignOutFlow
    let tokens: TokenAcquisition
    let api: APIProxy
    let timeline: Timeline
    let formPosts: FormPostCallbacks

    private static let tokenPreviewCharacters = 8

    // MARK: At once

    /// What memory alone can answer; nil when the request has to wait for something.
    func immediate(_ exchange: Exchange) -> Response? {
        switch exchange.route {
        case .device: return device
        case .health: return .json(Health(status: "ok"))
        case .applications where exchange.cookie == nil: return applications(nil)
        case .account:
            guard let application = exchange.application else { return nil }
            guard let id = exchange.cookie else { return account(application, session: nil) }
            return store.cachedSession(id).map { account(application, session: $0) }
        default: return nil
        }
    }

    // MARK: Later

    /// Everything else.
    func answer(_ exchange: Exchange, request: Request) async throws -> Response {
        switch exchange.route {
        case .signIn: return try await signIn(exchange, request: request)
        case .callback: return try await callback(exchange, request: request)
        case .signOut: return try await signOut(exchange, request: request)
        case .account: return account(try application(exchange), session: try await session(exchange))
        case .claims: return try await claims(exchange)
        case .token: return try await token(exchange, request: request)
        case .me: return try await me(exchange)
        case .photo: return try await photo(exchange)
        case .events: return try await events(exchange)
        case .applications: return applications(try await session(exchange))
        case .device: return device
        case .health: return .json(Health(status: "ok"))
        case .readiness:
            guard await store.probeWritable() else {
                throw Problem(.storageUnavailable, "The database cannot be written.")
            }
            return .json(Health(status: "ok"))
        }
    }

    // MARK: Sign-in and sign-out

    private func signIn(_ exchange: Exchange, request: Request) async throws -> Response {
        let application = try application(exchange)
        let options = try SignInOptions(query: request.head.query, application: application)
        do {
            let (location, id) = try await signInFlow.begin(
                application, options: options, cookie: exchange.cookie, correlationID: exchange.correlationID)
            let response = Response.redirect(to: location, status: .found)
            return id == exchange.cookie ? response : cookie.setting(id, on: response)
        } catch let problem as Problem {
            throw problem
        } catch {
            // The page that the person came from can say it better than an error page, and stays where it was.
            var problem = Problem(any: error)
            problem.correlationID = problem.correlationID ?? exchange.correlationID
            guard exchange.wantsPage, problem.code != .storageUnavailable else { throw problem }
            return .redirect(to: failurePath(options.returnPath.text, problem))
        }
    }

    private func callback(_ exchange: Exchange, request: Request) async throws -> Response {
        let callback: Callback
        if request.head.method == .post {
            // The cookie does not come with a cross-site POST (SameSite=Lax): the answer waits for a GET that has it.
            let handle = formPosts.keep(try Callback(formBody: request.body))
            return .redirect(to: "/auth/callback?resume=\(handle)")
        }
        if let handle = try? FormFields(query: request.head.query ?? "")["resume"] {
            guard let kept = formPosts.find(handle) else {
                throw Problem(.stateMismatch, "This sign-in is over or took too long. Start again from the page.")
            }
            callback = kept
        } else {
            callback = try Callback(query: request.head.query ?? "")
        }
        switch try await signInFlow.complete(callback, cookie: exchange.cookie, correlationID: exchange.correlationID) {
        case .signedIn(let path, let id):
            return cookie.setting(id, on: .redirect(to: path))
        case .signedInBefore(let path):
            return .redirect(to: path)
        case .failed(_, let path, var problem):
            problem.correlationID = problem.correlationID ?? exchange.correlationID
            return .redirect(to: failurePath(path, problem))
        }
    }

    /// The page that began a sign-in, with the stable code of what went wrong and nothing else.
    private func failurePath(_ path: String, _ problem: Problem) -> String {
        let id = problem.correlationID.map { "&correlation_id=" + $0 } ?? ""
        return path + (path.contains("?") ? "&" : "?") + "sign_in_error=" + problem.code.rawValue + id
    }

    private struct SignOutBody: Decodable {
        var browser: Bool?
        var account: String?
    }

    private struct SignOutAnswer: Encodable {
        var redirect: String?

        /// `null` is part of the contract, so it is written.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(redirect, forKey: .redirect)
        }

        enum CodingKeys: String, CodingKey { case redirect }
    }

    private func signOut(_ exchange: Exchange, request: Request) async throws -> Response {
        let application = try application(exchange)
        let body: SignOutBody = try decode(request.body)
        guard let session = try await session(exchange) else { return .json(SignOutAnswer(redirect: nil)) }
        let account =
            body.account.map { session.account(for: application.id, id: $0) }
            ?? session.currentAccount(for: application.id)
        guard let account else { return .json(SignOutAnswer(redirect: nil)) }
        let result = try await signOutFlow.signOut(
            application, session: session, account: account, ofBrowser: body.browser ?? false)
        return cookie.setting(result.sessionID, on: .json(SignOutAnswer(redirect: result.redirect)))
    }

    // MARK: Accounts

    private struct AccountAnswer: Encodable {
        struct Account: Encodable {
            var id: String
            var username: String
            var name: String?
            var tenant_id: String?
            var environment: String
        }

        var account: Account?
        var previous_account: String?
        var needs_sign_in: String?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(account, forKey: .account)
            try container.encode(previous_account, forKey: .previous_account)
            try container.encode(needs_sign_in, forKey: .needs_sign_in)
        }

        enum CodingKeys: String, CodingKey { case account, previous_account, needs_sign_in }
    }

    private func account(_ application: Application, session: Session?) -> Response {
        let account = session?.currentAccount(for: application.id)
        return .json(
            AccountAnswer(
                account: account.map {
                    AccountAnswer.Account(
                        id: $0.id, username: $0.username, name: $0.name, tenant_id: $0.tenantID,
                        environment: $0.environment)
                },
                previous_account: session?.previousUsername(for: application.id),
                needs_sign_in: account?.needsInteraction))
    }

    private func claims(_ exchange: Exchange) async throws -> Response {
        let (_, _, account) = try await signedIn(exchange)
        // The nonce is a secret of the sign-in (security law 1); all else is the person's own.
        var claims = account.claims
        claims["nonce"] = nil
        let body = try JSONSerialization.data(withJSONObject: claims, options: [.sortedKeys, .withoutEscapingSlashes])
        return Response(
            status: .ok, headerFields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(body))
    }

    // MARK: Tokens and the API

    private struct TokenBody: Decodable {
        var scopes: [String]?
        var force_refresh: Bool?
    }

    private struct TokenAnswer: Encodable {
        var source: AcquiredToken.Source
        var expires_on: Int
        var scopes: [String]
        var token: String?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(source, forKey: .source)
            try container.encode(expires_on, forKey: .expires_on)
            try container.encode(scopes, forKey: .scopes)
            try container.encode(token, forKey: .token)
        }

        enum CodingKeys: String, CodingKey { case source, expires_on, scopes, token }
    }

    private func token(_ exchange: Exchange, request: Request) async throws -> Response {
        let body: TokenBody = try decode(request.body)
        let (application, session, account) = try await signedIn(exchange)
        let acquired = try await tokens.acquire(
            application, session: session.key, account: account, scopes: body.scopes ?? application.registration.scopes,
            demand: body.force_refresh == true ? .refreshed : .fresh, correlationID: exchange.correlationID)
        return .json(
            TokenAnswer(
                source: acquired.source, expires_on: Int(acquired.token.expiresOn.timeIntervalSince1970),
                scopes: acquired.token.grantedScopes.scopes, token: shown(acquired.token.secret)))
    }

    /// A token as the operator lets pages show it. The first characters of a JWT are the same for all.
    private func shown(_ token: String) -> String? {
        switch configuration.tokenDisplay {
        case .hidden: nil
        case .masked: "\(token.prefix(Handlers.tokenPreviewCharacters))… (\(token.utf8.count) characters)"
        case .full: token
        }
    }

    private func me(_ exchange: Exchange) async throws -> Response {
        let (application, session, account) = try await signedIn(exchange)
        let answer = try await api.get(
            application, session: session, account: account, correlationID: exchange.correlationID)
        return try passedOn(answer.head, body: answer.body, types: ["application/json", "application/problem+json"])
    }

    private func photo(_ exchange: Exchange) async throws -> Response {
        let (application, session, account) = try await signedIn(exchange)
        let answer = try await api.get(
            application, session: session, account: account, path: "/photo/$value",
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

    // MARK: About the session and the device

    private struct Events: Encodable {
        var events: [TimelineEvent]
    }

    private func events(_ exchange: Exchange) async throws -> Response {
        let application = try application(exchange)
        let session = try await session(exchange)
        return .json(Events(events: session.map { timeline.events(session: $0.key.value, app: application.id) } ?? []))
    }

    private struct Applications: Encodable {
        struct Entry: Encodable {
            var id: String
            var title: String
            var page: String
            var kind: String
            var authority: String
            var signed_in_as: String?
        }

        var apps: [Entry]
        var demo: Bool
        var mode: String
        var demo_control_url: String?
    }

    private func applications(_ session: Session?) -> Response {
        .json(
            Applications(
                apps: configuration.applications.map {
                    Applications.Entry(
                        id: $0.id, title: $0.title, page: $0.page.rawValue, kind: $0.kind.rawValue,
                        authority: $0.authority.description, signed_in_as: session?.currentAccount(for: $0.id)?.username
                    )
                },
                demo: configuration.demoControlURL != nil, mode: configuration.deviceMode.rawValue,
                demo_control_url: configuration.demoControlURL))
    }

    private struct Device: Encodable {
        var mode: String
        var session_idle_seconds: Int
        var demo: Bool
    }

    private var device: Response {
        .json(
            Device(
                mode: configuration.deviceMode.rawValue,
                session_idle_seconds: Int(configuration.sessionIdle.components.seconds),
                demo: configuration.demoControlURL != nil))
    }

    private struct Health: Encodable {
        var status: String
    }

    // MARK: What handlers need

    private func application(_ exchange: Exchange) throws(Problem) -> Application {
        guard let application = exchange.application else { throw Problem(.notFound, "No such application.") }
        return application
    }

    private func session(_ exchange: Exchange) async throws(StoreError) -> Session? {
        guard let id = exchange.cookie else { return nil }
        if let session = store.cachedSession(id) { return session }
        return try await store.session(id)
    }

    /// The account that a call is for, or the sign-in to offer.
    private func signedIn(_ exchange: Exchange) async throws -> (Application, Session, Account) {
        let application = try application(exchange)
        let action = Problem.Action.signIn(
            "/auth/\(application.id)/sign-in?" + QueryEncoding.encode([("return_to", "/\(application.id)")]))
        guard let session = try await session(exchange) else {
            guard exchange.cookie == nil else {
                throw Problem(.sessionExpired, "Your session has ended. Sign in again.", action: action)
            }
            throw Problem(.interactionRequired, "Nobody is signed in. Sign in first.", action: action)
        }
        guard let account = session.currentAccount(for: application.id) else {
            throw Problem(.interactionRequired, "Nobody is signed in. Sign in first.", action: action)
        }
        return (application, session, account)
    }

    /// A JSON body; an empty one is an empty object.
    private func decode<Body: Decodable>(_ bytes: [UInt8]) throws(Problem) -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: bytes.isEmpty ? Data("{}".utf8) : Data(bytes))
        } catch {
            throw Problem(.badRequest, "The body is not the JSON object that this address takes.")
        }
    }
}
