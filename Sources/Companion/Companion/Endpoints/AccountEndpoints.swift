import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore
import WebFormats

/// Reports who is signed in: the current account with its claims, and the other accounts.
struct AccountEndpoints: Sendable {
    let store: SessionStore
    let sessions: SessionLookup
    let signOut: SignOutFlow
    let cookie: SessionCookie
    let tokenDisplay: TokenDisplay

    /// The response for a browser in which no one is or was signed in.
    private let nobody = PreparedResponse.json(answer("", nil))

    init(
        store: SessionStore, sessions: SessionLookup, signOut: SignOutFlow, cookie: SessionCookie,
        tokenDisplay: TokenDisplay
    ) {
        self.store = store
        self.sessions = sessions
        self.signOut = signOut
        self.cookie = cookie
        self.tokenDisplay = tokenDisplay
    }

    /// Returns the named account of a session's application, or the current one.
    ///
    /// - Parameter isKept: whether the provider's session goes on after a sign-out.
    private static func answer(
        _ app: String, _ session: Session?, named id: String? = nil, isKept: Bool = false
    ) -> JSONValue {
        let account = session.flatMap { session in
            id.map { session.account(for: app, id: $0) } ?? session.currentAccount(for: app)
        }
        return [
            "account": account.map { .object($0.shown(isKept: isKept)) } ?? .null,
            "previous_account": .orNull(session?.previousUsername(for: app)),
            "needs_sign_in": .orNull(account?.needsInteraction),
        ]
    }

    /// Returns the current account if it is in memory.
    func prepared(_ call: Call) -> PreparedResponse? {
        guard call.request.head.query == nil else { return nil }
        switch call.session {
        // A closure that makes the response would copy these endpoints and the application for each request.
        case .found(let session):
            return SessionAnswers.of(session).answer(at: call.match) ?? made(call, session)
        case .absent: return nobody
        case .unknown, nil: return nil
        }
    }

    /// Makes the response for the current account, and keeps it with the session.
    private func made(_ call: Call, _ session: Session) -> PreparedResponse? {
        guard let application = call.application else { return nil }
        let response = PreparedResponse.json(
            Self.answer(application.id, session, isKept: signOut.keepsSession(application)))
        SessionAnswers.of(session).keep(response, at: call.match)
        return response
    }

    func current(_ visit: Visit) -> Response {
        .json(
            Self.answer(
                visit.application.id, visit.session, named: visit.call.field("account"),
                isKept: signOut.keepsSession(visit.application)))
    }

    func all(_ visit: Visit) -> Response {
        let accounts = visit.session?.accounts(for: visit.application.id) ?? []
        return .json([
            "accounts": .array(
                accounts.map { account in
                    var entry = account.shown()
                    entry["current"] = .bool(account.current)
                    entry["needs_sign_in"] = .orNull(account.needsInteraction)
                    return .object(entry)
                })
        ])
    }

    private struct SwitchBody: Decodable {
        var id: String
    }

    /// Makes another account of this browser the current one.
    func change(_ visit: Visit) async throws -> Response {
        let body: SwitchBody = try visit.call.body()
        let asking = try visit.signedIn(as: body.id)
        try await store.setCurrentAccount(asking.key)
        return .json(
            Self.answer(
                asking.application.id, try await sessions.session(visit.call.cookie, for: visit.call.context).get(),
                isKept: signOut.keepsSession(asking.application)))
    }

    /// Removes an account from this browser with its tokens. The session at the provider continues.
    func remove(_ visit: Visit) async throws -> Response {
        let result = try await signOut.signOut(visit.signedIn(as: visit.call.id), ofBrowser: false, isForgotten: true)
        return cookie.setting(
            result.sessionID, on: .noStore(.noContent))
    }

    func claims(_ asking: SignedIn) throws -> Response {
        // The nonce is a secret of the sign-in (security law 1).
        var claims = DecodedToken.shown(asking.account.claims, isFull: tokenDisplay == .full)
        claims["nonce"] = nil
        return .json(.object(claims))
    }
}

extension Account {
    /// Returns the fields that pages may see.
    fileprivate func shown(isKept: Bool = false) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "id": .string(id), "username": .string(identity.username), "environment": .string(identity.environment),
        ]
        members["name"] = .text(identity.name)
        members["tenant_id"] = .text(identity.tenantID)
        members["policy"] = .text(identity.policy)
        if isKept { members["provider_keeps_session"] = true }
        return members
    }
}
