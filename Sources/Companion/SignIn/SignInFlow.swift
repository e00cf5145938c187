import Foundation
import OpenIDConnect
import SessionStore

/// The authorization-code sign-in: how it begins and how it completes, in one file because the two halves are one
/// argument. What the first half puts into the attempt is all that the second half trusts.
final class SignInFlow: Sendable {
    /// The browser goes to the provider.
    struct Departure: Sendable {
        let location: String
        /// What the cookie must hold.
        let sessionID: SessionID
    }

    /// How a callback ended for the browser.
    enum Outcome: Sendable {
        /// Signed in, now or by the first run of the same callback.
        case signedIn(returnPath: String, sessionID: SessionID)
        /// Signed in by something else than this callback, which is over.
        case signedInBefore(returnPath: String)
        /// On to the provider again, with another user flow.
        case continues(Departure)
        /// Not signed in; the page that started it says why.
        case failed(returnPath: String, Problem)
    }

    /// What the browser came back with.
    private struct Arrival {
        let callback: Callback
        let redirectURI: String
        let cookie: SessionID?
    }

    private struct CallbackKey: Hashable {
        var state: String
        var code: String?
        var redirectURI: String
        var cookie: SessionID?
    }

    private let applications: [String: Application]
    private let publicURL: PublicURL
    private let store: SessionStore
    private let providers: Providers
    private let admission: Admission
    private let journal: SignInJournal
    private let callbacks = SingleFlight<CallbackKey, Outcome>()

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
    }

    // MARK: Begin

    /// Stores an attempt and sends the browser to the provider.
    func begin(_ application: Application, _ options: SignInOptions, cookie: SessionID?) async throws -> Departure {
        let beginning = journal.begin(application, AttemptPurpose.Kind(options.userFlow))
        var options = options
        var session: Session?
        do {
            session = try await self.session(cookie)
            if let session {
                if options.isAutomatic { try journal.countTrip(of: session.key, beginning) }
                options.carryChallenge(of: session.accounts(for: application.id))
            }
            return try await leave(beginning, options, session, cookie: cookie)
        } catch {
            journal.failed(
                beginning, in: session?.key, for: options.authority, AttemptSettings(options, of: application), error)
            throw error
        }
    }

    /// A newcomer has none: they cannot be in a loop, and nothing is known of them.
    private func session(_ cookie: SessionID?) async throws -> Session? {
        guard let cookie else { return nil }
        return try await store.session(cookie)
    }

    private func leave(
        _ beginning: SignInJournal.Beginning, _ options: SignInOptions, _ session: Session?, cookie: SessionID?
    ) async throws -> Departure {
        let application = beginning.application
        try await admission.check(options.authority, application)
        // A kiosk has no way back from a page that does not come.
        if application.page == .kiosk { try await providers.client.requireAnswer(of: options.authority) }
        let metadata = try await providers.directory.metadata(for: options.authority)
        // Whose profile is edited.
        let subject = options.userFlow == .editProfile ? session?.currentAccount(for: application.id) : nil
        if options.userFlow == .editProfile, subject == nil {
            throw Problem(.interactionRequired, "Nobody is signed in. Sign in first, then edit the profile.")
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
        journal.left(beginning, in: begun.session, for: options.authority, settings, location: location)
        return Departure(location: location, sessionID: begun.sessionID)
    }

    /// Stores an attempt and sends the browser to where an administrator agrees for a whole tenant.
    ///
    /// - Parameter tenant: its ID or a domain; nil leaves it to the administrator's own.
    func beginAdminConsent(
        _ application: Application, tenant: String?, returnPath: ReturnPath, cookie: SessionID?
    ) async throws -> Departure {
        if let tenant { try await admission.check(try application.authority(ofTenant: tenant), application) }
        let request: AdminConsentRequest
        do throws(AuthorityError) {
            request = try AdminConsentRequest(authority: application.authority, tenant: tenant)
        } catch {
            throw Problem(.badRequest, "“tenant” cannot be used: \(error.reason)")
        }
        let beginning = journal.begin(application, .adminConsent)
        let scopes = application.registration.scopes
        let purpose = AttemptPurpose(
            .adminConsent, at: application.authority, redirectURI: application.registration.redirectURI,
            mark: beginning.mark)
        let secrets = AuthorizationAttempt(randomBytes: providers.randomBytes)
        let attempt = NewSignInAttempt(application, secrets, purpose, returnPath: returnPath, scopes: scopes)
        let begun = try await store.beginSignIn(attempt, cookie: cookie)
        journal.left(
            beginning, in: begun.session, for: application.authority,
            AttemptSettings(prompt: "admin_consent", scopes: scopes, tenant: tenant), location: nil)
        return Departure(
            location: request.url(registration: application.registration, attempt: secrets), sessionID: begun.sessionID)
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
    func complete(_ callback: Callback, at redirectURI: String, cookie: SessionID?) async throws -> Outcome {
        let key = CallbackKey(state: callback.state, code: callback.code, redirectURI: redirectURI, cookie: cookie)
        let arrival = Arrival(callback: callback, redirectURI: redirectURI, cookie: cookie)
        return try await callbacks.run(key) { try await self.consume(arrival) }
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
                throw Problem(.stateMismatch, "The application of this sign-in is not configured any more.")
            }
            let journey = journal.cameBack(attempt, to: application, at: arrival.redirectURI, since: start)
            return try await finish(attempt, of: application, arrival, journey)
        case .replayed(_, let returnTo, let sessionID):
            return .signedIn(returnPath: returnTo, sessionID: sessionID)
        case .inProgress(let app, let returnTo), .failed(let app, let returnTo), .expired(let app, let returnTo):
            // An old callback, as from the browser's history: a person who is signed in goes to the page.
            let session = try await session(arrival.cookie)
            if session?.currentAccount(for: app) != nil { return .signedInBefore(returnPath: returnTo) }
            // One that failed says once more why.
            if case .failed = consumed, let session, let known = journal.lastFailure(in: session.key, app: app) {
                return .failed(returnPath: returnTo, known)
            }
            let problem = Problem(
                .stateMismatch, "This sign-in is over or took too long. Start again from the page.",
                correlationID: RequestContext.current?.correlationID)
            return .failed(returnPath: returnTo, problem)
        case .otherBrowser, .unknown:
            throw SignInFlow.notOfThisBrowser
        }
    }

    /// Redeems the code and stores what came of it; or reports why that failed.
    private func finish(
        _ attempt: SignInAttempt, of application: Application, _ arrival: Arrival, _ begun: SignInJournal.Return
    ) async throws -> Outcome {
        var journey = begun
        do {
            let purpose = try AttemptPurpose(attempt, application)
            // Another provider's answer, which its code must not be taken from (a mix-up, RFC 9700 §4.4).
            guard purpose.redirectURI == arrival.redirectURI else {
                throw Problem(
                    .issuerMismatch, "The answer came to another address than it was asked for at. Start again.")
            }
            let secrets = AuthorizationAttempt(
                state: arrival.callback.state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier)
            if purpose.kind == .adminConsent {
                _ = try arrival.callback.adminConsentTenant(against: secrets)
                let sessionID = try await store.completeAttempt(attempt)
                journal.succeeded(journey, nil, .adminConsented)
                return .signedIn(returnPath: attempt.returnPath(with: "admin_consent=granted"), sessionID: sessionID)
            }
            let metadata = try await providers.directory.metadata(for: purpose.authority)
            let validated = try arrival.callback.validated(against: secrets, metadata: metadata)
            journal.redeems(&journey, at: metadata.tokenEndpoint)
            let signedIn = try await redeem(validated, attempt, application, purpose, metadata)
            journey.account = store.pseudonym(
                ofAccount: signedIn.homeAccountID, environment: purpose.authority.environment)
            try admission.check(signedIn.idTokenClaims, application)
            try purpose.checkAuthenticationTime(of: signedIn.idTokenClaims, attempt, now: providers.now())
            return try await keep(signedIn, attempt, application, purpose, journey)
        } catch {
            var problem = Problem(any: error)
            if problem.code == .adminConsentRequired { problem.action = adminConsent(application) }
            journal.failed(journey, problem)
            // The person did everything right and nothing could be kept: say so rather than blame the sign-in.
            if let error = error as? StoreError, error.isUnavailable { throw error }
            try await store.failSignIn(attempt)
            journal.personAnswered(journey)
            // "Forgot your password?" is no failure: the page for it comes at once.
            if problem.code == .passwordResetRequested,
                let outcome = await goOn(with: .resetPassword, after: attempt, application, cookie: arrival.cookie)
            {
                return outcome
            }
            return .failed(returnPath: attempt.returnTo, problem)
        }
    }

    private func redeem(
        _ validated: ValidatedCallback, _ attempt: SignInAttempt, _ application: Application,
        _ purpose: AttemptPurpose, _ metadata: ProviderMetadata
    ) async throws -> SignedInTokens {
        var authenticated = try providers.credentials.client(of: application)
        authenticated.registration.redirectURI = purpose.redirectURI
        let directory = providers.directory
        let request = try CodeRequest(
            redeeming: validated, scopes: attempt.requestedScopes, claims: purpose.claims, client: authenticated,
            configured: try await directory.metadata(for: application.authority))
        let client = TokenThrottle.Client(
            tokenEndpoint: metadata.tokenEndpoint, id: authenticated.registration.clientID)
        return try await providers.exchange.run(request.providerRequest, by: client, .code) {
            try await request.tokens(from: $0, directory: directory)
        }
    }

    /// Stores what the sign-in was for. Only then is it reported.
    private func keep(
        _ signedIn: SignedInTokens, _ attempt: SignInAttempt, _ application: Application, _ purpose: AttemptPurpose,
        _ journey: SignInJournal.Return
    ) async throws -> Outcome {
        switch purpose.kind {
        case .signIn, .adminConsent:
            let sessionID = try await store.completeSignIn(
                attempt, account: NewAccount(signedIn, at: purpose.authority),
                tokens: NewTokens(signedIn, requestedScopes: attempt.requestedScopes))
            if application.page == .portal { journal.rememberRecent(journey, account: signedIn.homeAccountID) }
            journal.succeeded(journey, signedIn.tokens, .signedIn)
            return .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        case .editProfile:
            // The account of this flow is another one to the provider; the person must be the same.
            guard attempt.expectedAccountID.map(person) == person(signedIn.homeAccountID) else {
                throw Problem(.otherAccount, "Another person's profile was edited than the one who is signed in here.")
            }
            let sessionID = try await store.completeAttempt(attempt)
            journal.succeeded(journey, signedIn.tokens, .profileEdited)
            return .signedIn(returnPath: attempt.returnPath(with: "profile=edited"), sessionID: sessionID)
        case .resetPassword:
            let sessionID = try await store.completeAttempt(attempt)
            journal.succeeded(journey, signedIn.tokens, nil)
            // The new password has just proved who it is: the sign-in that follows asks for nothing.
            return await goOn(with: .signIn, after: attempt, application, cookie: sessionID)
                ?? .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        }
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
            return .continues(try await begin(application, options, cookie: cookie))
        } catch {
            return .failed(returnPath: attempt.returnTo, Problem(any: error))
        }
    }

    /// The URL for an administrator, who may sit at another machine.
    private func adminConsent(_ application: Application) -> Problem.Action? {
        guard application.kind == .workforce else { return nil }
        return Problem.Action(kind: "admin_consent", url: "\(publicURL.address)/auth/\(application.id)/admin-consent")
    }

    /// B2C's account id without the user flow that it ends in: `{oid}-{policy}.{tenant}` (facts).
    private func person(_ accountID: String) -> String {
        let uid = accountID.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
        return uid.split(separator: "-", maxSplits: 5).prefix(5).joined(separator: "-").lowercased()
    }
}

extension NewSignInAttempt {
    /// What every attempt keeps until its callback.
    fileprivate init(
        _ application: Application, _ secrets: AuthorizationAttempt, _ purpose: AttemptPurpose, returnPath: ReturnPath,
        scopes: [String]
    ) {
        self.init(
            app: application.id, state: secrets.state, nonce: secrets.nonce, codeVerifier: secrets.codeVerifier,
            returnTo: returnPath.text, requestedScopes: scopes, payload: purpose.payload)
    }
}

extension SignInAttempt {
    /// Where the browser goes, with a field that tells the page what was done.
    fileprivate func returnPath(with field: String) -> String {
        returnTo + (returnTo.contains("?") ? "&" : "?") + field
    }
}
