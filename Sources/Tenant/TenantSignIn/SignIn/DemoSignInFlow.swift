import Foundation
import TenantDirectory

/// The progress of one sign-in. It travels in the pages' addresses and in the hidden field of their forms, encrypted;
/// the server only remembers sign-ins that have ended. Until then, a person who goes back to a page continues from there.
struct DemoSignInFlow: Sendable, Codable {
    static let lifetime: TimeInterval = 3600

    var id: String
    /// The browser in which it began.
    var browserID: String
    /// The correlation ID of all its pages.
    var correlationID: String?
    var request: DemoAuthorizationRequest
    var expires: Date
    /// The chosen account.
    var username: String?
    /// The authentication, once the person has authenticated here or by single sign-on.
    var authentication: Authentication?
    /// Whether the person has consented.
    var consented = false
    /// Whether the user flow's own page has been filled in.
    var userFlowDone = false
    /// Whether the person wants a new account.
    var wantsToSignUp = false
    /// The person whose account is created once the address is confirmed.
    var newcomer: SignUp?
    /// Whether a customer of the external tenant sets a new password.
    var resetsPassword: Bool?
    /// The newest code that was sent; nil if none is awaited.
    var sentCode: PageCode?
    /// The address that was confirmed for a new password.
    var confirmed: String?
    /// The message of the next page.
    var notice: SignInNotice?
}

/// The next step of a sign-in.
enum SignInStep: Sendable {
    case pickAccount
    /// The person creates an account, where customers can.
    case signUp
    /// The first factor, also of a person who is signed in already and has to give it once more.
    case password(DemoAccount)
    /// The person enters a code that was sent.
    case code(PageCode)
    /// The application gets nothing from this person.
    case refused(PlatformError)
    /// The account is not assigned to an application that requires it.
    case unassigned(DemoAccount, DemoClient)
    case blocked(DemoAccount)
    case secondFactor(DemoAccount)
    /// The account cannot consent for itself.
    case administrator(DemoAccount)
    case consent(DemoAccount)
    /// B2C: the person changes their display name.
    case profile(DemoAccount)
    /// The person sets a new password, which also authenticates them.
    case newPassword(DemoAccount)
    case done(DemoAccount, Authentication)
}

extension IdentityPlatform {
    /// Ends a sign-in, so that going back to its pages signs no one in, for example the next person at a kiosk.
    func end(_ flow: DemoSignInFlow) {
        let now = clock.now()
        state.note { record in
            var ended = record.endedSignIns.take() ?? [:]
            if ended.count.isMultiple(of: 256) { ended = ended.filter { $0.value > now } }
            ended[flow.id] = flow.expires
            record.endedSignIns = ended
        }
    }

    /// Returns whether the sign-in has ended, or its pages have expired.
    func isOver(_ flow: DemoSignInFlow) -> Bool {
        clock.now() >= flow.expires || hasEnded(flow)
    }

    /// Returns whether the application has got the sign-in's answer.
    func hasEnded(_ flow: DemoSignInFlow) -> Bool { state.read { $0.endedSignIns?[flow.id] != nil } }

    func account(of flow: DemoSignInFlow) -> DemoAccount? { flow.username.flatMap(people.account(username:)) }

    /// Returns the next step, in the platform's order: account, authentication, the request itself, assignment, policy,
    /// consent.
    func step(_ flow: DemoSignInFlow, _ client: DemoClient) -> SignInStep {
        let request = flow.request
        guard let account = account(of: flow) else {
            if let newcomer = flow.newcomer { return .code(PageCode(kind: .signUp, address: newcomer.username)) }
            return flow.wantsToSignUp ? .signUp : .pickAccount
        }
        if request.segment.userFlow == .resetPassword || flow.resetsPassword == true, !flow.userFlowDone {
            return flow.confirmed == account.username
                ? .newPassword(account) : .code(PageCode(kind: .passwordReset, address: account.username))
        }
        // Who signs in elsewhere has no password here.
        let password: SignInStep =
            switch account.signInMethod {
            case _ where account.identityProvider != nil: .pickAccount
            case .code: .code(PageCode(kind: .signIn, address: account.username))
            case .password: .password(account)
            }
        guard let authentication = flow.authentication else { return password }
        do throws(PlatformError) {
            try check(request, of: client, for: account)
        } catch {
            return .refused(
                error.atRedirectURI.at(request.segment, client: request.clientID, scope: request.askedScope))
        }
        if request.segment.userFlow == .editProfile, !flow.userFlowDone { return .profile(account) }
        // An administrator may consent for others without using the application.
        if request.purpose != .adminConsent,
            let application = grants.missingAssignment(account, client, scopes: request.scopes)
        {
            return .unassigned(account, application)
        }
        let unmet = grants.unmet(request.claims.contexts, of: account, by: authentication).values
        if account.traits.contains(.blockedByPolicy) || unmet.contains(.blocked) { return .blocked(account) }
        if unmet.contains(.password) { return password }
        let isAlways =
            request.claims.secondFactor || unmet.contains(.secondFactor)
            || account.traits.contains(.secondFactorAlways)
        let demand = max(grants.secondFactorDemand(on: account), isAlways ? 1 : 0)
        if authentication.secondFactor < demand { return .secondFactor(account) }
        if request.purpose == .adminConsent {
            guard account.traits.contains(.administrator) else { return .administrator(account) }
            return flow.consented ? .done(account, authentication) : .consent(account)
        }
        if grants.needsAdministrator(account, for: client, scopes: request.scopes) { return .administrator(account) }
        let mustAsk = request.prompt == .consent || !grants.hasConsented(account, to: client, scopes: request.scopes)
        return mustAsk && !flow.consented ? .consent(account) : .done(account, authentication)
    }

    /// Throws what is only said after the sign-in: that the application asks for something which there is not
    /// (t2-authz-06, t2-authz-25), or which it or the person cannot have.
    private func check(
        _ request: DemoAuthorizationRequest, of client: DemoClient, for account: DemoAccount
    ) throws(PlatformError) {
        let tenantID = request.segment.tenantID(for: account)
        if request.isVersion1 == true, tenantID == Tenant.consumers { throw .noVersion1ForPersonalAccounts }
        let tenant = TenantSegment.directoryName(ofID: tenantID)
        if let asked = request.askedScope { _ = try scopes.parse(asked, of: client, tenant: tenant) }
        // A consent for everyone is to what is registered, roles of the application itself among it.
        guard request.purpose != .adminConsent else { return }
        try grants.checkPermissions(of: client, scopes: request.scopes)
    }
}

extension PlatformError {
    /// Returns the error with what the platform's page names of the request.
    func about(_ request: DemoAuthorizationRequest, _ client: DemoClient?) -> Self {
        guard number == 50011, let client else { return self }
        return .redirectURIMismatch(request.target.redirectURI, client)
    }

    /// The error as the application gets it after a sign-in, which of a scope that does not exist has another word
    /// (authz-err-13). The token endpoint's is not known.
    fileprivate var atRedirectURI: Self {
        var error = self
        if number == 650_053 { error.error = "invalid_client" }
        return error
    }
}
