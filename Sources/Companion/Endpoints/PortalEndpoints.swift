import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import OpenIDConnect
import SessionStore

/// For people who test app registrations, and for their operator.
extension Endpoints {
    // MARK: Attempts

    private struct Attempt: Encodable {
        var id: Int
        var app: String
        var authority: String
        var began: String
        var ended: String?
        var outcome: String?
        var settings: AttemptSettings
        var granted_scopes: [String]
        var declined_scopes: [String]
        var problem: Problem.Body?
        var steps: [TimelineEvent]
    }

    /// The interactive sign-ins of this session, the newest first.
    func attempts(_ exchange: Exchange, request: Request) async throws -> Response {
        let language = languages.language(of: request.head)
        guard let session = try await session(exchange) else { return .json(["attempts": [Attempt]()]) }
        let attempts = history.all(session: session.key).map { record in
            Attempt(
                id: record.id, app: record.app, authority: record.authority, began: Timeline.text(record.began),
                ended: record.ended.map(Timeline.text),
                outcome: record.ended == nil ? nil : record.problem?.code.rawValue ?? "ok", settings: record.settings,
                granted_scopes: record.grantedScopes, declined_scopes: record.declinedScopes,
                problem: record.problem?.body(in: language),
                steps: timeline.events(session: session.key.value, app: record.app).filter { $0.attempt == record.id })
        }
        return .json(["attempts": attempts])
    }

    // MARK: Tokens taken apart

    /// What the stored tokens say; nothing is renewed for it.
    func tokens(_ exchange: Exchange) async throws -> Response {
        guard configuration.deviceMode == .private, configuration.tokenDisplay != .hidden else {
            throw Problem(.accessDenied, "On this server tokens are not shown. The operator decides that.")
        }
        let (application, session, account) = try await signedIn(exchange)
        let access = try await store.accessToken(
            session.key, app: application.id, accountID: account.id, scopes: ScopeSet(application.registration.scopes))
        let idToken = try await store.idToken(session.key, app: application.id, accountID: account.id)
        let hasRefreshToken =
            try await store.refreshToken(session.key, app: application.id, accountID: account.id) != nil
        let isFull = configuration.tokenDisplay == .full
        let answer: [String: Any] = [
            "display": configuration.tokenDisplay.rawValue,
            "access_token": access.map { description(of: $0, isFull: isFull) } ?? NSNull(),
            "id_token": idToken.flatMap(DecodedToken.init).map { description(of: $0, isFull: isFull) } ?? NSNull(),
            "has_refresh_token": hasRefreshToken,
        ]
        return try .json(object: answer)
    }

    private func description(of token: StoredAccessToken, isFull: Bool) -> [String: Any] {
        let decoded = DecodedToken(token.secret)
        return [
            "is_jwt": decoded != nil, "header": decoded?.header ?? NSNull(),
            "payload": decoded?.payload(isFull: isFull) ?? NSNull(), "issued_at": decoded?.time("iat") ?? NSNull(),
            "expires_on": Int(token.expiresOn.timeIntervalSince1970),
            "refresh_on": token.refreshOn.map { Int($0.timeIntervalSince1970) } ?? NSNull(),
            "scopes": token.grantedScopes.scopes, "declined_scopes": token.declinedScopes,
            "characters": token.secret.utf8.count, "token": isFull ? token.secret : NSNull(),
        ]
    }

    private func description(of token: DecodedToken, isFull: Bool) -> [String: Any] {
        [
            "header": token.header, "payload": token.payload(isFull: isFull),
            "issued_at": token.time("iat") ?? NSNull(), "expires_on": token.time("exp") ?? NSNull(),
        ]
    }

    // MARK: The operator's part

    /// Who may see other people's sessions: an account of the portal itself, where the portal is not open to everybody.
    private func requireOperator(_ exchange: Exchange) async throws -> (Application, Session, Account) {
        let (application, session, account) = try await signedIn(exchange)
        guard application.page == .portal else { throw Problem(.notFound, "This application is no portal.") }
        guard application.admitsOperators(at: configuration.publicURL, mode: configuration.deviceMode) else {
            throw Problem(
                .accessDenied,
                "This portal is open to everybody, so nobody sees the sessions of others here. The operator names those who may in allowed_users or allowed_tenants."
            )
        }
        // Where nobody is named, the tenants that are written down operate, and the authority's own alone do not.
        let tenants = application.registration.allowedTenants
        guard
            !application.allowedUsers.isEmpty || tenants.isEmpty
                || account.tenantID.map({ tenants.contains($0.lowercased()) }) ?? false
        else {
            throw Problem(
                .accessDenied, "This account is not among those that may use this application. Ask the operator.")
        }
        return (application, session, account)
    }

    private struct ApplicationsHealth: Encodable {
        struct Entry: Encodable {
            struct Check: Encodable {
                var check: String
                var ok: Bool
                var detail: String
            }
            var id: String
            var title: String
            var authority: String
            var ok: Bool
            var checks: [Check]
        }
        var apps: [Entry]
    }

    /// What a sign-in needs, of each application, tried now.
    func health(_ exchange: Exchange, request: Request) async throws -> Response {
        _ = try await requireOperator(exchange)
        let language = languages.language(of: request.head)
        let reports = await authorities.run(configuration.applications)
        return .json(
            ApplicationsHealth(
                apps: reports.map { report in
                    ApplicationsHealth.Entry(
                        id: report.application.id, title: report.application.title, authority: report.authority,
                        ok: report.isHealthy,
                        checks: report.findings.map {
                            ApplicationsHealth.Entry.Check(
                                check: $0.subject.rawValue, ok: $0.isGood, detail: language.text($0.message))
                        })
                }))
    }

    private static let sessionsPerPage = 50

    private struct Sessions: Encodable {
        struct Entry: Encodable {
            struct Account: Encodable {
                var app: String
                var username: String
            }
            var key: String
            var created: String
            var last_seen: String
            var accounts: [Account]
            var current: Bool
        }
        var sessions: [Entry]
        @OrNull var next: String?
    }

    func sessions(_ exchange: Exchange) async throws -> Response {
        let (_, own, _) = try await requireOperator(exchange)
        let after = exchange.field("after")
        guard after == nil || after.flatMap(SessionKey.init) != nil else {
            throw Problem(.badRequest, "“after” must be the key of a session.")
        }
        let page = try await store.list(after: after.flatMap(SessionKey.init), limit: Self.sessionsPerPage)
        return .json(
            Sessions(
                sessions: page.map { session in
                    Sessions.Entry(
                        key: session.key.description, created: Timeline.text(session.createdAt),
                        last_seen: Timeline.text(session.lastSeenAt),
                        accounts: session.accounts.map { .init(app: $0.app, username: $0.username) },
                        current: session.key == own.key)
                }, next: page.count == Self.sessionsPerPage ? page.last?.key.description : nil))
    }

    func revokeSession(_ exchange: Exchange) async throws -> Response {
        let (application, own, account) = try await requireOperator(exchange)
        let key = exchange.id.flatMap(SessionKey.init)
        var more: [String: String] = [:]
        // One's own session ends at sign-out too.
        if key != own.key {
            more["auth_time"] = try requireRecentSignIn(of: account, in: own, to: application).rawValue
        }
        guard let key, try await store.revoke(key) else {
            throw Problem(.notFound, "There is no such session any more.")
        }
        memory.forget(key.value)
        more["ended_session"] = key.description
        audit.write(
            .sessionEndedByOperator, application: application.id, account: store.pseudonym(of: account),
            session: own.key, more: more)
        return Response(status: .noContent, headerFields: [.cacheControl: "no-store"], body: [])
    }

    /// A browser that was left open must not be enough to sign others out.
    private func requireRecentSignIn(
        of account: Account, in session: Session, to application: Application
    ) throws(Problem) -> RecentSignIn {
        if let evidence = recent.evidence(of: account, in: session.key) { return evidence }
        let url = configuration.publicURL
        throw Problem(
            .interactionRequired,
            "To end a session of somebody else, you must have signed in within the last five minutes. Sign in again.",
            action: .signIn(
                url.signInPath(
                    of: application,
                    [
                        ("prompt", Prompt.login.rawValue), ("max_age", String(RecentSignIn.maxAge)),
                        ("return_to", url.pagePath(of: application)),
                    ])))
    }
}
