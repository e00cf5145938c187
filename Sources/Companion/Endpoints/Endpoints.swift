import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import SessionStore

/// What each route does, in the route table's order; the groups of routes are in this folder's other files.
struct Endpoints: Sendable {
    let configuration: CompanionConfiguration
    let store: SessionStore
    let admission: Admission
    let cookie: SessionCookie
    let signInFlow: SignInFlow
    let history: AttemptHistory
    let memory: SessionMemory
    let languages: Languages
    let signOutFlow: SignOutFlow
    let channelLogout: ChannelLogout
    let acquisition: TokenAcquisition
    let api: APIProxy
    let timeline: Timeline
    let formPosts: FormPostCallbacks
    let authorities: AuthorityCheck
    let monitoring: MonitoringReport
    let limits: RequestLimits
    let audit: AuditLog
    let recent: RecentSignIns
    let logger: Logger

    // MARK: At once

    /// What memory alone can answer; nil when the request has to wait for something.
    func immediate(_ exchange: Exchange) -> Response? {
        switch exchange.route {
        case .device: return device
        case .health: return .json(["status": "ok"])
        case .applications where exchange.cookie == nil: return applications(nil)
        case .account where exchange.isRead && exchange.query == nil:
            guard let application = exchange.application else { return nil }
            guard let id = exchange.cookie else { return account(application, session: nil) }
            return store.cachedSession(id).flatMap { session in
                let isAdmitted = session.accounts.allSatisfy { admission.admits($0) == true }
                return isAdmitted ? account(application, session: session) : nil
            }
        default: return nil
        }
    }

    // MARK: Later

    /// Everything else.
    func answer(_ exchange: Exchange, request: Request) async throws -> Response {
        if let limit = exchange.route.limit { try await take(limit, exchange, request) }
        switch exchange.route {
        case .signIn: return try await signIn(exchange, request: request)
        case .adminConsent: return try await adminConsent(exchange)
        case .callback, .ownCallback: return try await callback(exchange, request: request)
        case .signOut: return try await signOut(exchange, request: request)
        case .frontChannelLogout: return try await frontChannelLogout(exchange)
        case .backChannelLogout: return try await backChannelLogout(request)
        case .account:
            return exchange.isRead ? try await account(exchange) : try await switchAccount(exchange, request: request)
        case .accounts: return try await accounts(exchange)
        case .removeAccount: return try await removeAccount(exchange)
        case .claims: return try await claims(exchange)
        case .token: return try await token(exchange, request: request)
        case .me: return try await me(exchange)
        case .photo: return try await photo(exchange)
        case .events: return try await events(exchange)
        case .signInFailure: return try await signInFailure(exchange, request: request)
        case .tokens: return try await tokens(exchange)
        case .portalHealth: return try await health(exchange, request: request)
        case .portalSessions: return try await sessions(exchange)
        case .revokeSession: return try await revokeSession(exchange)
        case .attempts: return try await attempts(exchange, request: request)
        case .language: return try chooseLanguage(request)
        case .applications: return applications(try await session(exchange))
        case .device: return device
        case .health: return .json(["status": "ok"])
        case .readiness:
            return exchange.mayMonitor ? await monitoring.readinessInDetail() : await monitoring.readiness()
        case .metrics: return await monitoring.metricsResponse()
        case .none, .home, .appPage, .signedOut, .asset:
            throw Problem(.notFound, "There is nothing at this address.")
        }
    }

    /// Counts the request as its session's where somebody is signed in there, else as its address's.
    private func take(_ limit: Limit, _ exchange: Exchange, _ request: Request) async throws(Problem) {
        // A session that cannot be read now is not known to be anybody's.
        let session = (try? await session(exchange)).flatMap { $0 }
        try limits.take(
            limit, session: session?.accounts.isEmpty == false ? session?.key : nil, at: request.head,
            from: request.peer, application: exchange.application?.id)
    }

    // MARK: What endpoints need

    func application(_ exchange: Exchange) throws(Problem) -> Application {
        guard let application = exchange.application else { throw Problem(.notFound, "No such application.") }
        return application
    }

    /// The session with the accounts that may still be in it. One that may not is dropped.
    func session(_ exchange: Exchange) async throws -> Session? {
        guard let id = exchange.cookie else { return nil }
        var session = store.cachedSession(id)
        if session == nil { session = try await store.session(id) }
        guard let session else { return nil }
        let refused = try await admission.refused(in: session)
        guard !refused.isEmpty else { return session }
        for account in refused {
            try await store.dropAccount(session.key, app: account.app, accountID: account.id)
            audit.write(
                .noLongerAdmitted, application: account.app, account: store.pseudonym(of: account), session: session.key
            )
            logger.notice(
                "an account was signed out: the configuration does not admit it to the application",
                metadata: ["app": "\(account.app)", "request_id": "\(exchange.correlationID)"])
        }
        return try await store.session(id)
    }

    /// The account that a call is for: the one it names, else the current one; or the sign-in to offer.
    func signedIn(_ exchange: Exchange, named id: String? = nil) async throws -> (Application, Session, Account) {
        let application = try application(exchange)
        let action = Problem.Action.signIn(
            configuration.publicURL.signInPath(
                of: application, [("return_to", configuration.publicURL.pagePath(of: application))]))
        guard let session = try await session(exchange) else {
            guard exchange.cookie == nil else {
                throw Problem(.sessionExpired, "Your session has ended. Sign in again.", action: action)
            }
            throw Problem(.interactionRequired, "Nobody is signed in. Sign in first.", action: action)
        }
        if let id = id ?? exchange.field("account") {
            guard id.utf8.count <= 512, let account = session.account(for: application.id, id: id) else {
                throw Problem(.notFound, "This account is not signed in here.")
            }
            return (application, session, account)
        }
        guard let account = session.currentAccount(for: application.id) else {
            throw Problem(.interactionRequired, "Nobody is signed in. Sign in first.", action: action)
        }
        return (application, session, account)
    }

    /// A JSON body; an empty one is an empty object.
    func decode<Body: Decodable>(_ bytes: [UInt8]) throws(Problem) -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: bytes.isEmpty ? Data("{}".utf8) : Data(bytes))
        } catch {
            throw Problem(.badRequest, "The body is not the JSON object that this address takes.")
        }
    }
}
