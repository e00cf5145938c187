import Foundation
package import HTTPServer
import HTTPTypes
package import HTTPWire
package import TenantControl
package import TenantDirectory
import WebFormats

extension IdentityPlatform {
    /// `POST` to an endpoint of native authentication but for the token endpoint, at the external tenant.
    package func native(_ endpoint: Controls.NativeEndpoint, _ request: Request, segment: TenantSegment) -> Response {
        let exchange = Exchange(request, clock: clock)
        do {
            try exchange.check()
            try checkRate(of: exchange, at: endpoint)
            guard !exchange.fields.hasRepeatedNames else { throw PlatformError.malformedRequest }
            let grant = GrantRequest(
                platform: self, exchange: exchange, segment: segment, settings: controls.settings)
            let answer = try NativeRequest(grant, endpoint).answer()
            return identified(.json(.ok, answer), exchange.diagnostics)
        } catch {
            if !(error is PlatformError) { logger.error("A request of native authentication failed.", error: error) }
            let error = error as? PlatformError ?? .serverError
            return identified(.json(error.status, exchange.diagnostics.json(error)), exchange.diagnostics)
                .with(.retryAfter, error.status == .tooManyRequests ? "1" : nil)
        }
    }

    /// Refuses the requests, beside those to the token endpoint, of a network that tries one address after another. What
    /// continues a flow counts against that alone, so that nobody is kept out of theirs. A tenant whose accounts everyone
    /// knows serves its own machine alone, and has no limit.
    private func checkRate(of exchange: Exchange, at endpoint: Controls.NativeEndpoint) throws(PlatformError) {
        guard !directory.hasDemoAccounts else { return }
        let now = clock.now()
        let begins = [.initiate, .signUpStart, .resetStart].contains(endpoint)
        let wait: TimeInterval? =
            if !begins, let token = continuation(of: exchange.fields) {
                nativeSteps.withLock { $0.add(token.flow, now: now) }
            } else {
                nativeRequests.withLock { $0.add(exchange.request.peer.network, now: now) }
            }
        guard wait == nil else { throw .tooManyRequests }
    }

    /// Returns the continuation token of a request; nil if there is none that this tenant has issued.
    fileprivate func continuation(of fields: FormFields) -> ContinuationToken? {
        fields.text("continuation_token").flatMap {
            state.sealer.open($0, for: .continuation, as: ContinuationToken.self)
        }
    }

    /// Whether there is native authentication at a path.
    package static func nativeEndpoint(_ path: String, at segment: TenantSegment?) -> Controls.NativeEndpoint? {
        guard segment?.tenantID == Tenant.fabrikam else { return nil }
        return Controls.NativeEndpoint(rawValue: path)
    }

    /// Forgets the flows and the messages of native authentication.
    package func forgetNativeFlows() {
        nativeFlows.withLock { $0.endAll() }
        outbox.empty()
    }
}

extension GrantRequest {
    /// Whether a grant is one of native authentication.
    func isNative(_ type: String) -> Bool {
        guard segment.tenantID == Tenant.fabrikam else { return false }
        switch type {
        case "oob", "mfa_oob", "continuation_token": return true
        case "password": return fields.text("continuation_token") != nil
        default: return false
        }
    }

    /// Returns the answer that was asked for at `/control`, or throws the error; nil for neither.
    func nativeAnswerOnDemand(at endpoint: Controls.NativeEndpoint) throws(PlatformError) -> JSONValue? {
        guard let failure = controls.takeNativeFailure(endpoint) else { return nil }
        switch failure.error {
        case "redirect": return NativeRequest.redirect
        case "in_progress", "not_started", "failed": return ["status": .string(failure.error)]
        default: throw PlatformError(failure)
        }
    }

    /// Returns the tokens for a grant of native authentication.
    func nativeTokens(_ type: String) throws -> JSONValue {
        let request = try NativeRequest(self, .token)
        return try request.redirected ?? request.tokens(type)
    }
}

/// A request of an app with native authentication. Each flow has an extension in a file of its own.
struct NativeRequest {
    /// The answer that sends the app to the browser.
    static let redirect: JSONValue = ["challenge_type": "redirect"]

    let grant: GrantRequest
    let endpoint: Controls.NativeEndpoint
    let client: DemoClient
    /// The answer that was asked for at `/control`; nil for none.
    let redirected: JSONValue?

    var platform: IdentityPlatform { grant.platform }
    var fields: FormFields { grant.fields }
    var now: Date { grant.now }
    var people: People { platform.people }
    /// The error of a continuation token that is not valid here.
    var continuationInvalid: PlatformError { .continuationInvalid(at: endpoint) }

    init(_ grant: GrantRequest, _ endpoint: Controls.NativeEndpoint) throws {
        self.grant = grant
        self.endpoint = endpoint
        Self.note(grant)
        redirected = try grant.nativeAnswerOnDemand(at: endpoint)
        guard grant.fields.text("client_id") != nil else { throw PlatformError.clientIDInvalid }
        let (client, secret) = try grant.namedClient()
        guard client.hasNativeAuthentication, client.allowsPublicFlows else { throw PlatformError.nativeDisabled }
        try grant.checkPublicFlow(of: client, secret)
        self.client = client
    }

    /// Notes the point of the flow at which the request came, also for a request that is refused.
    private static func note(_ grant: GrantRequest) {
        guard let token = grant.platform.continuation(of: grant.fields) else { return }
        let flow = grant.platform.nativeFlows.withLock { $0[token.flow] }
        let isRegistered = token.step == .done && flow?.hasSecondFactor == true
        let point = ClientNote.NativePoint(
            kind: token.kind.rawValue, step: isRegistered ? "registered" : token.step.rawValue)
        ClientNote.change { $0.nativePoint = point }
    }

    func answer() throws -> JSONValue {
        if let redirected { return redirected }
        return switch endpoint {
        case .initiate: try initiate()
        case .challenge: try challenge()
        case .introspect: try introspect()
        case .token: try tokens(fields.text("grant_type") ?? "")
        case .signUpStart: try startSignUp()
        case .signUpChallenge: try challengeSignUp()
        case .signUpContinue: try continueSignUp()
        case .resetStart: try startReset()
        case .resetChallenge: try challengeReset()
        case .resetContinue: try continueReset()
        case .resetSubmit: try submitPassword()
        case .resetPoll: try pollReset()
        case .registerIntrospect: try introspectRegistration()
        case .registerChallenge: try challengeRegistration()
        case .registerContinue: try continueRegistration()
        }
    }

    // MARK: Beginning

    /// Begins a flow of the request's person.
    func begun(_ kind: NativeFlow.Kind, username: String) throws -> NativeFlow {
        NativeFlow(
            id: platform.clock.newID(), kind: kind, clientID: client.id, username: username,
            network: grant.exchange.request.peer.network, challengeTypes: try challengeTypes(),
            capabilities: Set((fields.text("capabilities") ?? fields.text("capability") ?? "").words))
    }

    /// Returns the person's name as names are compared.
    func username() throws -> String {
        let name = SignUp.comparable(fields.text("username") ?? "")
        guard SignUp.refusal(username: name, displayName: "-") == nil else { throw PlatformError.usernameInvalid }
        return name
    }

    /// Returns the ways in which the app can ask a person.
    private func challengeTypes() throws -> Set<String> {
        let text = try fields.required("challenge_type")
        try checkChallengeTypes()
        return Set(text.words)
    }

    /// Throws if the app cannot be sent to the browser.
    func checkChallengeTypes() throws {
        guard let names = fields.text("challenge_type")?.words else { return }
        if let unknown = names.first(where: { !["oob", "password", "redirect"].contains($0) }) {
            throw PlatformError.unknownChallenge(unknown)
        }
        guard names.contains("redirect") else { throw PlatformError.noRedirectChallenge }
    }

    // MARK: Continuation

    /// Keeps a new flow, and returns the answer with its first token.
    func answer(beginning flow: NativeFlow) throws -> JSONValue {
        platform.nativeFlows.withLock { [now] in $0.add(flow, now: now) }
        return ["continuation_token": .string(try token(flow))]
    }

    private func token(_ flow: NativeFlow) throws -> String {
        try platform.state.sealer.seal(
            ContinuationToken(
                flow: flow.id, kind: flow.kind, clientID: flow.clientID, username: flow.username, step: flow.step,
                number: flow.number, time: now),
            for: .continuation)
    }

    /// Returns the flow of the request's token.
    ///
    /// - Parameter steps: The steps at which the request may come.
    func flow(_ kinds: NativeFlow.Kind..., at steps: NativeFlow.Step...) throws(PlatformError) -> NativeFlow {
        let text = try fields.required("continuation_token")
        guard
            let token = platform.state.sealer.open(text, for: .continuation, as: ContinuationToken.self),
            token.clientID == client.id, kinds.contains(token.kind), steps.contains(token.step),
            fields.text("username").map({ SignUp.comparable($0) == token.username }) ?? true
        else { throw continuationInvalid }
        guard let flow = platform.nativeFlows.withLock({ $0[token.flow] }),
            now < token.time.addingTimeInterval(TimeInterval(ContinuationToken.lifetime))
        else { throw .continuationExpired }
        guard flow.number == token.number else { throw continuationInvalid }
        return flow
    }

    /// Takes a flow to its next step, and returns the token for that.
    func advance(_ flow: NativeFlow) throws -> String {
        guard let next = platform.nativeFlows.withLock({ [now] in $0.advance(flow, now: now) }) else {
            throw continuationInvalid
        }
        return try token(next)
    }

    // MARK: Codes

    /// Sends a code, and returns the members of the answer.
    ///
    /// - Parameter step: The step at which the code is awaited.
    func send(to contact: VerifiedContact, _ flow: NativeFlow, step: NativeFlow.Step) throws -> [String: JSONValue] {
        var flow = flow
        flow.step = step
        guard let next = platform.sendCode(to: contact, flow) else { throw continuationInvalid }
        return [
            "continuation_token": .string(try token(next)), "challenge_type": "oob", "binding_method": "prompt",
            "challenge_channel": .string(contact.channel.rawValue),
            "code_length": .integer(IdentityPlatform.codeLength), "interval": 300,
        ]
    }

    /// Sends a code, and returns the answer with the address as the app shows it.
    func answer(sendingTo contact: VerifiedContact, _ flow: NativeFlow, step: NativeFlow.Step) throws -> JSONValue {
        var members = try send(to: contact, flow, step: step)
        members["challenge_target_label"] = .string(contact.label)
        return .object(members)
    }

    /// Throws unless the request has the code that was sent. Five wrong tries end the flow.
    func checkCode(_ flow: NativeFlow) throws {
        let text = try fields.required("oob")
        try check(platform.guess(text, codeOf: flow, from: grant.exchange.request.peer), else: .codeWrong)
    }

    /// Throws unless a guess is right.
    func check(_ guess: IdentityPlatform.Guess, else error: PlatformError) throws(PlatformError) {
        switch guess {
        case .right: break
        case .wrong, .last: throw error
        case .tooMany: throw .tooManyTries
        case .over: throw .continuationExpired
        }
    }
}

extension String {
    /// The words between spaces.
    fileprivate var words: [String] { split(separator: " ").map(String.init) }
}
