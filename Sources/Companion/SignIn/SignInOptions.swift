import HTTPWire
import OpenIDConnect

/// What a sign-in's URL may ask for, checked.
struct SignInOptions: Sendable {
    /// MSAL's "prompt if necessary", which is no `prompt` parameter at the provider.
    static let ifNecessary = "if_necessary"
    /// The fields of the address that the companion understands by itself.
    static let ownFields: Set<String> = [
        "prompt", "login_hint", "domain_hint", "scope", "policy", "tenant", "claims", "return_to",
    ]

    /// What an attempt keeps of an address that anybody may have written, in bytes.
    private static func maxBytes(of name: String) -> Int { name.hasSuffix("_hint") ? 256 : 512 }
    private static let maxClaimsBytes = 2048

    var prompt: Prompt?
    var loginHint: String?
    var domainHint: String?
    var extraScopes: [String] = []
    /// The B2C user flow.
    var userFlow = Application.UserFlow.signIn
    /// Another tenant than the application's own.
    var tenant: String?
    /// The name of the B2C user flow; nil where there are none.
    var policy: String?
    /// Where the browser goes: the application's authority, a user flow's, or another tenant's.
    let authority: Authority
    /// A claims request (OpenID Connect Core §5.5), a JSON object.
    var claims: ClaimsRequest?
    /// What the application's configuration lets through to the provider.
    var extraParameters: [(name: String, value: String)] = []
    let returnPath: ReturnPath
    /// Whether it counts against ``TripLimit``: a user flow that a person chose, or that follows another, is no loop, and
    /// neither is a kiosk's, where every sign-in asks for a password.
    let countsAsTrip: Bool

    /// What follows another flow by itself: nothing is asked for but what is necessary.
    init(continuing flow: Application.UserFlow, at authority: Authority, returnPath: ReturnPath) {
        userFlow = flow
        policy = flow.rawValue
        self.authority = authority
        self.returnPath = returnPath
        countsAsTrip = false
    }

    /// Reads the query of `/auth/{app}/sign-in`.
    ///
    /// - Throws: ``Problem`` `bad_request` that names the parameter.
    init(query: String?, application: Application, publicURL: PublicURL) throws(Problem) {
        let fields: FormFields
        do {
            fields = try FormFields(query: query ?? "")
        } catch {
            throw Problem(.badRequest, "The address has a query that cannot be read. Start again from the page.")
        }
        let known = SignInOptions.ownFields.union(application.extraQueryParameters)
        for name in known where fields.values(for: name).count > 1 {
            throw Problem(.badRequest, "“\(name)” is given twice. Start again from the page.")
        }
        for name in known.subtracting(["claims"]) {
            guard let value = fields[name] else { continue }
            guard value.utf8.count <= SignInOptions.maxBytes(of: name),
                !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else {
                throw Problem(.badRequest, "“\(name)” is too long or has control characters.")
            }
        }
        loginHint = fields["login_hint"].flatMap { $0.isEmpty ? nil : $0 }
        domainHint = fields["domain_hint"].flatMap { $0.isEmpty ? nil : $0 }
        extraScopes = (fields["scope"] ?? "").split(separator: " ").map(String.init)
        extraParameters = application.extraQueryParameters.compactMap { name in fields[name].map { (name, $0) } }
        (userFlow, authority) = try SignInOptions.destination(
            policy: fields["policy"] ?? "", tenant: fields["tenant"] ?? "", application)
        countsAsTrip = userFlow == .signIn && application.page != .kiosk
        tenant = fields["tenant"].flatMap { $0.isEmpty ? nil : $0 }
        policy = application.kind == .b2c ? userFlow.rawValue : nil
        // A hint names the account, so that asking which account it is (the application's own prompt) would be wrong.
        switch fields["prompt"] {
        case nil, "": prompt = loginHint == nil && userFlow == .signIn ? application.prompt : nil
        case SignInOptions.ifNecessary: prompt = nil
        case .some(let text):
            guard let known = Prompt(rawValue: text) else {
                throw Problem(
                    .badRequest, "“prompt” must be if_necessary, select_account, login, consent, create or none.")
            }
            prompt = known
        }
        // Nobody at a kiosk gets in with what the person before them left at the provider.
        if application.page == .kiosk { prompt = .login }
        if let text = fields["claims"], !text.isEmpty {
            guard text.utf8.count <= SignInOptions.maxClaimsBytes, let request = ClaimsRequest(json: text) else {
                throw Problem(.badRequest, "“claims” must be a JSON object of at most 2048 bytes.")
            }
            claims = request
        }
        let home = publicURL.pagePath(of: application)
        guard let path = ReturnPath(fields["return_to"] ?? home, below: publicURL.prefix) else {
            throw Problem(.badRequest, "“return_to” must be a path of this site.")
        }
        returnPath = path
    }

    private static func destination(
        policy: String, tenant: String, _ application: Application
    ) throws(Problem) -> (Application.UserFlow, Authority) {
        if !policy.isEmpty {
            guard application.kind == .b2c, let flow = Application.UserFlow(rawValue: policy) else {
                throw Problem(
                    .badRequest,
                    "“policy” must be sign_in, edit_profile or reset_password, of an application with user flows.")
            }
            guard let authority = application.authority(of: flow) else {
                throw Problem(
                    .badRequest, "This application has no user flow \(policy): the operator names it in policies.")
            }
            return (flow, authority)
        }
        guard !tenant.isEmpty else { return (.signIn, application.authority) }
        do throws(AuthorityError) {
            return (.signIn, try application.authority.withTenant(tenant))
        } catch {
            throw Problem(.badRequest, "“tenant” cannot be used: \(error.reason)")
        }
    }
}
