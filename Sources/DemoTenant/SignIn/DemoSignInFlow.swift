import Foundation

/// The progress of one sign-in. It travels in the pages' addresses and in the hidden field of their forms, encrypted;
/// the server only remembers sign-ins that have ended. Until then, a person who goes back to a page continues from there.
struct DemoSignInFlow: Sendable, Codable {
    static let lifetime: TimeInterval = 3600

    var id: String
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
    /// The message of the next page.
    var notice: SignIn.Notice?
}

/// The next step of a sign-in.
enum SignInStep: Sendable {
    case pickAccount
    /// The person creates an account, where customers can.
    case signUp
    /// The first factor, also of a person who is signed in already and has to give it once more.
    case password(DemoAccount)
    /// The account is not assigned to an application that requires it.
    case unassigned(DemoAccount, DemoClient)
    case blocked(DemoAccount)
    case secondFactor(DemoAccount)
    /// The account cannot consent for itself.
    case administrator(DemoAccount)
    case consent(DemoAccount)
    /// B2C: the person changes their display name.
    case profile(DemoAccount)
    /// B2C: the person sets a new password, which also authenticates them.
    case newPassword(DemoAccount)
    case done(DemoAccount, Authentication)
}

extension Platform {
    /// Ends a sign-in, so that going back to its pages signs no one in, for example the next person at a kiosk.
    func end(_ flow: DemoSignInFlow) {
        let now = now()
        state.note { record in
            var ended = record.endedSignIns.take() ?? [:]
            if ended.count.isMultiple(of: 256) { ended = ended.filter { $0.value > now } }
            ended[flow.id] = flow.expires
            record.endedSignIns = ended
        }
    }

    /// Returns whether the sign-in has ended, or its pages have expired.
    func isOver(_ flow: DemoSignInFlow) -> Bool {
        now() >= flow.expires || hasEnded(flow)
    }

    /// Returns whether the application has got the sign-in's answer.
    func hasEnded(_ flow: DemoSignInFlow) -> Bool { state.read { $0.endedSignIns?[flow.id] != nil } }

    /// Returns the next step, in the platform's order: account, authentication, assignment, policy,
    /// consent.
    func step(_ flow: DemoSignInFlow, _ client: DemoClient) -> SignInStep {
        let request = flow.request
        guard let account = account(of: flow) else { return flow.wantsToSignUp ? .signUp : .pickAccount }
        if request.segment.userFlow == .resetPassword, !flow.userFlowDone { return .newPassword(account) }
        guard let authentication = flow.authentication else { return .password(account) }
        if request.segment.userFlow == .editProfile, !flow.userFlowDone { return .profile(account) }
        // An administrator may consent for others without using the application.
        if request.purpose != .adminConsent,
            let application = missingAssignment(account, client, scopes: request.scopes)
        {
            return .unassigned(account, application)
        }
        let unmet = unmet(request.claims.contexts, of: account, by: authentication).values
        if account.traits.contains(.blockedByPolicy) || unmet.contains(.blocked) { return .blocked(account) }
        if unmet.contains(.password) { return .password(account) }
        let isAlways =
            request.claims.secondFactor || unmet.contains(.secondFactor)
            || account.traits.contains(.secondFactorAlways)
        let demand = max(secondFactorDemand(on: account), isAlways ? 1 : 0)
        if authentication.secondFactor < demand { return .secondFactor(account) }
        if request.purpose == .adminConsent {
            guard account.traits.contains(.administrator) else { return .administrator(account) }
            return flow.consented ? .done(account, authentication) : .consent(account)
        }
        if needsAdministrator(account, for: client, scopes: request.scopes) { return .administrator(account) }
        let mustAsk = request.prompt == .consent || !hasConsented(account, to: client, scopes: request.scopes)
        return mustAsk && !flow.consented ? .consent(account) : .done(account, authentication)
    }
}
