import HTTPServer
import HTTPWire
import TenantDirectory

/// A customer's sign-in at the social provider: one of its own at the consumers' tenant, within the customer's.
extension SignIn {
    /// The name of the provider on its own pages.
    var providerName: String? { request.purpose == .social ? SocialProvider.name : nil }

    /// Whether the page has a button that ends the sign-in.
    var canCancel: Bool { request.segment.userFlow != nil || request.purpose == .social }

    var isB2C: Bool { request.segment.userFlow != nil }

    /// Returns the account that a hint means. The address of a customer who signs in elsewhere is another's there.
    func account(hint: String) -> DemoAccount? {
        let customer = canSignUp ? platform.people.socialAccount(address: hint, isB2C: isB2C) : nil
        return customer ?? platform.people.account(hint: hint)
    }

    /// Begins the sign-in at the provider.
    mutating func beginAtProvider() throws -> Response {
        guard !platform.controls.settings.isDown(TenantSegment.consumers.path) else {
            return try fail(.socialProviderDown(at: request.segment))
        }
        forgetPerson()
        let inner = DemoAuthorizationRequest(
            purpose: .social, segment: .consumers, clientID: request.clientID, target: request.target,
            scopes: SocialProvider.scopes, prompt: request.prompt == .login ? .login : nil,
            customerFlow: try platform.state.sealer.seal(flow, for: .flow))
        return try platform.begin(inner, expires: flow.expires, exchange)
    }

    /// Goes on with the customer's sign-in after the one at the provider.
    func goOn(_ outcome: Result<DemoAccount, PlatformError>) throws -> Response {
        let flow = request.customerFlow.flatMap {
            platform.state.sealer.open($0, for: .flow, as: DemoSignInFlow.self)
        }
        guard let flow, platform.isBrowser(flow.browserID, exchange.request.head), !platform.isOver(flow) else {
            throw PlatformError.flowExpired
        }
        var customer = try platform.signIn(flow, exchange)
        (customer.session, customer.sessionChanged) = (session, sessionChanged)
        return try customer.take(outcome)
    }

    private mutating func take(_ outcome: Result<DemoAccount, PlatformError>) throws -> Response {
        guard case .success(let person) = outcome else {
            // The external tenant shows its page again; a user flow reports to the application.
            return isB2C ? try fail(.socialSignInCancelled) : try next(notice: .cancelledAtProvider)
        }
        let account = platform.people.socialAccount(of: person, isB2C: isB2C)
        flow.username = account.username
        authenticate(
            account, secondFactor: 0,
            contexts: platform.grants.contextsMetByPassword(request.claims.contexts, of: account))
        return try next()
    }
}
