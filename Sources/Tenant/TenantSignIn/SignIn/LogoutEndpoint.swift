import Foundation
package import HTTPServer
import HTTPTypes
package import HTTPWire
import TenantControl
package import TenantDirectory
import WebFormats

/// A sign-out whose account has not been chosen yet. It is encrypted in the page.
struct LogoutFlow: Sendable, Codable {
    /// The browser in which it began.
    var browserID: String
    var expires: Date
    /// The validated address to return to; nil if there is none.
    var returnURI: String?
}

extension IdentityPlatform {
    /// `GET` or `POST /{tenant}/oauth2/v2.0/logout`
    package func logout(_ request: Request, segment: TenantSegment) -> Response {
        controls.count(.logout)
        return onPage(request) { exchange in
            let fields = exchange.fields
            let browser = try browser(request.head)
            let flow = LogoutFlow(
                browserID: browser.id, expires: clock.now().addingTimeInterval(DemoSignInFlow.lifetime),
                returnURI: returnURI(fields, at: segment))
            let session = signOnSession(request.head)
            let path = "/\(segment.path)/logout"
            if let hinted = fields.text("logout_hint").flatMap(people.account(loginHintClaim:)) {
                return try signOut([hinted], of: session, flow, in: browser, at: path)
            }
            let present = accounts(of: session, signedOutAt: segment)
            guard present.count > 1 else {
                return try signOut(present, of: session, flow, in: browser, at: path)
            }
            let form = SignInForm(action: path, flow: try state.sealer.seal(flow, for: .logout))
            return layout.page(
                SignOutPickerPage(form: form, accounts: present), leavingTo: flow.returnURI
            ).known(as: browser)
        }
    }

    /// Returns the accounts that a sign-out is about. That of a customer is none at the social provider, except at a kiosk,
    /// where the next person follows.
    private func accounts(of session: SignOnSession, signedOutAt segment: TenantSegment) -> [DemoAccount] {
        let present = accounts(of: session)
        let customers = present.filter { $0.identityProvider != nil && segment.admits($0) }
        return customers.isEmpty || layout.kioskURL != nil ? present : customers
    }

    /// `POST /{tenant}/logout`: takes the chosen account, or `all`.
    package func continueLogout(_ request: Request) -> Response {
        onPage(request) { exchange in
            guard
                let flow = exchange.fields["flow"].flatMap({
                    state.sealer.open($0, for: .logout, as: LogoutFlow.self)
                }), clock.now() < flow.expires
            else { throw PlatformError.flowExpired }
            guard isBrowser(flow.browserID, request.head) else { return layout.page(OtherBrowserPage()) }
            let session = signOnSession(request.head)
            let username = exchange.fields["username"] ?? ""
            let accounts =
                username == SignOutPickerPage.everyone
                ? self.accounts(of: session) : [people.account(username: username)].compactMap(\.self)
            return try signOut(
                accounts, of: session, flow, in: try browser(request.head), at: request.head.path)
        }
    }

    /// Signs out, then redirects to the application, or to the page at `path` that says what was done.
    private func signOut(
        _ accounts: [DemoAccount], of session: SignOnSession, _ flow: LogoutFlow, in browser: BrowserID,
        at path: String
    ) throws -> Response {
        let frames = frontChannelFrames(accounts, of: session)
        var session = session
        end(accounts, of: &session)
        func removingAccounts(_ response: Response) throws -> Response {
            response.with(.setCookie, try setCookie(session))
        }
        if let returnURI = flow.returnURI, frames.isEmpty {
            return try removingAccounts(.redirect(to: returnURI, status: .found))
        }
        let outcome = LogoutOutcome(
            browserID: flow.browserID, expires: flow.expires, frames: frames, returnURI: flow.returnURI,
            remaining: self.accounts(of: session).map(\.username))
        let sealed = try state.sealer.seal(outcome, for: .logoutOutcome)
        return try removingAccounts(.redirect(to: SignInForm(action: path, flow: sealed).address)).known(as: browser)
    }

    /// `GET /{tenant}/logout`: says what a sign-out has done, and notifies the applications.
    package func showLogout(_ request: Request) -> Response {
        onPage(request) { exchange in
            guard
                let outcome = exchange.fields["flow"].flatMap({
                    state.sealer.open($0, for: .logoutOutcome, as: LogoutOutcome.self)
                }), clock.now() < outcome.expires
            else { throw PlatformError.flowExpired }
            guard isBrowser(outcome.browserID, request.head) else { return layout.page(OtherBrowserPage()) }
            guard !outcome.frames.isEmpty else { return layout.page(SignedOutPage(remaining: outcome.remaining)) }
            return layout.page(FrontChannelPage(outcome))
                .with(.contentSecurityPolicy, PagePolicy.text(frames: outcome.frames.map(\.origin)))
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
                        ("iss", addresses.issuer(ofTenant: account.tenantID)), ("sid", entry.authentication.sessionID),
                    ]),
                    origin: origin)
            }
        }
    }

    /// Returns the address to continue at, if it is a redirect URI of the application. Any other address is ignored, as on
    /// the real platform: the person is signed out and stays here. MSAL for iOS and macOS does not say which application
    /// asks, so that it can be any of the tenant's.
    private func returnURI(_ fields: FormFields, at segment: TenantSegment) -> String? {
        let hinted = fields.text("id_token_hint").flatMap(state.verifiedClaims)?["aud"]?.string
        let asking = fields.text("client_id") ?? hinted
        guard let uri = fields.text("post_logout_redirect_uri") else { return nil }
        let possible = registrations.all.filter { client in
            client.redirectClass(of: uri) != nil && asking.map { $0.lowercased() == client.id.lowercased() } ?? true
        }
        guard let client = possible.first else { return nil }
        if possible.count == 1 { ClientNote.change { $0.clientID = client.id } }
        return uri.appending(query: fields["state"].map { [("state", $0)] } ?? [])
    }
}
