import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import TenantControl
import TenantDirectory
import WebFormats

/// One request of a sign-in, which is either the authorization request or a page's form. The response is the next page,
/// or a redirect back to the application.
struct SignIn {
    let platform: IdentityPlatform
    let exchange: Exchange
    let client: DemoClient
    var flow: DemoSignInFlow
    var session: SignOnSession
    var sessionChanged = false

    init(platform: IdentityPlatform, exchange: Exchange, client: DemoClient, flow: DemoSignInFlow) {
        self.platform = platform
        self.exchange = exchange
        self.client = client
        self.flow = flow
        session = platform.signOnSession(exchange.request.head)
    }

    var request: DemoAuthorizationRequest { flow.request }

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
            guard let account = account(hint: hint) else { return try next(notice: unknown(hint)) }
            return try choose(account)
        }
        if request.prompt != .login, present.count == 1, let only = present.first { return try choose(only) }
        return try next()
    }

    /// Responds to `prompt=none`, without any page.
    private mutating func silently(_ present: [DemoAccount]) throws -> Response {
        let hinted = request.loginHint.map { account(hint: $0) }
        let candidates = present.filter { hinted == nil || hinted == $0 }
        guard let account = candidates.first else { return try fail(notSignedIn) }
        guard candidates.count == 1 else { return try fail(.ambiguousAccount) }
        take(account)
        if let error = try demandedError() { return try fail(error.asInteraction) }
        if let authentication = flow.authentication,
            platform.grants.refusesSilently(account, met: authentication.secondFactor)
        {
            return try fail(.secondFactorNeeded)
        }
        switch platform.step(flow, client) {
        case .pickAccount, .signUp: return try fail(notSignedIn)
        case .profile, .newPassword: return try fail(.notSignedInAtUserFlow)
        case .code(let code) where code.kind == .passwordReset: return try fail(.notSignedInAtUserFlow)
        case .password, .code, .secondFactor:
            guard let authentication = flow.authentication else { return try fail(notSignedIn) }
            do throws(PlatformError) {
                try platform.grants.checkContexts(request.claims, of: account, by: authentication)
            } catch {
                return try fail(error)
            }
            return try fail(.secondFactorNeeded)
        case .refused(let error): return try fail(error)
        case .blocked: return try fail(.blockedByPolicy.asInteraction)
        case .unassigned(let account, let application):
            return try fail(.notAssigned(account, to: application).asInteraction)
        case .administrator, .consent: return try fail(.notConsented(client).asInteraction)
        case .done(let account, let authentication): return try finish(account, authentication)
        }
    }

    /// Whether people can create an account. Organizations create their members' accounts; customers create their own.
    var canSignUp: Bool {
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

    /// Returns whether the picker offers an account. Beyond this machine, strangers do not learn who has one.
    private func isListed(_ account: DemoAccount) -> Bool {
        let isOffered = platform.directory.hasDemoAccounts && account.identityProvider == nil
        return isWelcome(account) && (isOffered || session.entry(account) != nil)
    }

    // MARK: A page's form

    /// Handles the field that belongs to the page's step. Every page can return to the account picker.
    mutating func take(_ fields: FormFields) throws -> Response {
        if request.segment.userFlow != nil {
            if fields["cancel"] != nil { return try fail(.userFlowCancelled) }
            if fields["forgot"] != nil { return try fail(.passwordForgotten) }
        }
        if request.purpose == .social, fields["cancel"] != nil { return try fail(.consentDeclined) }
        if fields["provider"] != nil, canSignUp { return try beginAtProvider() }
        if let username = fields["username"] {
            forgetPerson()
            if username.isEmpty { return try next() }
            guard let account = platform.people.account(username: SignUp.comparable(username)) else {
                return try next(notice: unknown(username))
            }
            return try choose(account)
        }
        if fields["sign_up"] != nil, canSignUp {
            forgetPerson()
            flow.wantsToSignUp = true
            return try next()
        }
        switch platform.step(flow, client) {
        case .pickAccount, .refused, .unassigned, .blocked, .done:
            break
        case .signUp:
            guard canSignUp else { break }
            let result = platform.people.newcomer(
                username: fields["new_username"] ?? "", displayName: fields["display_name"] ?? "", isB2C: isB2C,
                method: signsUpWithCode ? .code : nil)
            switch result {
            case .success(let newcomer): flow.newcomer = newcomer
            case .failure(let refusal): return try next(notice: .refused(refusal))
            }
        case .code(let code):
            if let answer = try answer(to: fields, code) { return answer }
        case .password(let account):
            if fields["forgot"] != nil, canResetPassword(account) {
                flow.resetsPassword = true
                return try next()
            }
            if let refusal = try refusal(of: fields["password"], for: account) { return refusal }
            authenticate(
                account, secondFactor: flow.authentication?.secondFactor ?? 0,
                contexts: platform.grants.contextsMetByPassword(request.claims.contexts, of: account))
        case .profile(let account):
            let name = (fields["display_name"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            guard (1...64).contains(name.count) else { return try next(notice: .noDisplayName) }
            platform.state.change {
                $0.displayNames = ($0.displayNames ?? [:]).merging([account.username: name]) { $1 }
            }
            flow.userFlowDone = true
        case .newPassword(let account):
            guard let password = fields["new_password"], !password.isEmpty else { return try next() }
            // The password of a B2C account stays, because every demo account has the same one.
            if !isB2C {
                if let refusal = platform.people.refusal(of: password, for: account) {
                    return try next(notice: .passwordRefused(refusal))
                }
                platform.people.choose(StoredPassword(password, clock: platform.clock), for: account)
            }
            flow.userFlowDone = true
            authenticate(account, secondFactor: 0)
        case .secondFactor(let account):
            if fields["second_factor"] == "cancel" { return try fail(.secondFactorDeclined) }
            authenticate(account, secondFactor: platform.grants.latestSecondFactorDemand)
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

    /// Returns the answer to a wrong password; nil if it is the right one.
    private mutating func refusal(of password: String?, for account: DemoAccount) throws -> Response? {
        switch platform.judge(password ?? "", of: account, from: exchange.request.peer) {
        case .right: nil
        case .wrong:
            try next(notice: platform.people.hasKnownPassword(account) ? .wrongPassword : .wrongOwnPassword)
        case .tooMany(let seconds): platform.layout.page(TooManyTriesPage()).ending(retryAfter: seconds)
        }
    }

    /// Returns the message about a name that no account has. Strangers get no list to pick from.
    private func unknown(_ name: String) -> SignInNotice {
        platform.directory.hasDemoAccounts ? .unknownAccount(name) : .unknownPerson(name)
    }

    /// Forgets everything about the person who was chosen so far.
    mutating func forgetPerson() {
        (flow.username, flow.authentication, flow.notice, flow.newcomer) = (nil, nil, nil, nil)
        (flow.consented, flow.wantsToSignUp, flow.resetsPassword) = (false, false, nil)
        (flow.sentCode, flow.confirmed) = (nil, nil)
    }

    private mutating func choose(_ account: DemoAccount) throws -> Response {
        // A tenant's customers do not exist in other tenants, and a user flow knows no others.
        let isUnknown = !account.kind.asksForConsent || request.segment.userFlow != nil
        if isUnknown, !request.segment.admits(account) {
            return try next(notice: unknown(account.username))
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
    mutating func authenticate(_ account: DemoAccount, secondFactor: Int, contexts: Set<String> = []) {
        let authentication = Authentication(
            time: exchange.diagnostics.time, sessionID: session.id, secondFactor: secondFactor,
            contexts: contexts.union(flow.authentication?.contexts ?? []),
            revocations: platform.state.read { $0.revocations[account.username, default: 0] })
        flow.authentication = authentication
        // A blocked account has signed in, but single sign-on should not choose it again at once.
        guard !account.traits.contains(.blockedByPolicy) else { return }
        session.entries.removeAll { $0.username == account.username }
        session.entries.append(
            SignOnSession.Entry(id: platform.clock.newID(), username: account.username, authentication: authentication))
        sessionChanged = true
    }

    private mutating func accept(_ account: DemoAccount) {
        flow.consented = true
        switch request.purpose {
        case .code, .device, .social: platform.grants.recordConsent(account, to: client, scopes: request.scopes)
        case .adminConsent: platform.grants.recordAdminConsent(to: client, scopes: request.scopes)
        }
    }

    // MARK: Responses

    /// An address that is longer does not fit into a request's head.
    private static let mostAddressBytes = 12 * 1024

    /// Redirects to the page of the next step, or back to the application. Every page has an address, because a browser
    /// cannot go back to the answer of a form without sending the form again.
    mutating func next(notice: SignInNotice? = nil) throws -> Response {
        flow.notice = notice
        if let error = try demandedError() { return try fail(error) }
        switch platform.step(flow, client) {
        case .done(let account, let authentication): return try finish(account, authentication)
        case .refused(let error): return try fail(error)
        case .code(let code): sendCodeOnce(code)
        default: break
        }
        let address = try address()
        return address.utf8.count > Self.mostAddressBytes ? try page() : try withCookie(.redirect(to: address))
    }

    /// Returns the error that rules have for the account, once it is known and once it has signed in, or throws one that
    /// the application does not get. A customer's sign-in at the social provider is not the application's.
    private func demandedError() throws -> PlatformError? {
        guard request.purpose != .social, let account = platform.account(of: flow) else { return nil }
        RuledRequest.current?.isBy(account)
        let moment: PlatformError.Moment = flow.authentication == nil ? .account : .authentication
        guard let error = platform.controls.takeSignInError(at: moment) else { return nil }
        if error.isShownByTenant { throw error.about(request, client) }
        return error
    }

    private func form() throws -> SignInForm {
        SignInForm(action: "/\(request.segment.path)/login", flow: try platform.state.sealer.seal(flow, for: .flow))
    }

    /// Returns the address of the present step's page.
    func address() throws -> String { try form().address }

    /// Returns the page of the present step.
    func page() throws -> Response {
        let (form, notice) = (try form(), flow.notice)
        if case .notInTenant(let username) = notice, let account = platform.people.account(username: username) {
            let error = platform.notInTenant(account, at: request.segment, client)
            return platform.layout.page(ErrorPage(error, exchange.diagnostics, client: client))
        }
        let page: any Page
        switch platform.step(flow, client) {
        case .done(let account, let authentication): return try finish(account, authentication)
        case .refused(let error): return try fail(error)
        case .pickAccount:
            page = AccountPickerPage(
                form: form, client: client, accounts: platform.people.accounts.filter(isListed),
                signedIn: Set(session.entries.map(\.username)), notice: notice,
                canCancel: canCancel, canSignUp: canSignUp, provider: providerName)
        case .signUp:
            page = SignUpPage(form: form, client: client, notice: notice, signsInWithCode: signsUpWithCode)
        case .code(let code):
            page = CodePage(
                form: form, client: client, code: code, notice: notice,
                isInOutbox: platform.leadsToOutbox(exchange.request.peer), canCancel: canCancel)
        case .password(let account):
            page = PasswordPage(
                form: form, client: client, account: account, context: context(.password, of: account), notice: notice,
                isKnown: platform.people.hasKnownPassword(account), isUserFlow: isB2C,
                canReset: canResetPassword(account), canCancel: canCancel, provider: providerName)
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
                form: form, client: client, account: account, name: platform.people.displayName(of: account),
                notice: notice)
        case .newPassword(let account):
            page = NewPasswordPage(
                form: form, client: client, account: account, notice: notice, isKept: !isB2C, canCancel: canCancel)
        case .consent(let account):
            page = ConsentPage(scopes: platform.scopes, form: form, client: client, account: account, request: request)
        }
        return try withCookie(platform.layout.page(page, leavingTo: request.target.redirectURI))
    }

    /// Returns the authentication context because of which a page is shown; nil if there is another reason.
    private func context(_ policy: ContextPolicy, of account: DemoAccount) -> String? {
        flow.authentication.flatMap { authentication in
            platform.grants.unmet(request.claims.contexts, of: account, by: authentication)
                .filter { $0.value == policy }.keys.min()
        }
    }

    private func finish(_ account: DemoAccount, _ authentication: Authentication) throws -> Response {
        platform.end(flow)
        var answer: [(String, String?)]
        switch request.purpose {
        case .social: return try goOn(.success(account))
        case .device:
            return try withCookie(
                platform.end(request, .approved(username: account.username, authentication), exchange))
        case .code:
            let code = AuthorizationCode(
                id: platform.clock.newID(), clientID: client.id, redirectURI: request.target.redirectURI,
                redirectClass: client.redirectClass(of: request.target.redirectURI) ?? .web, segment: request.segment,
                codeChallenge: request.codeChallenge, nonce: request.nonce,
                scopes: request.scopes, askedScope: request.askedScope, username: account.username,
                authentication: authentication,
                claims: request.claims,
                expires: exchange.diagnostics.time.addingTimeInterval(AuthorizationCode.lifetime),
                replay: request.replay)
            let sealed = try platform.state.sealer.seal(code, for: .code)
            answer = request.wantsNoCode == true ? [] : [("code", sealed)]
            if request.wantsIDToken == true {
                let issuer = TokenIssuer(
                    platform: platform, client: client, redirectClass: code.redirectClass, segment: request.segment,
                    account: account, authentication: authentication, now: exchange.diagnostics.time,
                    settings: platform.controls.settings, clientProof: "0", requested: request.claims)
                let token = try issuer.idToken(
                    scopes: request.scopes, nonce: request.nonce, fault: platform.controls.takeIDTokenFault(),
                    code: request.wantsNoCode == true ? nil : sealed)
                answer.append(("id_token", token))
            }
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

    func fail(_ error: PlatformError) throws -> Response {
        platform.end(flow)
        if request.purpose == .social { return try goOn(.failure(error)) }
        guard request.purpose != .device else {
            return try withCookie(platform.end(request, .declined(error), exchange))
        }
        guard request.purpose == .adminConsent else {
            return try withCookie(platform.answer(error, exchange.diagnostics, to: request.target))
        }
        // A refusal is marked like a consent, and has no subcode (truth adm-03).
        var error = error
        error.suberror = nil
        return try withCookie(
            platform.answer(error, exchange.diagnostics, to: request.target, more: [("admin_consent", "True")]))
    }

    private func withCookie(_ response: Response) throws -> Response {
        sessionChanged ? response.with(.setCookie, try platform.setCookie(session)) : response
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
