import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// A sign-out whose account has not been chosen yet. It is encrypted in the page.
struct LogoutFlow: Sendable, Codable {
    var expires: Date
    /// The validated address to return to; nil if there is none.
    var returnURI: String?
}

/// What a sign-out has done. It is encrypted in the address of the page that says so.
struct LogoutOutcome: Sendable, Codable {
    var expires: Date
    var frames: [FrontChannelPage.Frame]
    var returnURI: String?
    /// The usernames that are still signed in.
    var remaining: [String]
}

extension Platform {
    /// `GET` or `POST /{tenant}/oauth2/v2.0/logout`
    func logout(_ request: Request, segment: TenantSegment) -> Response {
        controls.count(.logout)
        return onPage(request) { exchange in
            let fields = exchange.fields
            let flow = LogoutFlow(
                expires: now().addingTimeInterval(DemoSignInFlow.lifetime), returnURI: returnURI(fields, at: segment))
            let session = signOnSession(request.head)
            let path = "/\(segment.path)/logout"
            if let hinted = fields.text("logout_hint").flatMap(account(loginHintClaim:)) {
                return try signOut([hinted], of: session, flow, at: path)
            }
            guard session.entries.count > 1 else {
                return try signOut(self.accounts(of: session), of: session, flow, at: path)
            }
            let form = SignInForm(action: path, flow: try state.sealer.seal(flow, for: .logout))
            return page(
                SignOutPickerPage(form: form, accounts: self.accounts(of: session)), leavingTo: flow.returnURI)
        }
    }

    /// `POST /{tenant}/logout`: takes the chosen account, or `all`.
    func continueLogout(_ request: Request) -> Response {
        onPage(request) { exchange in
            guard
                let flow = exchange.fields["flow"].flatMap({
                    state.sealer.open($0, for: .logout, as: LogoutFlow.self)
                }), now() < flow.expires
            else { throw PlatformError.flowExpired }
            let session = signOnSession(request.head)
            let username = exchange.fields["username"] ?? ""
            let accounts =
                username == SignOutPickerPage.everyone
                ? self.accounts(of: session) : [account(username: username)].compactMap(\.self)
            return try signOut(accounts, of: session, flow, at: request.head.path)
        }
    }

    /// Signs out, then redirects to the application, or to the page at `path` that says what was done.
    private func signOut(
        _ accounts: [DemoAccount], of session: SignOnSession, _ flow: LogoutFlow, at path: String
    ) throws -> Response {
        let frames = frontChannelFrames(accounts, of: session)
        var session = session
        end(accounts, of: &session)
        var response: Response
        if let returnURI = flow.returnURI, frames.isEmpty {
            response = .redirect(to: returnURI, status: .found)
        } else {
            let outcome = LogoutOutcome(
                expires: flow.expires, frames: frames, returnURI: flow.returnURI,
                remaining: self.accounts(of: session).map(\.username))
            let sealed = try state.sealer.seal(outcome, for: .logoutOutcome)
            response = .redirect(to: SignInForm(action: path, flow: sealed).address)
        }
        response.headerFields[.setCookie] = try setCookie(session)
        return response
    }

    /// `GET /{tenant}/logout`: says what a sign-out has done, and notifies the applications.
    func showLogout(_ request: Request) -> Response {
        onPage(request) { exchange in
            guard
                let outcome = exchange.fields["flow"].flatMap({
                    state.sealer.open($0, for: .logoutOutcome, as: LogoutOutcome.self)
                }), now() < outcome.expires
            else { throw PlatformError.flowExpired }
            guard !outcome.frames.isEmpty else { return page(SignedOutPage(remaining: outcome.remaining)) }
            var response = page(FrontChannelPage(outcome))
            response.headerFields[.contentSecurityPolicy] = PagePolicy.text(frames: outcome.frames.map(\.origin))
            return response
        }
    }

    /// Returns the address for each application, with issuer and session (OpenID Connect Front-Channel Logout 1.0 section 2).
    private func frontChannelFrames(_ accounts: [DemoAccount], of session: SignOnSession) -> [FrontChannelPage.Frame] {
        accounts.flatMap { account in
            registrations.all.compactMap { client in
                guard let uri = client.frontChannelLogoutURI, let origin = uri.webOrigin,
                    let entry = session.entry(account)
                else { return nil }
                return FrontChannelPage.Frame(
                    address: uri.appending(query: [
                        ("iss", issuer(ofTenant: account.tenantID)), ("sid", entry.authentication.sessionID),
                    ]),
                    origin: origin)
            }
        }
    }

    /// Returns the address to continue at, if it is a redirect URI of the application. Any other address is ignored, as on
    /// the real platform: the person is signed out and stays here. MSAL for iOS and macOS does not say which application
    /// asks, so that it can be any of the tenant's.
    private func returnURI(_ fields: FormFields, at segment: TenantSegment) -> String? {
        let asking = fields.text("client_id") ?? fields.text("id_token_hint").flatMap(verifiedClaims)?["aud"]?.string
        guard let uri = fields.text("post_logout_redirect_uri") else { return nil }
        let possible = registrations.all.filter { client in
            client.redirectClass(of: uri) != nil && asking.map { $0.lowercased() == client.id.lowercased() } ?? true
        }
        guard let client = possible.first else { return nil }
        if possible.count == 1 { ClientNote.change { $0.clientID = client.id } }
        return uri.appending(query: fields["state"].map { [("state", $0)] } ?? [])
    }
}
