import EventLoop
import Foundation
import HTTPTypes
import HTTPWire
import Logging
import OpenIDConnect
import SessionStore

/// The authorization-code sign-in: how it begins and how it completes, in one file because the two halves are one
/// argument. What the first half puts into the attempt is all that the second half trusts.
final class SignInFlow: Sendable {
    /// How a callback ended for the browser.
    enum Outcome: Sendable {
        /// Signed in, now or by the first run of the same callback.
        case signedIn(returnPath: String, sessionID: SessionID)
        /// Signed in by something else than this callback, which is over.
        case signedInBefore(returnPath: String)
        /// On to the provider again, with another user flow.
        case continues(location: String, sessionID: SessionID)
        /// Not signed in; the page that started it says why.
        case failed(app: String, returnPath: String, problem: Problem)
    }

    /// The step of the timeline that a callback has come to, told when it ends.
    private struct Step {
        var name: String
        var endpoint: String
        var start: ContinuousClock.Instant
    }

    private struct CallbackKey: Hashable {
        var state: String
        var code: String?
        var redirectURI: String
        var cookie: SessionID?
    }

    private let applications: [String: Application]
    private let store: SessionStore
    private let directory: ProviderDirectory
    private let admission: Admission
    private let timeline: Timeline
    private let trips: TripLimit
    private let provider: ProviderClient
    private let credentials: ClientCredentials
    private let exchange: TokenExchange
    private let history: AttemptHistory
    private let metrics: Metrics
    private let audit: AuditLog
    private let recent: RecentSignIns
    private let now: @Sendable () -> Date
    private let publicURL: PublicURL
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let callbacks = SingleFlight<CallbackKey, Outcome>()

    init(
        configuration: CompanionConfiguration, store: SessionStore, directory: ProviderDirectory,
        admission: Admission, timeline: Timeline, trips: TripLimit, provider: ProviderClient,
        credentials: ClientCredentials, exchange: TokenExchange, history: AttemptHistory,
        metrics: Metrics, audit: AuditLog, recent: RecentSignIns, now: @escaping @Sendable () -> Date,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.admission = admission
        self.metrics = metrics
        self.audit = audit
        self.recent = recent
        self.now = now
        self.exchange = exchange
        self.credentials = credentials
        self.history = history
        self.applications = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.id, $0) })
        publicURL = configuration.publicURL
        self.store = store
        self.directory = directory
        self.timeline = timeline
        self.trips = trips
        self.provider = provider
        self.randomBytes = randomBytes
    }

    // MARK: Begin

    /// Stores an attempt and answers where the browser goes.
    ///
    /// - Parameter correlationID: our identifier of the request, for the timeline.
    /// - Returns: the provider's URL, and the session id that the cookie must hold.
    func begin(
        _ application: Application, options: SignInOptions, cookie: SessionID?, correlationID: String
    ) async throws -> (location: String, sessionID: SessionID) {
        let scopes = application.registration.scopes + options.extraScopes
        let number = history.nextID()
        var options = options
        do {
            // A newcomer cannot be in a loop, and nothing was learnt about him before.
            if let cookie, let session = try await store.session(cookie) {
                if options.isAutomatic { try countTrip(of: session, application) }
                options.carryChallenge(of: session.accounts(for: application.id))
            }
            return try await begin(
                application, options: options, number: number, scopes: scopes, cookie: cookie,
                correlationID: correlationID)
        } catch {
            let problem = Problem(any: error, correlationID: correlationID)
            metrics.signInEnded(application.id, AttemptPurpose.Kind(options.userFlow), problem.code)
            // What a limit refused is no attempt, and leaves nothing behind.
            if problem.code != .signInLoop, let cookie, let session = try? await store.session(cookie) {
                note(number, options, scopes: scopes, application, session.key)
                history.fail(number, session: session.key, problem)
            }
            throw error
        }
    }

    /// Asked before anything is fetched or written.
    private func countTrip(of session: Session, _ application: Application) throws(Problem) {
        guard let seconds = trips.begin(session: session.key.value, app: application.id) else { return }
        throw Problem(
            .signInLoop,
            "This browser went to the identity provider \(TripLimit.maxTrips) times within a minute without getting anywhere, "
                + "so the companion stopped. Usually the application's permissions or the tenant's policies ask for something "
                + "that signing in does not give. Wait \(seconds) seconds, or tell the operator.",
            retryAfter: seconds)
    }

    private func note(
        _ number: Int, _ options: SignInOptions, scopes: [String], _ application: Application, _ session: SessionKey
    ) {
        history.begin(
            number, session: session, app: application.id, authority: options.authority.description,
            settings: AttemptSettings(options, scopes: scopes))
    }

    private func begin(
        _ application: Application, options: SignInOptions, number: Int, scopes: [String], cookie: SessionID?,
        correlationID: String
    ) async throws -> (location: String, sessionID: SessionID) {
        let start = ContinuousClock.now
        try await admission.check(options.authority, application)
        // A kiosk has no way back from a page that does not come.
        if application.page == .kiosk { try await provider.requireAnswer(of: options.authority) }
        let metadata = try await directory.metadata(for: options.authority)
        let subject = try await subject(of: options.userFlow, application, cookie: cookie)
        let (secrets, begun) = try await beginAttempt(
            AttemptPurpose(
                options, redirectURI: application.registration.redirectURI, mark: history.mark(number)), application,
            returnPath: options.returnPath,
            prompt: options.prompt, scopes: scopes, subject: subject, cookie: cookie)
        var request = AuthorizationRequest(
            prompt: options.prompt, loginHint: options.loginHint, domainHint: options.domainHint, scopes: scopes,
            claims: options.claims)
        request.maxAge = options.maxAge
        request.extraParameters = options.extraParameters
        let location = request.url(metadata: metadata, registration: application.registration, attempt: secrets)
        note(number, options, scopes: scopes, application, begun.session)
        metrics.signInStarted(application.id, AttemptPurpose.Kind(options.userFlow))
        timeline.record(
            session: begun.session.value, app: application.id, step: "authorize", at: location, attempt: number,
            since: start, correlationID: correlationID)
        return (location, begun.sessionID)
    }

    /// Stores an attempt and answers where an administrator agrees for a whole tenant.
    ///
    /// - Parameter tenant: its ID or a domain; nil leaves it to the administrator's own.
    func beginAdminConsent(
        _ application: Application, tenant: String?, returnPath: ReturnPath, cookie: SessionID?
    ) async throws -> (location: String, sessionID: SessionID) {
        if let tenant { try await admission.check(try application.authority(ofTenant: tenant), application) }
        let request: AdminConsentRequest
        do throws(AuthorityError) {
            request = try AdminConsentRequest(authority: application.authority, tenant: tenant)
        } catch {
            throw Problem(.badRequest, "“tenant” cannot be used: \(error.reason)")
        }
        let number = history.nextID()
        let (secrets, begun) = try await beginAttempt(
            AttemptPurpose(
                .adminConsent, at: application.authority, redirectURI: application.registration.redirectURI,
                mark: history.mark(number)), application, returnPath: returnPath, prompt: nil,
            scopes: application.registration.scopes, subject: nil, cookie: cookie)
        metrics.signInStarted(application.id, .adminConsent)
        history.begin(
            number, session: begun.session, app: application.id, authority: application.authority.description,
            settings: AttemptSettings(
                prompt: "admin_consent", scopes: application.registration.scopes, tenant: tenant))
        return (request.url(registration: application.registration, attempt: secrets), begun.sessionID)
    }

    private func beginAttempt(
        _ purpose: AttemptPurpose, _ application: Application, returnPath: ReturnPath, prompt: Prompt?,
        scopes: [String], subject: Account?, cookie: SessionID?
    ) async throws -> (AuthorizationAttempt, BegunSignIn) {
        let secrets = AuthorizationAttempt(randomBytes: randomBytes)
        let attempt = NewSignInAttempt(
            app: application.id, state: secrets.state, nonce: secrets.nonce, codeVerifier: secrets.codeVerifier,
            returnTo: returnPath.text, prompt: prompt?.rawValue, requestedScopes: scopes,
            expectedAccountID: subject?.id, attributes: purpose.attributes)
        return (secrets, try await store.beginSignIn(attempt, cookie: cookie))
    }

    /// Whose profile is edited: whoever is signed in.
    private func subject(
        of flow: Application.UserFlow, _ application: Application, cookie: SessionID?
    ) async throws -> Account? {
        guard flow == .editProfile else { return nil }
        guard let cookie, let account = try await store.session(cookie)?.currentAccount(for: application.id) else {
            throw Problem(.interactionRequired, "Nobody is signed in. Sign in first, then edit the profile.")
        }
        return account
    }

    // MARK: Complete

    /// The answer belongs to no sign-in, or to another browser's.
    static var notOfThisBrowser: Problem {
        Problem(
            .stateMismatch,
            "The answer of the identity provider does not belong to a sign-in of this browser. Start again from the page, "
                + "and allow cookies for this site.")
    }

    /// Takes the provider's answer. Two runs of the same callback (a reload while the first is under way) share one.
    ///
    /// - Parameter redirectURI: where it came to.
    func complete(
        _ callback: Callback, at redirectURI: String, cookie: SessionID?, correlationID: String
    ) async throws -> Outcome {
        let key = CallbackKey(state: callback.state, code: callback.code, redirectURI: redirectURI, cookie: cookie)
        return try await callbacks.run(key) {
            try await self.redeem(callback, at: redirectURI, cookie: cookie, correlationID: correlationID)
        }
    }

    private func redeem(
        _ callback: Callback, at redirectURI: String, cookie: SessionID?, correlationID: String
    ) async throws -> Outcome {
        let start = ContinuousClock.now
        let attempt: SignInAttempt
        let consumed = try await store.consumeAttempt(state: callback.state, code: callback.code, cookie: cookie)
        switch consumed {
        case .attempt(let consumed):
            attempt = consumed
        case .replayed(_, let returnTo, let sessionID):
            return .signedIn(returnPath: returnTo, sessionID: sessionID)
        case .inProgress(let app, let returnTo), .failed(let app, let returnTo), .expired(let app, let returnTo):
            // An old callback, as from the browser's history: whoever is signed in goes to the page.
            let session: Session? = if let cookie { try await store.session(cookie) } else { nil }
            if session?.currentAccount(for: app) != nil { return .signedInBefore(returnPath: returnTo) }
            // One that failed says once more why.
            if case .failed = consumed, let session, let known = history.lastFailure(session: session.key, app: app) {
                return .failed(app: app, returnPath: returnTo, problem: known)
            }
            return .failed(
                app: app, returnPath: returnTo,
                problem: Problem(
                    .stateMismatch, "This sign-in is over or took too long. Start again from the page.",
                    correlationID: correlationID))
        case .otherBrowser, .unknown:
            throw SignInFlow.notOfThisBrowser
        }
        guard let application = applications[attempt.app] else {
            try await store.failSignIn(attempt)
            throw Problem(.stateMismatch, "The application of this sign-in is not configured any more.")
        }
        let flow = AttemptPurpose.kind(of: attempt)
        var who: Pseudonym?
        var step = Step(name: "callback", endpoint: redirectURI, start: start)
        do {
            let outcome = try await finish(
                attempt, application, callback: callback, cookie: cookie, at: &step, correlationID: correlationID,
                who: &who)
            metrics.signInEnded(application.id, flow)
            return outcome
        } catch {
            var problem = Problem(any: error, correlationID: correlationID)
            if problem.code == .adminConsentRequired { problem.action = adminConsent(application) }
            metrics.signInEnded(application.id, flow, problem.code)
            audit.write(
                .refused, application: application.id, outcome: problem.code.rawValue, account: who,
                session: attempt.session)
            note(step, of: attempt, outcome: problem.code.rawValue, correlationID: problem.correlationID)
            history.fail(
                history.id(of: AttemptPurpose.mark(of: attempt)), session: attempt.session, attempt: attempt,
                authority: application.authority, problem)
            // The person did everything right and nothing could be kept: say so rather than blame the sign-in.
            if let error = error as? StoreError, error.isUnavailable { throw error }
            try await store.failSignIn(attempt)
            // Somebody answered at the provider's page: no loop.
            trips.reset(session: attempt.session.value, app: attempt.app)
            // "Forgot your password?" is no failure: the page for it comes at once.
            if problem.code == .passwordResetRequested,
                let outcome = try await next(.resetPassword, after: attempt, application, cookie: cookie, correlationID)
            {
                return outcome
            }
            return .failed(app: attempt.app, returnPath: attempt.returnTo, problem: problem)
        }
    }

    private func note(_ step: Step, of attempt: SignInAttempt, outcome: String = "ok", correlationID: String?) {
        timeline.record(
            session: attempt.session.value, app: attempt.app, step: step.name, outcome: outcome, at: step.endpoint,
            attempt: history.id(of: AttemptPurpose.mark(of: attempt)), since: step.start, correlationID: correlationID)
    }

    /// The URL for an administrator, who may sit at another machine.
    private func adminConsent(_ application: Application) -> Problem.Action? {
        guard application.kind == .workforce else { return nil }
        return Problem.Action(kind: "admin_consent", url: "\(publicURL.address)/auth/\(application.id)/admin-consent")
    }

    private func next(
        _ flow: Application.UserFlow, after attempt: SignInAttempt, _ application: Application, cookie: SessionID?,
        _ correlationID: String
    ) async throws -> Outcome? {
        guard let authority = application.authority(of: flow),
            let returnPath = ReturnPath(attempt.returnTo, below: publicURL.prefix)
        else { return nil }
        let (location, sessionID) = try await begin(
            application, options: SignInOptions(continuing: flow, at: authority, returnPath: returnPath),
            cookie: cookie, correlationID: correlationID)
        return .continues(location: location, sessionID: sessionID)
    }

    private func finish(
        _ attempt: SignInAttempt, _ application: Application, callback: Callback, cookie: SessionID?,
        at step: inout Step, correlationID: String, who: inout Pseudonym?
    ) async throws -> Outcome {
        let purpose = try AttemptPurpose(attempt, application)
        // Another provider's answer, which its code must not be taken from (a mix-up, RFC 9700 §4.4).
        guard purpose.redirectURI == step.endpoint else {
            throw Problem(.issuerMismatch, "The answer came to another address than it was asked for at. Start again.")
        }
        let secrets = AuthorizationAttempt(
            state: callback.state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier)
        if purpose.kind == .adminConsent {
            _ = try callback.adminConsentTenant(against: secrets)
            let sessionID = try await store.completeAttempt(attempt)
            history.succeed(history.id(of: purpose.mark), session: attempt.session, granted: [], declined: [])
            audit.write(.adminConsented, application: application.id, session: attempt.session)
            return .signedIn(
                returnPath: attempt.returnTo + querySeparator(attempt) + "admin_consent=granted", sessionID: sessionID)
        }
        let signedIn = try await redeem(
            callback, secrets, attempt, application, for: purpose, at: &step, correlationID: correlationID)
        who = store.pseudonym(ofAccount: signedIn.homeAccountID, environment: purpose.authority.environment)
        try admission.check(signedIn.idTokenClaims, application)
        try checkAuthenticationTime(signedIn.idTokenClaims, attempt, purpose)
        // Noted when the store has committed, and not before: until then it can fail.
        func succeeded(_ step: Step) {
            note(step, of: attempt, correlationID: correlationID)
            history.succeed(
                history.id(of: purpose.mark), session: attempt.session, granted: signedIn.tokens.scopes,
                declined: signedIn.tokens.declinedScopes)
        }
        switch purpose.kind {
        case .signIn, .adminConsent:
            let sessionID = try await store.completeSignIn(
                attempt, account: NewAccount(signedIn, at: purpose.authority),
                tokens: NewTokens(signedIn, requestedScopes: attempt.requestedScopes))
            succeeded(step)
            if application.page == .portal { recent.note(attempt, account: signedIn.homeAccountID) }
            audit.write(.signedIn, application: application.id, account: who, session: attempt.session)
            return .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        case .editProfile:
            // The account of this flow is another one to the provider; the person must be the same.
            guard attempt.expectedAccountID.map(person) == person(signedIn.homeAccountID) else {
                throw Problem(.otherAccount, "Another person's profile was edited than the one who is signed in here.")
            }
            let sessionID = try await store.completeAttempt(attempt)
            succeeded(step)
            audit.write(.profileEdited, application: application.id, account: who, session: attempt.session)
            return .signedIn(
                returnPath: attempt.returnTo + querySeparator(attempt) + "profile=edited", sessionID: sessionID)
        case .resetPassword:
            let sessionID = try await store.completeAttempt(attempt)
            succeeded(step)
            // The new password has just proved who it is: the sign-in that follows asks for nothing.
            return try await next(.signIn, after: attempt, application, cookie: sessionID, correlationID)
                ?? .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        }
    }

    /// Whether the provider did as `max_age` and `prompt=login` asked (OpenID Connect Core section 3.1.3.7, rule 13). Where
    /// it does not say when the person proved who they are, it has to be believed.
    private func checkAuthenticationTime(
        _ claims: IDTokenClaims, _ attempt: SignInAttempt, _ purpose: AttemptPurpose
    ) throws(Problem) {
        guard let maxAge = purpose.maxAge, let time = claims.authenticationTime else { return }
        let age = attempt.prompt == Prompt.login.rawValue ? 0 : maxAge
        let now = now()
        let earliest = min(attempt.begunAt.addingTimeInterval(-TimeInterval(age)), now)
        guard time.isWithin(earliest...now) else {
            throw Problem(
                .invalidIDToken,
                "The identity provider was asked for a fresh sign-in, and it took an older one. Tell the operator.",
                reason: "auth_time is older than max_age and prompt allow")
        }
    }

    private func querySeparator(_ attempt: SignInAttempt) -> String { attempt.returnTo.contains("?") ? "&" : "?" }

    /// B2C's account id without the user flow that it ends in: `{oid}-{policy}.{tenant}` (facts).
    private func person(_ accountID: String) -> String {
        let uid = accountID.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
        return uid.split(separator: "-", maxSplits: 5).prefix(5).joined(separator: "-").lowercased()
    }

    private func redeem(
        _ callback: Callback, _ secrets: AuthorizationAttempt, _ attempt: SignInAttempt, _ application: Application,
        for purpose: AttemptPurpose, at step: inout Step, correlationID: String
    ) async throws -> SignedInTokens {
        let metadata = try await directory.metadata(for: purpose.authority)
        let validated = try callback.validated(against: secrets, metadata: metadata)
        note(step, of: attempt, correlationID: correlationID)

        step = Step(name: "token", endpoint: metadata.tokenEndpoint.description, start: .now)
        var registration = try credentials.registration(of: application)
        registration.redirectURI = purpose.redirectURI
        let request = try CodeRequest(
            redeeming: validated, scopes: attempt.requestedScopes, claims: purpose.claims, registration: registration,
            configured: try await directory.metadata(for: application.authority))
        return try await exchange.run(
            request.providerRequest, at: metadata, clientID: registration.clientID, .code
        ) { try await request.tokens(from: $0, directory: directory) }
    }
}
