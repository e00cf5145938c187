import OpenIDConnect
import SessionStore

/// The authorization-code sign-in: how it begins and how it completes, in one file because the two halves are one
/// argument. What the first half puts into the attempt is all that the second half trusts.
final class SignInFlow: Sendable {
    /// What the browser came back with. Two equal ones are one callback, loaded twice.
    private struct Arrival: Hashable {
        let callback: Callback
        let redirectURI: String
        let cookie: SessionID?
    }

    /// An attempt that was taken, on the way to its end.
    private struct Completion {
        let attempt: SignInAttempt
        let application: Application
        let arrival: Arrival
        var journey: SignInJournal.Return
    }

    private let applications: [String: Application]
    private let publicURL: PublicURL
    private let store: SessionStore
    private let providers: Providers
    private let admission: Admission
    private let journal: SignInJournal
    private let callbacks = SingleFlight<Arrival, Outcome>()
    let adminConsent: AdminConsent

    init(
        configuration: CompanionConfiguration, store: SessionStore, providers: Providers, admission: Admission,
        journal: SignInJournal
    ) {
        applications = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.id, $0) })
        publicURL = configuration.publicURL
        self.store = store
        self.providers = providers
        self.admission = admission
        self.journal = journal
        adminConsent = AdminConsent(
            publicURL: publicURL, store: store, providers: providers, admission: admission, journal: journal)
    }

    // MARK: Begin

    /// Stores an attempt and sends the browser to the provider.
    ///
    /// - Parameter found: the session that the cookie names. A newcomer has none: they cannot be in a loop, and nothing is
    ///   known of them.
    func begin(
        _ application: Application, _ options: SignInOptions, _ found: LookedUpSession, cookie: SessionID?
    ) async throws -> Departure {
        let beginning = journal.begin(application, AttemptPurpose.Kind(options.userFlow))
        var options = options
        var session: Session?
        do {
            session = try found.stored()
            if let session {
                if options.isAutomatic { try await journal.countTrip(of: session.key, beginning) }
                options.carryChallenge(of: session.accounts(for: application.id))
            }
            return try await leave(beginning, options, session, cookie: cookie)
        } catch {
            await journal.failed(
                beginning, in: session?.key, for: options.authority, AttemptSettings(options, of: application), error)
            throw error
        }
    }

    /// The session that a cookie names, after what a callback has done to it.
    private func lookUp(_ cookie: SessionID?) async -> LookedUpSession {
        guard let cookie else { return .absent }
        do throws(StoreError) {
            return try await store.session(cookie).map { .found($0, SessionAnswers()) } ?? .absent
        } catch {
            return .unknown(error, nil)
        }
    }

    private func leave(
        _ beginning: SignInJournal.Beginning, _ options: SignInOptions, _ session: Session?, cookie: SessionID?
    ) async throws -> Departure {
        let (application, start) = (beginning.application, ContinuousClock.now)
        try await admission.check(options.authority, application)
        let metadata = try await providers.directory.metadata(for: options.authority)
        // There is no way back from the browser's own page about one that does not come.
        try await providers.client.requireAnswer(of: options.authority, since: start)
        let subject = options.userFlow == .editProfile ? session?.currentAccount(for: application.id) : nil
        if options.userFlow == .editProfile, subject == nil {
            throw Problem(.interactionRequired, "You are not signed in. Sign in first, then edit the profile.")
        }
        let settings = AttemptSettings(options, of: application)
        let purpose = AttemptPurpose(
            options, redirectURI: application.registration.redirectURI, mark: beginning.mark)
        let secrets = AuthorizationAttempt(randomBytes: providers.randomBytes)
        var attempt = NewSignInAttempt(
            application, secrets, purpose, returnPath: options.returnPath, scopes: settings.scopes)
        attempt.prompt = options.prompt?.rawValue
        attempt.expectedAccountID = subject?.id
        let begun = try await store.beginSignIn(attempt, cookie: cookie)
        let location = AuthorizationRequest(options, scopes: settings.scopes).url(
            metadata: metadata, registration: application.registration, attempt: secrets)
        await journal.left(beginning, in: begun.session, for: options.authority, settings, location: location)
        return Departure(location: location, sessionID: begun.sessionID)
    }

    // MARK: Complete

    /// Takes the provider's answer. Two runs of the same callback (a reload while the first is under way) share one.
    ///
    /// - Parameter redirectURI: where it came to.
    func complete(_ callback: Callback, at redirectURI: String, cookie: SessionID?) async throws -> Outcome {
        let arrival = Arrival(callback: callback, redirectURI: redirectURI, cookie: cookie)
        return try await callbacks.run(arrival) { try await self.consume(arrival) }
    }

    /// Takes the attempt that the answer belongs to, which can be done once, and goes on with it.
    private func consume(_ arrival: Arrival) async throws -> Outcome {
        let start = ContinuousClock.now
        let consumed = try await store.consumeAttempt(
            state: arrival.callback.state, code: arrival.callback.code, cookie: arrival.cookie)
        switch consumed {
        case .attempt(let attempt):
            guard let application = applications[attempt.app] else {
                try await store.failSignIn(attempt)
                throw Problem(.stateMismatch, "The application of this sign-in is no longer configured.")
            }
            let journey = journal.cameBack(attempt, to: application, at: arrival.redirectURI, since: start)
            return try await finish(
                Completion(attempt: attempt, application: application, arrival: arrival, journey: journey))
        case .replayed(_, let returnTo, let sessionID):
            return .signedIn(returnPath: returnTo, sessionID: sessionID)
        case .inProgress(let app, let returnTo), .failed(let app, let returnTo), .expired(let app, let returnTo):
            // An old callback, as from the browser's history: a person who is signed in goes to the page.
            let session = try await lookUp(arrival.cookie).get()
            if session?.currentAccount(for: app) != nil { return .signedInBefore(returnPath: returnTo) }
            // One that failed says once more why.
            if case .failed = consumed, let session,
                let known = try await journal.lastFailure(in: session.key, app: app)
            {
                return .failed(returnPath: returnTo, known)
            }
            return .failed(returnPath: returnTo, SignInFlow.isOver(RequestContext.current?.correlationID))
        case .otherBrowser, .unknown:
            throw SignInFlow.notOfThisBrowser
        }
    }

    /// Goes through with a taken attempt; or reports why that is not possible.
    private func finish(_ taken: Completion) async throws -> Outcome {
        var completion = taken
        do {
            return try await conclude(&completion)
        } catch {
            return try await fail(completion, error)
        }
    }

    /// Redeems the code, checks who signed in, and stores what came of it.
    private func conclude(_ completion: inout Completion) async throws -> Outcome {
        let (attempt, application, arrival) = (completion.attempt, completion.application, completion.arrival)
        let purpose = try AttemptPurpose(attempt, application)
        // Another provider's answer, which its code must not be taken from (a mix-up, RFC 9700 §4.4).
        guard purpose.redirectURI == arrival.redirectURI else {
            throw Problem(.issuerMismatch, "The response came to the wrong address. Start again.")
        }
        let secrets = AuthorizationAttempt(
            state: arrival.callback.state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier)
        guard let flow = purpose.kind.userFlow else {
            return try await adminConsent.complete(attempt, arrival.callback, secrets, completion.journey)
        }
        let metadata = try await providers.directory.metadata(for: purpose.authority)
        let validated = try arrival.callback.validated(against: secrets, metadata: metadata)
        journal.redeems(&completion.journey, at: metadata.tokenEndpoint)
        let signedIn = try await redeem(validated, purpose, at: metadata.tokenEndpoint, completion)
        completion.journey.account = store.pseudonym(
            ofAccount: signedIn.homeAccountID, environment: purpose.authority.environment)
        try admission.check(signedIn.idTokenClaims, application)
        try purpose.checkAuthenticationTime(of: signedIn.idTokenClaims, attempt, now: providers.clocks.wall())
        return try await keep(signedIn, of: flow, at: metadata, completion)
    }

    private func redeem(
        _ validated: ValidatedCallback, _ purpose: AttemptPurpose, at tokenEndpoint: Endpoint, _ completion: Completion
    ) async throws -> SignedInTokens {
        var authenticated = try providers.credentials.client(of: completion.application)
        authenticated.registration.redirectURI = purpose.redirectURI
        let directory = providers.directory
        let request = try CodeRequest(
            redeeming: validated, scopes: completion.attempt.requestedScopes, claims: purpose.claims,
            client: authenticated, configured: try await directory.metadata(for: completion.application.authority))
        let client = TokenThrottle.Client(tokenEndpoint: tokenEndpoint, id: authenticated.registration.clientID)
        return try await providers.exchange.run(
            request.providerRequest, by: client, .code(session: completion.attempt.session)
        ) {
            try await request.tokens(from: $0, directory: directory)
        }
    }

    /// What UserInfo says of the person, where the ID token has no name for them. Nobody is kept out because it fails.
    private func userInfo(_ signedIn: SignedInTokens, at metadata: ProviderMetadata) async -> UserInfo? {
        guard metadata.authority.kind == .oidc, signedIn.idTokenClaims.username == nil,
            let endpoint = metadata.userInfoEndpoint
        else { return nil }
        let request = UserInfo.request(to: endpoint, accessToken: signedIn.tokens.accessToken)
        let answer = try? await providers.client.send(request, timeout: ProviderClient.patience)
        return answer.flatMap { UserInfo($0, subject: signedIn.idTokenClaims.subject) }
    }

    /// Stores what the sign-in was for. Only then is it reported.
    private func keep(
        _ signedIn: SignedInTokens, of flow: Application.UserFlow, at metadata: ProviderMetadata,
        _ completion: Completion
    ) async throws -> Outcome {
        let (attempt, application, journey) = (completion.attempt, completion.application, completion.journey)
        switch flow {
        case .signIn:
            let person = await userInfo(signedIn, at: metadata)
            let sessionID = try await store.completeSignIn(
                attempt, account: NewAccount(signedIn, person, at: metadata.authority),
                tokens: NewTokens(signedIn, requestedScopes: attempt.requestedScopes))
            if application.page == .portal { journal.rememberRecent(journey, account: signedIn.homeAccountID) }
            await journal.succeeded(journey, of: signedIn.homeAccountID, signedIn.tokens, .signedIn)
            return .signedIn(returnPath: attempt.returnTo, sessionID: sessionID, hasNewAccount: true)
        case .editProfile:
            try attempt.checkPerson(is: signedIn.homeAccountID)
            let sessionID = try await store.completeAttempt(attempt)
            await journal.succeeded(journey, of: attempt.expectedAccountID, signedIn.tokens, .profileEdited)
            return .signedIn(returnPath: attempt.returnPath(with: "profile=edited"), sessionID: sessionID)
        case .resetPassword:
            let sessionID = try await store.completeAttempt(attempt)
            await journal.succeeded(journey, signedIn.tokens, nil)
            // The new password has just proved who it is: the sign-in that follows asks for nothing.
            return await goOn(with: .signIn, after: attempt, application, cookie: sessionID)
                ?? .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        }
    }

    /// Reports why an attempt failed, and ends it.
    ///
    /// - Throws: the error itself where nothing could be kept: the person did everything right.
    private func fail(_ completion: Completion, _ error: any Error) async throws -> Outcome {
        let (attempt, application) = (completion.attempt, completion.application)
        var problem = Problem(any: error)
        if problem.code == .adminConsentRequired { problem.action = adminConsent.invitation(to: application) }
        await journal.failed(completion.journey, problem)
        if let error = error as? StoreError, error.isUnavailable { throw error }
        try await store.failSignIn(attempt)
        await journal.personAnswered(completion.journey)
        // "Forgot your password?" is no failure: the page for it comes at once.
        if problem.code == .passwordResetRequested,
            let outcome = await goOn(
                with: .resetPassword, after: attempt, application, cookie: completion.arrival.cookie)
        {
            return outcome
        }
        return .failed(returnPath: attempt.returnTo, problem)
    }

    /// Begins the user flow that follows by itself; nil when there is none.
    private func goOn(
        with flow: Application.UserFlow, after attempt: SignInAttempt, _ application: Application, cookie: SessionID?
    ) async -> Outcome? {
        guard let authority = application.authority(of: flow),
            let returnPath = ReturnPath(attempt.returnTo, below: publicURL.prefix)
        else { return nil }
        do {
            let options = SignInOptions(continuing: flow, at: authority, returnPath: returnPath)
            return .continues(try await begin(application, options, await lookUp(cookie), cookie: cookie))
        } catch {
            return .failed(returnPath: attempt.returnTo, Problem(any: error))
        }
    }
}
