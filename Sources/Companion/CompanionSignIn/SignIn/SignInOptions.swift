package import CompanionCore
package import OpenIDConnect
import SessionStore
import WebFormats

/// The validated parameters of a sign-in's URL.
package struct SignInOptions: Sendable {
    /// The largest accepted `max_age`, in seconds: a year.
    private static let longestMaxAge = 31_536_000
    /// Returns the maximum length of a parameter in bytes, because the attempt stores values that anyone may have
    /// written.
    private static func maxBytes(of name: String) -> Int { name.hasSuffix("_hint") ? 256 : 512 }
    private static let maxClaimsBytes = 1024

    package var prompt: Prompt?
    /// The maximum age of the authentication in seconds; nil sets no limit.
    package var maxAge: Int?
    /// The requested authentication context class references, separated by spaces, the preferred one first.
    var acrValues: String?
    package var loginHint: String?
    var domainHint: String?
    var extraScopes: [String] = []
    /// The B2C user flow.
    var userFlow = Application.UserFlow.signIn
    /// A tenant other than the application's own.
    package var tenant: String?
    /// The name of the B2C user flow; nil for other platforms.
    package var policy: String?
    /// The authority for this sign-in: the application's, a user flow's, or another tenant's.
    package let authority: Authority
    /// A claims request (OpenID Connect Core §5.5), a JSON object.
    package var claims: ClaimsRequest?
    /// Further parameters that the application's configuration allows.
    package var extraParameters: [(name: String, value: String)] = []
    package let returnPath: ReturnPath
    /// Whether the person chooses the account at the provider, because the URL or another site asked for that.
    let choosesAccount: Bool
    /// Whether consent is asked for where `offline_access` is.
    var asksForConsent = false
    /// Whether our own page's script started the sign-in automatically. Only such sign-ins count towards the loop
    /// limit; a person who presses a button is not a loop.
    let isAutomatic: Bool

    /// Creates the options of a flow that follows another automatically, with only the necessary parameters.
    package init(continuing flow: Application.UserFlow, at authority: Authority, returnPath: ReturnPath) {
        userFlow = flow
        policy = flow.rawValue
        self.authority = authority
        self.returnPath = returnPath
        choosesAccount = false
        isAutomatic = false
    }

    /// Creates the options of the same sign-in again, with consent. They ask for nothing else, and carry no claims that the
    /// first one did not have.
    init(
        repeating attempt: SignInAttempt, _ purpose: AttemptPurpose, of application: Application,
        returnPath: ReturnPath
    ) {
        let settings = purpose.settings
        authority = purpose.authority
        prompt = attempt.prompt.flatMap(Prompt.init)
        (maxAge, acrValues, claims) = (purpose.maxAge, settings.acrValues, purpose.claims)
        (loginHint, domainHint) = (purpose.loginHint, settings.domainHint)
        extraScopes = attempt.requestedScopes.filter { !application.registration.scopes.contains($0) }
        tenant = settings.tenant
        asksForConsent = true
        self.returnPath = returnPath
        choosesAccount = true
        isAutomatic = false
    }

    /// Parses the query of `/auth/{app}/sign-in`.
    ///
    /// - Parameter isFromElsewhere: whether the page of another origin sent the browser here (`Sec-Fetch-Site`). In that
    ///   case only the application's normal sign-in, in which the person picks the account, is allowed.
    /// - Throws: ``Problem`` `bad_request` that names the parameter.
    package init(
        query: String?, application: Application, publicURL: PublicURL, isFromElsewhere: Bool = false
    ) throws(Problem) {
        let fields = try SignInOptions.fields(of: query, application)
        loginHint = fields["login_hint"].flatMap { $0.isEmpty ? nil : $0 }
        domainHint = fields["domain_hint"].flatMap { $0.isEmpty ? nil : $0 }
        extraScopes = (fields["scope"] ?? "").split(separator: " ").map(String.init)
        extraParameters = application.extraQueryParameters.compactMap { name in fields[name].map { (name, $0) } }
        (userFlow, authority) = try SignInOptions.destination(
            policy: isFromElsewhere ? "" : fields["policy"] ?? "", tenant: fields["tenant"] ?? "", application)
        isAutomatic = !isFromElsewhere && fields["automatic"] == "1"
        choosesAccount = isFromElsewhere || ["select_account", "create"].contains(fields["prompt"])
        tenant = fields["tenant"].flatMap { $0.isEmpty ? nil : $0 }
        policy = application.kind == .b2c ? userFlow.rawValue : nil
        // A hint already names the account, so the application's own prompt is not used: it would ask for one.
        prompt = try SignInOptions.prompt(
            fields["prompt"], else: loginHint == nil && userFlow == .signIn ? application.prompt : nil)
        maxAge = try SignInOptions.maxAge(fields["max_age"])
        acrValues = fields["acr_values"].flatMap { $0.isEmpty ? nil : $0 }
        claims = try SignInOptions.claims(fields["claims"])
        if isFromElsewhere {
            (loginHint, domainHint, extraScopes, extraParameters, claims, maxAge) = (nil, nil, [], [], nil, nil)
            acrValues = nil
            prompt = .selectAccount
        }
        let home = publicURL.pagePath(of: application)
        guard let path = ReturnPath(fields["return_to"] ?? home, below: publicURL.prefix) else {
            throw Problem(.badRequest, "“return_to” must be a path of this site.")
        }
        returnPath = path
        if application.isAtKiosk { KioskRules.apply(to: &self) }
    }

    /// Parses the query. Each field may occur once, and has a maximum length.
    private static func fields(of query: String?, _ application: Application) throws(Problem) -> FormFields {
        let fields: FormFields
        do {
            fields = try FormFields(query: query ?? "")
        } catch {
            throw Problem(.badRequest, "The address has a query that cannot be read. Start again from the page.")
        }
        let known = SignInFields.own.union(application.extraQueryParameters)
        for name in known where fields.values(for: name).count > 1 {
            throw Problem(.badRequest, "“\(name)” appears twice. Start again from the page.")
        }
        for name in known.subtracting(["claims"]) {
            guard let value = fields[name] else { continue }
            guard value.utf8.count <= SignInOptions.maxBytes(of: name),
                !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else {
                throw Problem(.badRequest, "“\(name)” is too long or contains control characters.")
            }
        }
        return fields
    }

    /// - Parameter own: the prompt to use if the URL has none.
    private static func prompt(_ text: String?, else own: Prompt?) throws(Problem) -> Prompt? {
        guard let text, !text.isEmpty else { return own }
        guard text != SignInFields.promptIfNecessary else { return nil }
        guard let known = Prompt(rawValue: text) else {
            throw Problem(
                .badRequest, "“prompt” must be if_necessary, select_account, login, consent, create or none.")
        }
        return known
    }

    private static func maxAge(_ text: String?) throws(Problem) -> Int? {
        guard let text, !text.isEmpty else { return nil }
        guard let seconds = Int(text), (0...longestMaxAge).contains(seconds) else {
            throw Problem(.badRequest, "“max_age” must be a whole number of seconds, at most a year.")
        }
        return seconds
    }

    private static func claims(_ text: String?) throws(Problem) -> ClaimsRequest? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= maxClaimsBytes, let request = ClaimsRequest(json: text) else {
            throw Problem(.badRequest, "“claims” must be a JSON object of at most 1024 bytes.")
        }
        return request
    }

    /// Adds the claims for which the provider or the API last refused the account, because without them the new token
    /// would be refused again.
    ///
    /// - Parameter accounts: the application's accounts in this session.
    mutating func carryChallenge(of accounts: [Account]) {
        guard userFlow == .signIn, !choosesAccount else { return }
        let account = accounts.first { account in
            loginHint.map { $0.lowercased() == account.identity.username.lowercased() } ?? account.current
        }
        guard let learnt = account?.interactionClaims.flatMap(ClaimsRequest.init(json:)) else { return }
        claims = claims.map(learnt.merging) ?? learnt
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
                    .badRequest,
                    "This application has no user flow \(policy). The operator configures it under policies.")
            }
            return (flow, authority)
        }
        guard !tenant.isEmpty else { return (.signIn, application.authority) }
        return (.signIn, try application.authority(ofTenant: tenant))
    }
}

extension AuthorizationRequest {
    /// Converts the options to a request.
    package init(_ options: SignInOptions, scopes: [String]) {
        self.init(
            prompt: options.prompt, loginHint: options.loginHint, domainHint: options.domainHint, scopes: scopes,
            claims: options.claims)
        maxAge = options.maxAge
        acrValues = options.acrValues
        extraParameters = options.extraParameters
    }
}
