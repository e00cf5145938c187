import TenantDirectory
import WebFormats

/// Sign-in in an app's own screens, with a second factor if one is demanded.
extension NativeRequest {
    /// `POST oauth2/v2.0/initiate`
    func initiate() throws -> JSONValue {
        let flow = try begun(.signIn, username: username())
        let account = try person(flow)
        return asks(flow, by: account.signInMethod) ? try answer(beginning: flow) : Self.redirect
    }

    /// `POST oauth2/v2.0/challenge`
    func challenge() throws -> JSONValue {
        try checkChallengeTypes()
        if let id = fields.text("id") { return try challengeSecondFactor(id) }
        var flow = try flow(.signIn, at: .begun, .code, .password)
        let account = try person(flow)
        switch account.signInMethod {
        case .code:
            return try answer(
                sendingTo: VerifiedContact(channel: .email, target: account.username), flow, step: .code)
        case .password:
            flow.step = .password
            return ["continuation_token": .string(try advance(flow)), "challenge_type": "password"]
        }
    }

    /// `POST oauth2/v2.0/introspect`
    func introspect() throws -> JSONValue {
        let flow = try flow(.signIn, .signUp, .passwordReset, at: .secondFactor, .secondFactorCode)
        let methods = people.contacts(of: try person(flow)).map(\.json)
        return ["continuation_token": .string(try advance(flow)), "methods": .array(methods)]
    }

    private func challengeSecondFactor(_ id: String) throws -> JSONValue {
        let flow = try flow(.signIn, .signUp, .passwordReset, at: .secondFactor, .secondFactorCode)
        let account = try person(flow)
        guard let contact = people.contacts(of: account).first(where: { $0.id == id }) else {
            throw PlatformError.unsupportedValue(id, of: "id")
        }
        guard !account.isContactBlocked else { throw PlatformError.contactBlocked }
        return try answer(sendingTo: contact, flow, step: .secondFactorCode)
    }

    /// `POST oauth2/v2.0/token`
    func tokens(_ type: String) throws -> JSONValue {
        try checkChallengeTypes()
        switch type {
        case "password":
            let password = try fields.required("password")
            let flow = try flow(.signIn, at: .password)
            let account = try person(flow)
            let guess = platform.guess(flow) {
                platform.judge(password, of: account, from: grant.exchange.request.peer)
            }
            try check(guess, else: .passwordWrong)
            return try finish(flow, account)
        case "oob", "mfa_oob":
            // Microsoft's reference sends the code of the second factor with `oob` (read in July 2025), and MSAL with
            // `mfa_oob`.
            var flow = try flow(.signIn, .signUp, .passwordReset, at: .code, .secondFactorCode)
            let isSecond = flow.step == .secondFactorCode
            guard isSecond || type == "oob" && flow.kind == .signIn else { throw continuationInvalid }
            let account = try person(flow)
            try checkCode(flow)
            if isSecond { flow.hasSecondFactor = true }
            return try finish(flow, account)
        default:
            let flow = try flow(.signIn, .signUp, .passwordReset, at: .done)
            return try finish(flow, try person(flow))
        }
    }

    /// Returns the tokens, or demands a second factor.
    private func finish(_ flow: NativeFlow, _ account: DemoAccount) throws -> JSONValue {
        let authentication = Authentication(
            time: now, sessionID: platform.clock.newID(),
            secondFactor: flow.hasSecondFactor ? platform.grants.latestSecondFactorDemand : 0,
            revocations: platform.state.read { $0.revocations[account.username, default: 0] })
        let claims = try RequestedClaims(fields["claims"])
        let unmet = platform.grants.unmet(claims.contexts, of: account, by: authentication).values
        if account.traits.contains(.blockedByPolicy) || unmet.contains(.blocked) {
            throw PlatformError.blockedByPolicy
        }
        let needsSecondFactor =
            account.traits.contains(.secondFactorAlways) || account.secondFactor != nil || claims.secondFactor
            || unmet.contains(.secondFactor) || platform.grants.secondFactorDemand(on: account) > 0
        if needsSecondFactor, !flow.hasSecondFactor {
            let isRegistered = !people.contacts(of: account).isEmpty
            let error: PlatformError = isRegistered ? .nativeSecondFactorNeeded : .registrationNeeded
            guard flow.capabilities.contains(error.suberror ?? "") else { return Self.redirect }
            var next = flow
            next.step = isRegistered ? .secondFactor : .registration
            throw error.with(try advance(next))
        }
        let answer = try grant.tokens(of: account, authentication, for: client, redirectClass: .native)
        _ = try advance(flow)
        platform.nativeFlows.withLock { $0.end(flow.id) }
        grant.controls.count(.tokenNative)
        return answer
    }

    /// Returns the person of a flow, who may sign in at this tenant.
    func person(_ flow: NativeFlow) throws(PlatformError) -> DemoAccount {
        guard let account = people.account(username: flow.username), account.kind == .external else {
            throw .userNotFound(flow.username)
        }
        return account
    }

    /// Whether the app can ask a person in this way.
    func asks(_ flow: NativeFlow, by method: SignInMethod) -> Bool {
        flow.challengeTypes.contains(method == .code ? "oob" : "password")
    }
}

extension VerifiedContact {
    /// The name of a method in the list of methods, which is the same at each request.
    var id: String { nameBasedID("method", "\(channel.rawValue) \(target)") }

    var json: JSONValue {
        [
            "id": .string(id), "challenge_type": "oob", "challenge_channel": .string(channel.rawValue),
            "login_hint": .string(label),
        ]
    }
}
