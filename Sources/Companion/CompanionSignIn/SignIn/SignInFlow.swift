package import CompanionCore
import Expiring
import Foundation
package import OpenIDConnect
package import SessionStore
import Synchronization

/// The authorization-code sign-in, from its start to its completion. Both halves are in one file because they belong
/// together: the second half trusts only what the first half put into the attempt.
package final class SignInFlow: Sendable {
    /// The browser's return. Two equal arrivals are the same callback, loaded twice.
    private struct Arrival: Hashable {
        let callback: Callback
        let redirectURI: String
        let cookie: SessionID?
    }

    /// An attempt that has been consumed but not yet completed.
    private struct Completion {
        let attempt: SignInAttempt
        /// Nil if the application's configuration has changed since.
        let purpose: AttemptPurpose?
        /// The ID of the session that was created for the attempt.
        let newSessionID: SessionID?
        let application: Application
        let arrival: Arrival
        /// The browser's mark.
        let mark: [UInt8]
        let mayPush: PushPermission
        var journey: SignInJournal.Return
    }

    /// One time at which a person gave the password to the provider.
    private struct Authentication: Hashable {
        let issuer, subject: String
        let time: AuthenticationTime
    }

    /// For so long, in seconds, an attempt may bring an authentication once more: as long as it lives, and the tolerance for
    /// clocks on both sides.
    private static let toleratedAge = TimeInterval(SessionStore.Configuration.attemptLifetime.components.seconds) + 600

    private let applications: [String: Application]
    private let publicURL: PublicURL
    private let store: SessionStore
    private let providers: Providers
    private let admission: Admission
    private let journal: SignInJournal
    private let groupLookup: GroupLookup
    private let consents: AuthorityMemory
    private let addresses: AuthorizationAddresses
    private let callbacks = SingleFlight<Arrival, Outcome>()
    /// On a shared device, sign-ins that began before the server's start are not accepted.
    private let earliestBeginning: Date
    private let isShared: Bool
    private let showsSpentValues: Bool
    /// The authentications with which people have signed in lately, at this server.
    private let authentications = Mutex(ExpiringMap<Authentication, Bool>(maxCount: 10_000))
    package let adminConsent: AdminConsent

    package init(
        configuration: CompanionConfiguration, store: SessionStore, providers: Providers, admission: Admission,
        journal: SignInJournal
    ) {
        applications = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.id, $0) })
        publicURL = configuration.publicURL
        self.store = store
        self.providers = providers
        self.admission = admission
        self.journal = journal
        groupLookup = GroupLookup(provider: providers.client)
        consents = AuthorityMemory(seconds: 24 * 3600, now: providers.clocks.steady)
        addresses = AuthorizationAddresses(
            providers: providers, consents: consents,
            failing: AuthorityMemory(seconds: 10, now: providers.clocks.steady))
        isShared = configuration.deviceMode == .shared
        showsSpentValues = configuration.showsSpentValues
        earliestBeginning = isShared ? store.currentTime : .distantPast
        adminConsent = AdminConsent(
            publicURL: publicURL, store: store, providers: providers, admission: admission, journal: journal)
    }

    // MARK: Begin

    /// Starts a sign-in: returns the address at the provider, and the attempt for the browser's cookie.
    package func begin(
        _ application: Application, _ options: SignInOptions, _ browser: Browser, mayPush: PushPermission
    ) async throws -> Departure {
        let beginning = journal.begin(application, SignInKind(options.userFlow))
        var options = options
        // A browser without a session cannot be in a loop, and has no accounts.
        let session = browser.session
        do {
            if let session {
                if options.isAutomatic { try await journal.countTrip(of: session.key, beginning) }
                options.carryChallenge(of: session.accounts(for: application.id))
            }
            return try await leave(beginning, options, browser, mayPush)
        } catch {
            await journal.failed(
                beginning, in: session?.key, for: options.authority, AttemptSettings(options, of: application), error)
            throw error
        }
    }

    private func leave(
        _ beginning: SignInJournal.Beginning, _ options: SignInOptions, _ browser: Browser,
        _ mayPush: PushPermission
    ) async throws -> Departure {
        let (application, start) = (beginning.application, ContinuousClock.now)
        try await admission.check(options.authority, application, requester: browser.requester)
        let metadata = try await providers.directory.metadata(for: options.authority, requester: browser.requester)
        // Make sure that the provider responds: the browser's own error page would offer no way back.
        try await providers.client.requireAnswer(of: options.authority, since: start)
        var options = options
        if keepsSessions(metadata) { KioskRules.apply(to: &options) }
        let subject = options.userFlow == .editProfile ? browser.session?.currentAccount(for: application.id) : nil
        if options.userFlow == .editProfile, subject == nil {
            throw Problem(.interactionRequired, "You are not signed in. Sign in first, then edit the profile.")
        }
        let settings = AttemptSettings(options, of: application)
        let secrets = AuthorizationAttempt(state: store.newState(), randomBytes: providers.randomBytes)
        var request = AuthorizationRequest(options, scopes: settings.scopes)
        func mayLackConsent() -> Bool {
            request.mayLackConsent(metadata: metadata, registration: application.registration)
        }
        let isRepeated = options.asksForConsent && mayLackConsent()
        request.asksForConsent = isRepeated || consents.includes(options.authority) && mayLackConsent()
        let location = try await addresses.address(for: &request, at: metadata, application, secrets, mayPush)
        var purpose = AttemptPurpose(
            beginning.kind, at: options.authority, redirectURI: application.registration.redirectURI,
            claims: options.claims, mark: beginning.mark, maxAge: options.maxAge, settings: settings,
            departedTo: browser.origin == nil ? Timeline.withoutQuery(location) : nil)
        purpose.loginHint = options.loginHint
        purpose.consent = isRepeated ? .repeated : mayLackConsent() ? .missing : .settled
        var attempt = NewSignInAttempt(
            application, secrets, purpose, returnPath: options.returnPath, scopes: settings.scopes)
        attempt.prompt = options.prompt?.rawValue
        attempt.expectedAccountID = subject?.id
        let departure = try await Departure(attempt, to: location, of: browser, store)
        await journal.left(beginning, in: browser.origin?.key, for: options.authority, settings, location: location)
        return departure
    }

    /// Whether the session at the provider outlives the sign-out on this device of several people.
    private func keepsSessions(_ metadata: ProviderMetadata) -> Bool {
        isShared && metadata.endSessionEndpoint == nil
    }

    // MARK: Complete

    /// Handles the provider's response. Concurrent runs of the same callback, such as a reload, share one outcome.
    ///
    /// - Parameters:
    ///   - begun: the sign-in from the browser's cookie.
    ///   - redirectURI: the redirect URI at which the response arrived.
    ///   - cookie: the session's ID from the browser's cookie.
    ///   - mark: the browser's mark.
    ///   - mayPush: permits a request in advance, if another sign-in follows.
    package func complete(
        _ callback: Callback, _ begun: BegunSignIn, at redirectURI: String, cookie: SessionID?, mark: [UInt8],
        mayPush: @escaping PushPermission
    ) async throws -> Outcome {
        guard begun.begunAt >= earliestBeginning else { throw SignInFlow.notOfThisBrowser }
        let arrival = Arrival(callback: callback, redirectURI: redirectURI, cookie: cookie)
        return try await callbacks.run(arrival) { try await self.consume(begun, arrival, mark: mark, mayPush) }
    }

    /// Consumes the attempt of the response, which is possible only once, and continues with it.
    private func consume(
        _ begun: BegunSignIn, _ arrival: Arrival, mark: [UInt8], _ mayPush: @escaping PushPermission
    ) async throws -> Outcome {
        let start = ContinuousClock.now
        let consumed = try await consumed(begun, arrival)
        switch consumed {
        case .attempt(let attempt, let newSessionID):
            guard let application = applications[attempt.app] else {
                try await store.failSignIn(attempt)
                throw Problem(.stateMismatch, "The application of this sign-in is no longer configured.")
            }
            let stored = StoredPurpose(attempt)
            let journey = journal.cameBack(attempt, stored, to: application, at: arrival.redirectURI, since: start)
            return try await finish(
                Completion(
                    attempt: attempt, purpose: stored.flatMap { AttemptPurpose($0, application) },
                    newSessionID: newSessionID, application: application, arrival: arrival, mark: mark,
                    mayPush: mayPush, journey: journey))
        case .replayed(let sessionID):
            return .signedIn(returnPath: begun.returnTo, sessionID: sessionID)
        case .inProgress, .failed, .expired:
            // This is an old callback, for example from the browser's history. A person who is signed in goes to the
            // page.
            let session = try await session(arrival.cookie)
            if session?.currentAccount(for: begun.app) != nil { return .signedInBefore(returnPath: begun.returnTo) }
            // A failed attempt reports its reason again.
            if case .failed = consumed, let session,
                let known = try await journal.lastFailure(in: session.key, app: begun.app)
            {
                return .failed(returnPath: begun.returnTo, known, sessionID: nil)
            }
            let problem = SignInFlow.isOver(RequestContext.current?.correlationID)
            return .failed(returnPath: begun.returnTo, problem, sessionID: nil)
        case .completed where try await session(arrival.cookie)?.currentAccount(for: begun.app) != nil:
            return .signedInBefore(returnPath: begun.returnTo)
        case .otherBrowser, .unknown, .completed:
            throw SignInFlow.notOfThisBrowser
        }
    }

    /// Consumes the attempt. If another server is redeeming the code of the same callback, waits for its result.
    private func consumed(_ begun: BegunSignIn, _ arrival: Arrival) async throws -> ConsumedAttempt {
        let end = ContinuousClock.now + ProviderClient.patience
        var pause = Duration.milliseconds(50)
        while true {
            let consumed = try await store.consume(begun, code: arrival.callback.code, cookie: arrival.cookie)
            guard case .inProgress = consumed, ContinuousClock.now + pause < end,
                (try? await Task.sleep(for: pause)) != nil
            else { return consumed }
            pause = min(pause * 2, .milliseconds(400))
        }
    }

    private func session(_ cookie: SessionID?) async throws -> Session? {
        if let cookie { try await store.session(cookie) } else { nil }
    }

    /// Completes a consumed attempt, or reports the failure.
    private func finish(_ taken: Completion) async throws -> Outcome {
        var completion = taken
        do {
            return try await conclude(&completion)
        } catch {
            return try await fail(completion, error)
        }
    }

    /// Redeems the code, checks the account, and stores the result.
    private func conclude(_ completion: inout Completion) async throws -> Outcome {
        let (attempt, application, arrival) = (completion.attempt, completion.application, completion.arrival)
        guard let purpose = completion.purpose else {
            throw Problem(.stateMismatch, "The application's settings changed during this sign-in. Start again.")
        }
        // The response belongs to another provider, so its code must not be redeemed (a mix-up, RFC 9700 §4.4).
        guard purpose.redirectURI == arrival.redirectURI else {
            throw Problem(.issuerMismatch, "The response came to the wrong address. Start again.")
        }
        let secrets = AuthorizationAttempt(
            state: arrival.callback.state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier)
        guard let flow = purpose.kind.userFlow else {
            return try await adminConsent.complete(attempt, arrival.callback, secrets, completion.journey)
        }
        // Without a code nothing is left to redeem.
        if arrival.callback.code == nil { show(secrets, of: completion) }
        let metadata = try await providers.directory.metadata(for: purpose.authority)
        let validated = try arrival.callback.validated(
            against: secrets, metadata: metadata,
            sent: (try? providers.credentials.client(of: application)).map {
                SentValues(secrets, client: $0, loginHint: purpose.loginHint)
            })
        journal.redeems(&completion.journey, at: metadata.tokenEndpoint)
        let answer = try await redeem(validated, purpose, at: metadata.tokenEndpoint, completion)
        show(secrets, of: completion)
        let signedIn = try await providers.exchange.check(answer)
        completion.journey.account = store.pseudonym(
            ofAccount: signedIn.homeAccountID, environment: purpose.authority.environment)
        let isKept = keepsSessions(metadata)
        let isNew = isNew(signedIn.idTokenClaims)
        let groups = try await groups(of: signedIn, application)
        try purpose.checkAuthenticationTime(
            of: signedIn.idTokenClaims, attempt, isRequired: isKept, now: providers.clocks.wall())
        // A user flow that continues another one asks for nothing again.
        if !isNew, isKept || application.isAtKiosk, attempt.prompt == Prompt.login.rawValue {
            throw AttemptPurpose.oldSignIn("auth_time is that of an earlier sign-in")
        }
        let outcome = try await keep(signedIn, groups, of: flow, at: metadata, completion)
        // Only now: anyone can make up the refusal, and what is remembered concerns everyone.
        if purpose.consent == .repeated { consents.note(metadata.authority) }
        return outcome
    }

    /// Keeps the values of a sign-in that is over for the demo's pages.
    private func show(_ secrets: AuthorizationAttempt, of completion: Completion) {
        guard showsSpentValues, !completion.application.isAtKiosk else { return }
        journal.show(secrets, completion.arrival.callback.code, of: completion.journey)
    }

    /// Whether nobody has signed in here with this authentication before. A person who comes within the tolerance for clocks
    /// after another one, and takes `prompt` out of the request, would otherwise get in with the other one's session.
    private func isNew(_ claims: IDTokenClaims) -> Bool {
        guard let time = claims.authenticationTime else { return true }
        let own = Authentication(issuer: claims.issuer, subject: claims.subject, time: time)
        let now = providers.clocks.steady()
        return authentications.withLock { known in
            let isKnown = known.value(for: own, now: now) != nil
            known.set(true, for: own, until: now.addingTimeInterval(Self.toleratedAge), now: now)
            return !isKnown
        }
    }

    /// Checks that the account is admitted, and returns Graph's answer about its groups if one was needed. Without an
    /// answer, the account may still be admitted by another rule.
    private func groups(of signedIn: SignedInTokens, _ application: Application) async throws -> GroupAnswer? {
        let claims = signedIn.idTokenClaims
        do throws(Problem) {
            let answer = try await groupLookup.answer(
                for: claims, accessToken: signedIn.tokens.accessToken, application)
            try admission.check(claims, answer, application)
            return answer
        } catch {
            guard error.code == .membershipUnknown, (try? admission.check(claims, nil, application)) != nil else {
                throw error
            }
            return nil
        }
    }

    /// Redeems the code. The ID token of the response is not checked yet.
    private func redeem(
        _ validated: ValidatedCallback, _ purpose: AttemptPurpose, at tokenEndpoint: Endpoint, _ completion: Completion
    ) async throws -> TokenAnswer<SignedInTokens> {
        var authenticated = try providers.credentials.client(of: completion.application)
        authenticated.registration.redirectURI = purpose.redirectURI
        let directory = providers.directory
        let request = try CodeRequest(
            redeeming: validated, scopes: Self.scopes(of: completion.attempt, completion.application),
            claims: purpose.claims,
            client: authenticated, configured: try await directory.metadata(for: completion.application.authority))
        let client = TokenThrottle.Client(tokenEndpoint: tokenEndpoint, id: authenticated.registration.clientID)
        return try await providers.exchange.run(
            request.providerRequest, by: client, .code(session: completion.attempt.session)
        ) { response throws(OpenIDError) in try request.answer(from: response, directory: directory) }
    }

    /// Returns the scopes of the token that comes with a sign-in. A person may have consented to those of several
    /// resources; tokens for the others are acquired when they are needed.
    private static func scopes(of attempt: SignInAttempt, _ application: Application) -> [String] {
        application.kind == .oidc ? attempt.requestedScopes : ScopeResources.ofFirst(attempt.requestedScopes)
    }

    /// Returns the person's names from UserInfo if the ID token lacks one. A failure does not prevent the sign-in.
    private func userInfo(_ signedIn: SignedInTokens, at metadata: ProviderMetadata) async -> UserInfo? {
        let claims = signedIn.idTokenClaims
        guard metadata.authority.kind == .oidc, claims.username == nil || claims.name?.isEmpty ?? true,
            let endpoint = metadata.userInfoEndpoint
        else { return nil }
        let request = UserInfo.request(to: endpoint, accessToken: signedIn.tokens.accessToken)
        let answer = try? await providers.client.send(request, timeout: ProviderClient.patience)
        return answer.flatMap { UserInfo($0, subject: claims.subject) }
    }

    /// Stores the result of the flow, and reports success only after that.
    private func keep(
        _ signedIn: SignedInTokens, _ groups: GroupAnswer?, of flow: Application.UserFlow,
        at metadata: ProviderMetadata,
        _ completion: Completion
    ) async throws -> Outcome {
        let (attempt, application, journey) = (completion.attempt, completion.application, completion.journey)
        switch flow {
        case .signIn:
            let person = await userInfo(signedIn, at: metadata)
            var account = NewAccount(signedIn, person, at: metadata.authority)
            account.annotation = groups?.text
            let sessionID = try await store.completeSignIn(
                attempt, account: account,
                tokens: NewTokens(signedIn, requestedScopes: Self.scopes(of: attempt, application)))
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
            // The person has just authenticated with the new password, so this sign-in does not ask for it again.
            return await goOn(with: .signIn, after: completion, sessionID: sessionID)
                ?? .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        }
    }

    /// Reports the failure of an attempt, and ends it.
    ///
    /// - Throws: the error itself if the store is unavailable, because then the person did nothing wrong.
    private func fail(_ completion: Completion, _ error: any Error) async throws -> Outcome {
        let (attempt, application) = (completion.attempt, completion.application)
        var problem = Problem(any: error)
        if problem.code == .adminConsentRequired { problem.action = adminConsent.invitation(to: application) }
        await journal.failed(completion.journey, problem)
        if let error = error as? StoreError, error.isUnavailable { throw error }
        try await store.failSignIn(attempt)
        await journal.personAnswered(completion.journey)
        // "Forgot your password?" is not a failure: the browser goes directly to the user flow for it.
        if problem.code == .passwordResetRequested,
            let outcome = await goOn(with: .resetPassword, after: completion, sessionID: completion.newSessionID)
        {
            return outcome
        }
        if let outcome = await askForConsent(after: completion, error) { return outcome }
        return .failed(returnPath: attempt.returnTo, problem, sessionID: completion.newSessionID)
    }

    /// Starts the user flow that follows automatically; returns nil if it is not configured.
    ///
    /// - Parameter sessionID: the session's new ID; nil if it has not changed.
    private func goOn(with flow: Application.UserFlow, after completion: Completion, sessionID: SessionID?) async
        -> Outcome?
    {
        guard let authority = completion.application.authority(of: flow),
            let returnPath = ReturnPath(completion.attempt.returnTo, below: publicURL.prefix)
        else { return nil }
        return await goOn(
            SignInOptions(continuing: flow, at: authority, returnPath: returnPath), after: completion,
            sessionID: sessionID)
    }

    /// Starts the same sign-in again, once and with consent, if the provider has refused a request for `offline_access`
    /// without consent; returns nil for any other failure.
    private func askForConsent(after completion: Completion, _ error: any Error) async -> Outcome? {
        let (attempt, application) = (completion.attempt, completion.application)
        // Without a code, the refusal came from the authorization endpoint.
        guard completion.arrival.callback.code == nil, (error as? OpenIDError)?.isRequestRefused ?? false,
            let purpose = completion.purpose, purpose.consent == .missing,
            let returnPath = ReturnPath(attempt.returnTo, below: publicURL.prefix)
        else { return nil }
        return await goOn(
            SignInOptions(repeating: attempt, purpose, of: application, returnPath: returnPath), after: completion,
            sessionID: completion.newSessionID)
    }

    private func goOn(_ options: SignInOptions, after completion: Completion, sessionID: SessionID?) async -> Outcome {
        do {
            let cookie = sessionID ?? completion.arrival.cookie
            // Its authority is configured, or has passed the checks of the first sign-in, so no address counts for it.
            let browser = Browser(
                session: try await session(cookie), cookie: cookie, mark: completion.mark, site: [])
            return .continues(
                try await begin(completion.application, options, browser, mayPush: completion.mayPush),
                sessionID: sessionID)
        } catch {
            return .failed(
                returnPath: completion.attempt.returnTo, Problem(any: error), sessionID: sessionID)
        }
    }
}
