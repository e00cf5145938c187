import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import WebFormats

/// One request of a sign-in, which is either the authorization request or a page's form. The response is the next page,
/// or a redirect back to the application.
struct SignIn {
    let platform: Platform
    let exchange: Exchange
    let client: DemoClient
    var flow: DemoSignInFlow
    private var session: SignOnSession
    private var sessionChanged = false

    init(platform: Platform, exchange: Exchange, client: DemoClient, flow: DemoSignInFlow) {
        self.platform = platform
        self.exchange = exchange
        self.client = client
        self.flow = flow
        session = platform.signOnSession(exchange.request.head)
    }

    private var request: DemoAuthorizationRequest { flow.request }

    // MARK: Start

    /// Returns the response to the authorization request, depending on `prompt`, `login_hint`, `domain_hint` and single
    /// sign-on.
    mutating func begin() throws -> Response {
        let present = platform.accounts(of: session).filter(isWelcome)
        switch request.prompt {
        case .some(.none): return try silently(present)
        case .create:
            flow.wantsToSignUp = canSignUp
            return try next()
        case .selectAccount: return try next()
        case .login, .consent, nil: break
        }
        if let hint = request.loginHint {
            guard let account = platform.account(hint: hint) else { return try next(notice: .unknownAccount(hint)) }
            return try choose(account)
        }
        if request.prompt != .login, present.count == 1, let only = present.first { return try choose(only) }
        return try next()
    }

    /// Responds to `prompt=none`, without any page.
    private mutating func silently(_ present: [DemoAccount]) throws -> Response {
        let hinted = request.loginHint.map { platform.account(hint: $0) }
        let candidates = present.filter { hinted == nil || hinted == $0 }
        guard let account = candidates.first else { return try fail(notSignedIn) }
        guard candidates.count == 1 else { return try fail(.ambiguousAccount) }
        take(account)
        if let authentication = flow.authentication,
            platform.refusesSilently(account, met: authentication.secondFactor)
        {
            return try fail(.secondFactorNeeded)
        }
        switch platform.step(flow, client) {
        case .pickAccount, .signUp: return try fail(notSignedIn)
        case .password, .secondFactor:
            guard let authentication = flow.authentication else { return try fail(notSignedIn) }
            do throws(PlatformError) {
                try platform.checkContexts(request.claims, of: account, by: authentication)
            } catch {
                return try fail(error)
            }
            return try fail(.secondFactorNeeded)
        case .profile, .newPassword: return try fail(.userFlowNeedsPage)
        case .blocked: return try fail(.blockedByPolicy.asInteraction)
        case .unassigned(let account, let application):
            return try fail(.notAssigned(account, to: application).asInteraction)
        case .administrator, .consent: return try fail(.notConsented(client).asInteraction)
        case .done(let account, let authentication): return try finish(account, authentication)
        }
    }

    /// Whether people can create an account. Organizations create their members' accounts; customers create their own.
    private var canSignUp: Bool {
        guard platform.directory.signUpPassword != nil else { return false }
        return switch request.segment {
        case .tenant(let id): id == Tenant.fabrikam
        case .userFlow(let flow, _): flow == .signIn
        case .common, .organizations, .consumers: false
        }
    }

    private var notSignedIn: PlatformError {
        request.segment.userFlow == nil ? .notSignedIn : .notSignedInAtUserFlow
    }

    /// Returns whether `domain_hint` allows this kind of account.
    private func isWelcome(_ account: DemoAccount) -> Bool {
        guard request.segment.admits(account) else { return false }
        switch request.domainHint?.lowercased() {
        case "organizations": return account.kind == .work
        case "consumers", "live.com": return account.kind == .personal
        case let domain: return domain.flatMap(Tenant.id(ofDomain:)).map { $0 == account.tenantID } ?? true
        }
    }

    // MARK: A page's form

    /// Handles the field that belongs to the page's step. Every page can return to the account picker.
    mutating func take(_ fields: FormFields) throws -> Response {
        if request.segment.userFlow != nil {
            if fields["cancel"] != nil { return try fail(.userFlowCancelled) }
            if fields["forgot"] != nil { return try fail(.passwordForgotten) }
        }
        if let username = fields["username"] {
            flow.username = nil
            flow.authentication = nil
            flow.consented = false
            flow.wantsToSignUp = false
            if username.isEmpty { return try next() }
            guard let account = platform.account(username: username.trimmingCharacters(in: .whitespaces)) else {
                return try next(notice: .unknownAccount(username))
            }
            return try choose(account)
        }
        if fields["sign_up"] != nil, canSignUp {
            flow.wantsToSignUp = true
            flow.username = nil
            return try next()
        }
        switch platform.step(flow, client) {
        case .pickAccount, .unassigned, .blocked, .done:
            break
        case .signUp:
            guard canSignUp else { break }
            let result = platform.signUp(
                username: fields["new_username"] ?? "", displayName: fields["display_name"] ?? "",
                isB2C: request.segment.userFlow != nil)
            switch result {
            case .success(let account):
                flow.username = account.username
                authenticate(account, secondFactor: 0)
            case .failure(let refusal): return try next(notice: .refused(refusal))
            }
        case .password(let account):
            guard fields["password"] == account.password else { return try next(notice: .wrongPassword) }
            authenticate(
                account, secondFactor: flow.authentication?.secondFactor ?? 0,
                contexts: platform.contextsMetByPassword(request.claims.contexts, of: account))
        case .profile(let account):
            let name = (fields["display_name"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            guard (1...64).contains(name.count) else { return try next(notice: .noDisplayName) }
            platform.state.change {
                $0.displayNames = ($0.displayNames ?? [:]).merging([account.username: name]) { $1 }
            }
            flow.userFlowDone = true
        case .newPassword(let account):
            guard let password = fields["new_password"], !password.isEmpty else { return try next() }
            flow.userFlowDone = true
            authenticate(account, secondFactor: 0)
        case .secondFactor(let account):
            if fields["second_factor"] == "cancel" { return try fail(.secondFactorDeclined) }
            authenticate(account, secondFactor: platform.latestSecondFactorDemand)
        case .administrator:
            if fields["consent"] == "cancel" { return try fail(.adminConsentNeeded) }
        case .consent(let account):
            switch fields["consent"] {
            case "accept": accept(account)
            case "cancel": return try fail(.consentDeclined)
            default: break
            }
        }
        return try next()
    }

    private mutating func choose(_ account: DemoAccount) throws -> Response {
        // A tenant's customers do not exist in other tenants.
        if !account.kind.asksForConsent, !request.segment.admits(account) {
            return try next(notice: .unknownAccount(account.username))
        }
        guard request.segment.admits(account) else {
            guard case .tenant = request.segment else {
                return try next(notice: .wrongKind(isPersonal: account.kind == .personal))
            }
            return try next(notice: .notInTenant(username: account.username))
        }
        take(account)
        return try next()
    }

    /// Chooses an account. The authentication from single sign-on is used unless `prompt=login` or `max_age` requires a
    /// new one.
    private mutating func take(_ account: DemoAccount) {
        flow.username = account.username
        RuledRequest.current?.isBy(account)
        flow.authentication = session.entry(account)?.authentication
        let age = flow.authentication.map { exchange.diagnostics.time.timeIntervalSince($0.time) } ?? 0
        let isTooOld = request.maxAge.map { age > Double($0) || $0 == 0 } ?? false
        guard !platform.controls.settings.ignoresFreshness, request.prompt == .login || isTooOld else { return }
        flow.authentication = nil
    }

    /// Continues after the right password, and after the second factor if one is needed.
    ///
    /// - Parameter contexts: The authentication contexts that are met by it.
    private mutating func authenticate(_ account: DemoAccount, secondFactor: Int, contexts: Set<String> = []) {
        let authentication = Authentication(
            time: exchange.diagnostics.time, sessionID: session.id, secondFactor: secondFactor,
            contexts: contexts.union(flow.authentication?.contexts ?? []),
            revocations: platform.state.read { $0.revocations[account.username, default: 0] })
        flow.authentication = authentication
        // A blocked account has signed in, but single sign-on should not choose it again at once.
        guard !account.traits.contains(.blockedByPolicy) else { return }
        session.entries.removeAll { $0.username == account.username }
        session.entries.append(
            SignOnSession.Entry(id: platform.newID(), username: account.username, authentication: authentication))
        sessionChanged = true
    }

    private mutating func accept(_ account: DemoAccount) {
        flow.consented = true
        switch request.purpose {
        case .code, .device: platform.recordConsent(account, to: client, scopes: request.scopes)
        case .adminConsent: platform.recordAdminConsent(to: client, scopes: request.scopes)
        }
    }

    // MARK: Responses

    /// A message above the form; of an account of another tenant, instead of it.
    enum Notice: Sendable, Codable {
        case unknownAccount(String)
        case wrongKind(isPersonal: Bool)
        case notInTenant(username: String)
        case wrongPassword
        case noDisplayName
        case refused(Refusal)

        /// The reason why an account cannot be created.
        struct Refusal: Error, Codable { var message: String }
    }

    /// An address that is longer does not fit into a request's head.
    private static let mostAddressBytes = 12 * 1024

    /// Redirects to the page of the next step, or back to the application. Every page has an address, because a browser
    /// cannot go back to the answer of a form without sending the form again.
    private mutating func next(notice: Notice? = nil) throws -> Response {
        flow.notice = notice
        if case .done(let account, let authentication) = platform.step(flow, client) {
            return try finish(account, authentication)
        }
        let address = try address()
        return address.utf8.count > Self.mostAddressBytes ? try page() : try withCookie(.redirect(to: address))
    }

    private func form() throws -> SignInForm {
        SignInForm(action: "/\(request.segment.path)/login", flow: try platform.state.sealer.seal(flow, for: .flow))
    }

    /// Returns the address of the present step's page.
    func address() throws -> String { try form().address }

    /// Returns the page of the present step.
    func page() throws -> Response {
        let (form, notice) = (try form(), flow.notice)
        if case .notInTenant(let username) = notice, let account = platform.account(username: username) {
            return platform.page(ErrorPage(.notInTenant(account), exchange.diagnostics, client: client))
        }
        let page: any Page
        switch platform.step(flow, client) {
        case .done(let account, let authentication): return try finish(account, authentication)
        case .pickAccount:
            page = AccountPickerPage(
                form: form, client: client, accounts: platform.accounts.filter(isWelcome),
                signedIn: Set(session.entries.map(\.username)), notice: notice,
                isUserFlow: request.segment.userFlow != nil, canSignUp: canSignUp)
        case .signUp:
            page = SignUpPage(form: form, client: client, notice: notice)
        case .password(let account):
            page = PasswordPage(
                form: form, client: client, account: account, context: context(.password, of: account), notice: notice,
                isUserFlow: request.segment.userFlow != nil)
        case .unassigned(let account, let application):
            page = UnassignedPage(
                form: form, client: client, account: account, application: application,
                diagnostics: exchange.diagnostics)
        case .blocked(let account):
            page = BlockedPage(form: form, client: client, account: account, diagnostics: exchange.diagnostics)
        case .secondFactor(let account):
            page = SecondFactorPage(
                form: form, client: client, account: account, context: context(.secondFactor, of: account))
        case .administrator(let account):
            page = AdministratorPage(form: form, client: client, account: account, request: request)
        case .profile(let account):
            page = ProfilePage(
                form: form, client: client, account: account, name: platform.displayName(of: account), notice: notice)
        case .newPassword(let account):
            page = NewPasswordPage(form: form, client: client, account: account)
        case .consent(let account):
            page = ConsentPage(scopes: platform.scopes, form: form, client: client, account: account, request: request)
        }
        return try withCookie(platform.page(page, leavingTo: request.target.redirectURI))
    }

    /// Returns the authentication context because of which a page is shown; nil if there is another reason.
    private func context(_ policy: ContextPolicy, of account: DemoAccount) -> String? {
        flow.authentication.flatMap { authentication in
            platform.unmet(request.claims.contexts, of: account, by: authentication)
                .filter { $0.value == policy }.keys.min()
        }
    }

    private func finish(_ account: DemoAccount, _ authentication: Authentication) throws -> Response {
        // The authorization request need not say who signs in.
        RuledRequest.current?.isBy(account)
        if let error = platform.controls.takePlatformError(.authorize, namesUser: true) {
            if error.isShownByTenant { throw error }
            return try fail(error)
        }
        platform.end(flow)
        var answer: [(String, String?)]
        switch request.purpose {
        case .device:
            return try withCookie(
                platform.end(request, .approved(username: account.username, authentication), exchange))
        case .code:
            let code = AuthorizationCode(
                id: platform.newID(), clientID: client.id, redirectURI: request.target.redirectURI,
                redirectClass: client.redirectClass(of: request.target.redirectURI) ?? .web, segment: request.segment,
                codeChallenge: request.codeChallenge, nonce: request.nonce,
                scopes: request.scopes, askedScope: request.askedScope, username: account.username,
                authentication: authentication,
                claims: request.claims,
                expires: exchange.diagnostics.time.addingTimeInterval(AuthorizationCode.lifetime),
                replay: request.replay)
            answer = [("code", try platform.state.sealer.seal(code, for: .code))]
            if request.wantsClientInfo { answer.append(("client_info", account.clientInfo(request.segment.userFlow))) }
            answer.append(("session_state", authentication.sessionID))
        case .adminConsent:
            answer = [
                ("admin_consent", "True"), ("tenant", account.tenantID),
                ("scope", request.scopes.joined(separator: " ")),
            ]
        }
        return try withCookie(platform.answer(answer, to: request.target))
    }

    private func fail(_ error: PlatformError) throws -> Response {
        platform.end(flow)
        guard request.purpose != .device else {
            return try withCookie(platform.end(request, .declined(error), exchange))
        }
        return try withCookie(platform.answer(error, exchange.diagnostics, to: request.target))
    }

    private func withCookie(_ response: Response) throws -> Response {
        guard sessionChanged else { return response }
        var response = response
        response.headerFields[.setCookie] = try platform.setCookie(session)
        return response
    }
}

extension PlatformError {
    /// The error that the authorization endpoint reports if it may not show a page.
    fileprivate var asInteraction: PlatformError {
        var error = self
        error.error = "interaction_required"
        error.suberror = nil
        return error
    }
}
