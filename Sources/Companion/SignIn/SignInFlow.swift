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
        /// Not signed in; the page that started it says why.
        case failed(app: String, returnPath: String, problem: Problem)
    }

    private struct CallbackKey: Hashable {
        var state: String
        var code: String?
        var cookie: SessionID?
    }

    private let applications: [String: Application]
    private let store: SessionStore
    private let directory: ProviderDirectory
    private let transport: ProviderDirectory.Transport
    private let timeline: Timeline
    private let trips: TripLimit
    private let randomBytes: @Sendable (Int) -> [UInt8]
    private let callbacks = SingleFlight<CallbackKey, Outcome>()

    init(
        applications: [Application], store: SessionStore, directory: ProviderDirectory,
        transport: @escaping ProviderDirectory.Transport, timeline: Timeline, trips: TripLimit,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.applications = Dictionary(uniqueKeysWithValues: applications.map { ($0.id, $0) })
        self.store = store
        self.directory = directory
        self.transport = transport
        self.timeline = timeline
        self.trips = trips
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
        let start = ContinuousClock.now
        let metadata = try await directory.metadata(for: application.authority)
        let secrets = AuthorizationAttempt(randomBytes: randomBytes)
        let scopes = application.registration.scopes + options.extraScopes
        let attempt = NewSignInAttempt(
            app: application.id, state: secrets.state, nonce: secrets.nonce, codeVerifier: secrets.codeVerifier,
            returnTo: options.returnPath.text, prompt: options.prompt?.rawValue, requestedScopes: scopes)
        let sessionID = try await store.beginSignIn(attempt, cookie: cookie)
        guard let session = try await store.session(sessionID) else { throw StoreError.noSuchSession }
        if let seconds = trips.begin(session: session.key.value, app: application.id) {
            throw Problem(
                .signInLoop,
                "This browser went to the identity provider \(TripLimit.maxTrips) times within a minute without getting anywhere, "
                    + "so the companion stopped. Usually the application's permissions or the tenant's policies ask for something "
                    + "that signing in does not give. Wait \(seconds) seconds, or tell the operator.",
                retryAfter: seconds)
        }
        let location = AuthorizationRequest(
            prompt: options.prompt, loginHint: options.loginHint, domainHint: options.domainHint, scopes: scopes,
            claims: options.claims
        ).url(metadata: metadata, registration: application.registration, attempt: secrets)
        timeline.record(
            session: session.key.value, app: application.id, step: "authorize", since: start,
            correlationID: correlationID)
        return (location, sessionID)
    }

    // MARK: Complete

    /// Takes the provider's answer. Two runs of the same callback (a reload while the first is under way) share one.
    func complete(_ callback: Callback, cookie: SessionID?, correlationID: String) async throws -> Outcome {
        try await callbacks.run(CallbackKey(state: callback.state, code: callback.code, cookie: cookie)) {
            try await self.redeem(callback, cookie: cookie, correlationID: correlationID)
        }
    }

    private func redeem(_ callback: Callback, cookie: SessionID?, correlationID: String) async throws -> Outcome {
        let start = ContinuousClock.now
        let attempt: SignInAttempt
        switch try await store.consumeAttempt(state: callback.state, code: callback.code, cookie: cookie) {
        case .attempt(let consumed):
            attempt = consumed
        case .replayed(_, let returnTo, let sessionID):
            return .signedIn(returnPath: returnTo, sessionID: sessionID)
        case .inProgress(let app, let returnTo), .failed(let app, let returnTo), .expired(let app, let returnTo):
            // An old callback, as from the browser's history: whoever is signed in goes to the page.
            if let cookie, let session = try await store.session(cookie), session.currentAccount(for: app) != nil {
                return .signedInBefore(returnPath: returnTo)
            }
            return .failed(
                app: app, returnPath: returnTo,
                problem: Problem(.stateMismatch, "This sign-in is over or took too long. Start again from the page."))
        case .otherBrowser, .unknown:
            throw Problem(
                .stateMismatch,
                "The answer of the identity provider does not belong to a sign-in of this browser. Start again from the page, "
                    + "and allow cookies for this site.")
        }
        guard let application = applications[attempt.app] else {
            try await store.failSignIn(attempt)
            throw Problem(.stateMismatch, "The application of this sign-in is not configured any more.")
        }
        do {
            let sessionID = try await signIn(
                application, attempt: attempt, callback: callback, since: start, correlationID: correlationID)
            return .signedIn(returnPath: attempt.returnTo, sessionID: sessionID)
        } catch let error as StoreError where error.isUnavailable {
            // The person did everything right and nothing could be kept: say so rather than blame the sign-in.
            throw error
        } catch {
            let problem = Problem(any: error)
            timeline.record(
                session: attempt.session.value, app: attempt.app, step: "callback", outcome: problem.code.rawValue,
                since: start, correlationID: problem.correlationID ?? correlationID)
            try await store.failSignIn(attempt)
            return .failed(app: attempt.app, returnPath: attempt.returnTo, problem: problem)
        }
    }

    private func signIn(
        _ application: Application, attempt: SignInAttempt, callback: Callback, since start: ContinuousClock.Instant,
        correlationID: String
    ) async throws -> SessionID {
        let metadata = try await directory.metadata(for: application.authority)
        let secrets = AuthorizationAttempt(
            state: callback.state, nonce: attempt.nonce, codeVerifier: attempt.codeVerifier)
        let validated = try callback.validated(against: secrets, metadata: metadata)
        timeline.record(
            session: attempt.session.value, app: application.id, step: "callback", since: start,
            correlationID: correlationID)

        let tokenStart = ContinuousClock.now
        let request = try CodeRequest(
            redeeming: validated, scopes: attempt.requestedScopes, registration: application.registration)
        let signedIn = try await request.tokens(
            from: try await transport(request.providerRequest), directory: directory)
        let sessionID = try await store.completeSignIn(
            attempt, account: NewAccount(signedIn, environment: application.authority.environment),
            tokens: NewTokens(signedIn.tokens, claims: signedIn.idTokenClaims, requestedScopes: attempt.requestedScopes)
        )
        timeline.record(
            session: attempt.session.value, app: application.id, step: "token", since: tokenStart,
            correlationID: correlationID)
        return sessionID
    }
}
