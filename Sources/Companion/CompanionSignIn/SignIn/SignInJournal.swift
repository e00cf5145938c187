package import CompanionCore
package import Foundation
import Languages
package import OpenIDConnect
package import SessionStore
import Synchronization

/// Reports each step of a sign-in, from its start to its outcome, in one place: to the timeline, the history, the
/// metrics, the audit log and the list of recent sign-ins.
package final class SignInJournal: Sendable {
    /// A sign-in that has not left for the provider yet.
    package struct Beginning {
        fileprivate let number: Int
        fileprivate let start = ContinuousClock.now
        package let application: Application
        package let kind: SignInKind
        /// The mark by which the callback finds the record.
        package let mark: String
    }

    /// A callback that is being processed.
    package struct Return {
        fileprivate let attempt: SignInAttempt
        fileprivate let application: Application
        fileprivate let kind: SignInKind
        fileprivate let number: Int?
        fileprivate var step = "callback"
        fileprivate var endpoint: String
        fileprivate var start: ContinuousClock.Instant
        /// The account, once the provider has identified it.
        package var account: Pseudonym?
    }

    /// A failed sign-in, without the person and the request.
    package struct Failure: Sendable {
        package let time: Date
        package let code: Problem.Code
        /// The platform's number, such as `AADSTS50011`; nil if there was none.
        package let number: String?
    }

    /// Outcomes that the person wanted.
    private static let ownWishes: Set<Problem.Code> = [.cancelled, .passwordResetRequested]

    /// The newest failure of each application at this server, until a sign-in succeeds.
    private let newestFailures = Mutex<[String: Failure]>([:])
    private let memory: SessionMemory
    private let timeline: Timeline
    private let history: AttemptHistory
    private let metrics: Metrics
    private let audit: AuditLog
    private let recent: RecentSignIns

    package init(memory: SessionMemory, metrics: Metrics, audit: AuditLog, recent: RecentSignIns) {
        self.memory = memory
        timeline = Timeline(memory: memory)
        history = AttemptHistory(memory: memory)
        self.metrics = metrics
        self.audit = audit
        self.recent = recent
    }

    // MARK: Departure

    /// Creates the record of a new sign-in.
    package func begin(_ application: Application, _ kind: SignInKind) -> Beginning {
        let number = history.nextID()
        return Beginning(number: number, application: application, kind: kind, mark: history.mark(number))
    }

    /// Counts a trip that a page started automatically. This happens before anything is fetched or written.
    ///
    /// - Throws: ``Problem`` `sign_in_loop` after too many trips; ``StoreError``.
    func countTrip(of session: SessionKey, _ beginning: Beginning) async throws {
        guard let seconds = try await memory.countTrip(of: session, app: beginning.application.id) else { return }
        throw Problem(
            .signInLoop,
            "This browser was sent to the identity provider \(SessionMemory.maxTrips) times within a minute without success, "
                + "so the companion stopped. Usually the application's permissions or the tenant's policies require something "
                + "that signing in does not provide. Wait \(seconds) seconds, or tell the operator.",
            retryAfter: seconds)
    }

    /// Records that the browser leaves for the provider.
    ///
    /// - Parameters:
    ///   - session: the browser's session; nil if it has none, in which case the record is written at the callback.
    ///   - location: the address at the provider; nil omits the step from the timeline.
    package func left(
        _ beginning: Beginning, in session: SessionKey?, for authority: Authority, _ settings: AttemptSettings,
        location: String?
    ) async {
        metrics.signInStarted(beginning.application.id, beginning.kind)
        guard let session else { return }
        note(beginning, in: session, authority, settings)
        if let location {
            timeline.record(
                TimelineStep("authorize", at: location, attempt: beginning.number, since: beginning.start),
                of: session, app: beginning.application.id)
        }
        // The browser may return to another server.
        await memory.settle()
    }

    /// Records that the sign-in failed before the browser left.
    ///
    /// - Parameter session: the session whose pages can show the failure; nil if there is none.
    package func failed(
        _ beginning: Beginning, in session: SessionKey?, for authority: Authority, _ settings: AttemptSettings,
        _ error: any Error
    ) async {
        let problem = Problem(any: error)
        metrics.signInEnded(beginning.application.id, beginning.kind, problem.code)
        // Other refusals concern the request alone.
        if problem.isFault { remember(problem, of: beginning.application.id) }
        // A refusal because of a loop is not an attempt, and is not recorded.
        guard problem.code != .signInLoop, let session else { return }
        note(beginning, in: session, authority, settings)
        timeline.record(
            TimelineStep("authorize", problem, attempt: beginning.number, since: beginning.start), of: session,
            app: beginning.application.id)
        history.fail(beginning.number, session: session, problem)
        await memory.settle()
    }

    private func note(
        _ beginning: Beginning, in session: SessionKey, _ authority: Authority, _ settings: AttemptSettings
    ) {
        history.begin(
            beginning.number, session: session, app: beginning.application.id, authority: authority.description,
            settings: settings)
    }

    // MARK: Return

    /// Records the first callback of an attempt.
    ///
    /// - Parameters:
    ///   - redirectURI: the redirect URI at which the callback arrived.
    ///   - start: the time of arrival.
    func cameBack(
        _ attempt: SignInAttempt, _ purpose: StoredPurpose?, to application: Application, at redirectURI: String,
        since start: ContinuousClock.Instant
    ) -> Return {
        let number = history.id(of: purpose?.mark)
        let journey = Return(
            attempt: attempt, application: application, kind: purpose?.kind ?? .signIn,
            number: attempt.isOfNewcomer ? number ?? history.nextID() : number, endpoint: redirectURI, start: start)
        if attempt.isOfNewcomer, let purpose { begin(journey, purpose) }
        return journey
    }

    /// Records the start of a sign-in for a browser that had no session at that time.
    private func begin(_ journey: Return, _ purpose: StoredPurpose) {
        let (attempt, app) = (journey.attempt, journey.application.id)
        guard let number = journey.number else { return }
        history.begin(
            number, session: attempt.session, app: app, authority: purpose.authority, settings: purpose.settings,
            at: attempt.begunAt)
        guard let endpoint = purpose.departedTo else { return }
        timeline.record(
            TimelineStep("authorize", at: endpoint, attempt: number, ending: attempt.begunAt), of: attempt.session,
            app: app)
    }

    /// Records that the response is valid and its code is being redeemed.
    func redeems(_ journey: inout Return, at tokenEndpoint: Endpoint) {
        recordSuccess(journey)
        journey.step = "token"
        journey.endpoint = tokenEndpoint.description
        journey.start = .now
    }

    /// Keeps the values of a sign-in for the demo's pages. Call this only after the code has been redeemed, or after a
    /// callback without one has consumed the attempt.
    func show(_ secrets: AuthorizationAttempt, _ code: String?, of journey: Return) {
        guard let number = journey.number else { return }
        let values = SpentValues(attempt: number, secrets: secrets, code: code)
        memory.change(journey.attempt.session, isSignedIn: code != nil) {
            $0.add(values, of: journey.application.id)
        }
    }

    /// Records success. Call this only after the result is stored, because until then the sign-in can fail.
    ///
    /// - Parameters:
    ///   - account: the ID of the session's account; nil if the attempt was not for an account.
    ///   - tokens: the tokens that the provider granted; nil if no code was redeemed.
    ///   - event: the event for the audit log.
    package func succeeded(
        _ journey: Return, of account: String? = nil, _ tokens: GrantedTokens?, _ event: AuditEvent?
    ) async {
        let (attempt, app) = (journey.attempt, journey.application.id)
        if tokens != nil {
            recordSuccess(journey)
            newestFailures.withLock { $0[app] = nil }
        }
        history.succeed(
            journey.number, session: attempt.session, account: account, granted: tokens?.scopes ?? [],
            declined: tokens?.declinedScopes ?? [])
        await memory.settle()
        metrics.signInEnded(app, journey.kind)
        if let event {
            await audit.write(event, application: app, account: journey.account, session: attempt.session)
        }
    }

    /// Records the failure of a callback.
    package func failed(_ journey: Return, _ problem: Problem) async {
        let (attempt, app) = (journey.attempt, journey.application.id)
        metrics.signInEnded(app, journey.kind, problem.code)
        if !Self.ownWishes.contains(problem.code) { remember(problem, of: app) }
        await audit.write(
            .refused, application: app, account: journey.account, session: attempt.session,
            more: ["outcome": problem.code.rawValue])
        timeline.record(
            TimelineStep(journey.step, problem, at: journey.endpoint, attempt: journey.number, since: journey.start),
            of: attempt.session, app: app)
        history.fail(
            journey.number, session: attempt.session, attempt: attempt, authority: journey.application.authority,
            problem)
        await memory.settle()
    }

    /// Records that a person responded at the provider's page. Their next sign-in does not count towards a loop.
    func personAnswered(_ journey: Return) async {
        memory.note(.acted, of: journey.attempt.session, app: journey.attempt.app, isSignedIn: false)
        await memory.settle()
    }

    /// Remembers a sign-in that allows an operator to end other people's sessions.
    func rememberRecent(_ journey: Return, account: String) {
        recent.note(journey.attempt, account: account)
    }

    /// Returns the problem of the last sign-in to an application; nil if it did not fail.
    package func lastFailure(in session: SessionKey, app: String) async throws(StoreError) -> Problem? {
        try await memory.all(of: session)?.lastFailure(app: app)
    }

    /// Returns the newest failed sign-in to an application that this server has seen, whoever's it was; nil if a sign-in
    /// has succeeded since. Anyone can make up a refusal, so it decides nothing.
    package func newestFailure(of app: String) -> Failure? { newestFailures.withLock { $0[app] } }

    private func remember(_ problem: Problem, of app: String) {
        let failure = Failure(time: memory.now(), code: problem.code, number: problem.numbers.first)
        newestFailures.withLock { $0[app] = failure }
    }

    private func recordSuccess(_ journey: Return) {
        timeline.record(
            TimelineStep(journey.step, at: journey.endpoint, attempt: journey.number, since: journey.start),
            of: journey.attempt.session, app: journey.attempt.app)
    }
}
