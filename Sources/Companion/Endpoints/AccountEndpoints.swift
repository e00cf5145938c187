import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore

/// Who is signed in: the current account, the others beside it, and what is known of them.
struct AccountEndpoints: Sendable {
    let store: SessionStore
    let sessions: SessionLookup
    let signOut: SignOutFlow
    let cookie: SessionCookie

    private struct AccountBody: Encodable {
        var id: String
        var username: String
        var name: String?
        var tenant_id: String?
        var environment: String
        var policy: String?

        init(_ account: Account) {
            id = account.id
            username = account.username
            name = account.name
            tenant_id = account.tenantID
            environment = account.environment
            policy = account.policy
        }
    }

    private struct AccountAnswer: Encodable {
        @OrNull var account: AccountBody?
        @OrNull var previous_account: String?
        @OrNull var needs_sign_in: String?
    }

    /// The account of a session's application: the one named, else the current one.
    private func account(_ application: Application, session: Session?, named id: String? = nil) -> Response {
        let account = session.flatMap { session in
            id.map { session.account(for: application.id, id: $0) } ?? session.currentAccount(for: application.id)
        }
        return .json(
            AccountAnswer(
                account: account.map(AccountBody.init),
                previous_account: session?.previousUsername(for: application.id),
                needs_sign_in: account?.needsInteraction))
    }

    /// The current account, when memory knows it.
    func cached(_ call: Call) -> Response? {
        guard let application = call.application, call.request.head.query == nil else { return nil }
        guard let id = call.cookie else { return account(application, session: nil) }
        return sessions.cached(id).map { account(application, session: $0) }
    }

    func current(_ visit: Visit) -> Response {
        account(visit.application, session: visit.session, named: visit.call.field("account"))
    }

    private struct Accounts: Encodable {
        struct Entry: Encodable {
            var account: AccountBody
            var current: Bool
            var needs_sign_in: String?

            func encode(to encoder: any Encoder) throws {
                try account.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(current, forKey: .current)
                try container.encode(needs_sign_in, forKey: .needs_sign_in)
            }

            enum CodingKeys: String, CodingKey { case current, needs_sign_in }
        }

        var accounts: [Entry]
    }

    func all(_ visit: Visit) -> Response {
        let accounts = visit.session?.accounts(for: visit.application.id) ?? []
        return .json(
            Accounts(
                accounts: accounts.map {
                    Accounts.Entry(
                        account: AccountBody($0), current: $0.current, needs_sign_in: $0.needsInteraction)
                }))
    }

    private struct SwitchBody: Decodable {
        var id: String
    }

    /// Makes another account of this browser the current one.
    func change(_ visit: Visit) async throws -> Response {
        let body: SwitchBody = try visit.call.body()
        let asking = try visit.signedIn(as: body.id)
        try await store.setCurrentAccount(asking.key)
        return account(asking.application, session: try await sessions.session(of: visit.call))
    }

    /// Takes an account off this browser's list: its tokens are gone; the provider's session is left alone.
    func remove(_ visit: Visit) async throws -> Response {
        let result = try await signOut.signOut(visit.signedIn(as: visit.call.id), ofBrowser: false, isForgotten: true)
        return cookie.setting(
            result.sessionID, on: Response(status: .noContent, headerFields: [.cacheControl: "no-store"], body: []))
    }

    func claims(_ asking: SignedIn) throws -> Response {
        // The nonce is a secret of the sign-in (security law 1); all else is the person's own.
        var claims = asking.account.claims
        claims["nonce"] = nil
        return .json(.object(claims))
    }
}
