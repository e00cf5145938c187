import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore

/// Who is signed in: the current account, the others beside it, and what is known of them.
extension Endpoints {
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
    func account(_ application: Application, session: Session?, named id: String? = nil) -> Response {
        let account = session.flatMap { session in
            id.map { session.account(for: application.id, id: $0) } ?? session.currentAccount(for: application.id)
        }
        return .json(
            AccountAnswer(
                account: account.map(AccountBody.init),
                previous_account: session?.previousUsername(for: application.id),
                needs_sign_in: account?.needsInteraction))
    }

    func account(_ exchange: Exchange) async throws -> Response {
        account(try application(exchange), session: try await session(exchange), named: exchange.field("account"))
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

    func accounts(_ exchange: Exchange) async throws -> Response {
        let application = try application(exchange)
        let accounts = try await session(exchange)?.accounts(for: application.id) ?? []
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

    func switchAccount(_ exchange: Exchange, request: Request) async throws -> Response {
        let body: SwitchBody = try decode(request.body)
        let (application, session, account) = try await signedIn(exchange, named: body.id)
        try await store.setCurrentAccount(session.key, app: application.id, accountID: account.id)
        return self.account(application, session: try await self.session(exchange))
    }

    /// Takes an account off this browser's list: its tokens are gone; the provider's session is left alone.
    func removeAccount(_ exchange: Exchange) async throws -> Response {
        let (application, session, account) = try await signedIn(exchange, named: exchange.id)
        let result = try await signOutFlow.signOut(
            application, session: session, account: account, ofBrowser: false, isForgotten: true)
        return cookie.setting(
            result.sessionID, on: Response(status: .noContent, headerFields: [.cacheControl: "no-store"], body: []))
    }

    func claims(_ exchange: Exchange) async throws -> Response {
        let (_, _, account) = try await signedIn(exchange)
        // The nonce is a secret of the sign-in (security law 1); all else is the person's own.
        var claims = account.claims
        claims["nonce"] = nil
        return try .json(object: claims)
    }
}
