package import CompanionCore
import Foundation
import Languages
package import OpenIDConnect
package import SessionStore

/// The one place where a sign-in is reported, from leaving for the provider to what came of it: to the timeline, the
/// history, the metrics, the audit log and the list of recent sign-ins.
package final class SignInJournal: Sendable {
    /// A sign-in that is about to leave for the provider.
    package struct Beginning {
        fileprivate let number: Int
        fileprivate let start = ContinuousClock.now
        package let application: Application
        package let kind: SignInKind
        /// By which its callback finds it again.
        package let mark: String
    }

    /// A callback on its way through its steps.
    package struct Return {
        fileprivate let attempt: SignInAttempt
        fileprivate let application: Application
        fileprivate let number: Int?
        fileprivate var step = "callback"
        fileprivate var endpoint: String
        fileprivate var start: ContinuousClock.Instant
        /// Whose it is, once the provider has said so.
        package var account: Pseudonym?
    }

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

    // MARK: Out

    /// Somebody wants to sign in.
    package func begin(_ application: Application, _ kind: SignInKind) -> Beginning {
        let number = history.nextID()
        return Beginning(number: number, application: application, kind: kind, mark: history.mark(number))
    }

    /// Counts a trip that a page began by itself; asked before anything is fetched or written.
    ///
    /// - Throws: ``Problem`` `sign_in_loop`; ``StoreError``.
    func countTrip(of session: SessionKey, _ beginning: Beginning) async throws {
        guard let seconds = try await memory.countTrip(of: session, app: beginning.application.id) else { return }
        throw Problem(
            .signInLoop,
            "This browser went to the identity provider \(SessionMemory.maxTrips) times within a minute without getting anywhere, "
                + "so the companion stopped. Usually the application's permissions or the tenant's policies ask for something "
                + "that signing in does not give. Wait \(seconds) seconds, or tell the operator.",
            retryAfter: seconds)
    }

    /// The browser leaves for the provider.
    ///
    /// - Parameters:
    ///   - session: nil when there is none: the story of somebody who had none begins when they come back.
    ///   - location: where it goes; nil leaves no step in the timeline.
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
        // The browser may come back to another server.
        await memory.settle()
    }

    /// It could not leave.
    ///
    /// - Parameter session: nil when there is none whose pages could show it.
    package func failed(
        _ beginning: Beginning, in session: SessionKey?, for authority: Authority, _ settings: AttemptSettings,
        _ error: any Error
    ) async {
        let problem = Problem(any: error)
        metrics.signInEnded(beginning.application.id, beginning.kind, problem.code)
        // What a limit refused is no attempt, and leaves nothing behind.
        guard problem.code != .signInLoop, let session else { return }
        note(beginning, in: session, authority, settings)
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

    // MARK: Back

    /// The browser came back from the provider, with the first callback of its attempt.
    ///
    /// - Parameters:
    ///   - redirectURI: where it came to.
    ///   - start: when.
    func cameBack(
        _ attempt: SignInAttempt, to application: Application, at redirectURI: String,
        since start: ContinuousClock.Instant
    ) -> Return {
        let number = history.id(of: AttemptPurpose.mark(of: attempt))
        let journey = Return(
            attempt: attempt, application: application,
            number: attempt.isOfNewcomer ? number ?? history.nextID() : number, endpoint: redirectURI, start: start)
        if attempt.isOfNewcomer { begin(journey) }
        return journey
    }

    /// Notes how the sign-in of somebody began who had no session then.
    private func begin(_ journey: Return) {
        let (attempt, app) = (journey.attempt, journey.application.id)
        guard let number = journey.number, let beginning = AttemptPurpose.beginning(of: attempt) else { return }
        history.begin(
            number, session: attempt.session, app: app, authority: beginning.authority, settings: beginning.settings,
            at: attempt.begunAt)
        guard let endpoint = beginning.departedTo else { return }
        timeline.record(
            TimelineStep("authorize", at: endpoint, attempt: number, ending: attempt.begunAt), of: attempt.session,
            app: app)
    }

    /// The answer is good; its code goes to the token endpoint.
    func redeems(_ journey: inout Return, at tokenEndpoint: Endpoint) {
        record(journey, "ok")
        journey.step = "token"
        journey.endpoint = tokenEndpoint.description
        journey.start = .now
    }

    /// It is stored, and not before: until then it can fail.
    ///
    /// - Parameters:
    ///   - account: the session's account that it was for, by its id; nil where it was for none.
    ///   - tokens: what the provider granted; nil when nothing was redeemed.
    ///   - event: for the audit log.
    package func succeeded(
        _ journey: Return, of account: String? = nil, _ tokens: GrantedTokens?, _ event: AuditEvent?
    ) async {
        if tokens != nil { record(journey, "ok") }
        let (attempt, app) = (journey.attempt, journey.application.id)
        history.succeed(
            journey.number, session: attempt.session, account: account, granted: tokens?.scopes ?? [],
            declined: tokens?.declinedScopes ?? [])
        await memory.settle()
        metrics.signInEnded(app, AttemptPurpose.kind(of: attempt))
        if let event { audit.write(event, application: app, account: journey.account, session: attempt.session) }
    }

    /// It failed.
    package func failed(_ journey: Return, _ problem: Problem) async {
        let (attempt, app) = (journey.attempt, journey.application.id)
        metrics.signInEnded(app, AttemptPurpose.kind(of: attempt), problem.code)
        audit.write(
            .refused, application: app, account: journey.account, session: attempt.session,
            more: ["outcome": problem.code.rawValue])
        record(journey, problem.code.rawValue, correlationID: problem.correlationID)
        history.fail(
            journey.number, session: attempt.session, attempt: attempt, authority: journey.application.authority,
            problem)
        await memory.settle()
    }

    /// Somebody answered at the provider's page: what they do next is no loop.
    func personAnswered(_ journey: Return) async {
        memory.note(.acted, of: journey.attempt.session, app: journey.attempt.app, isSignedIn: false)
        await memory.settle()
    }

    /// Remembers a sign-in with which an operator may end other people's sessions.
    func rememberRecent(_ journey: Return, account: String) {
        recent.note(journey.attempt, account: account)
    }

    /// Why the last sign-in to an application failed; nil when it did not.
    package func lastFailure(in session: SessionKey, app: String) async throws(StoreError) -> Problem? {
        try await memory.all(of: session)?.lastFailure(app: app)
    }

    private func record(_ journey: Return, _ outcome: String, correlationID: String? = nil) {
        timeline.record(
            TimelineStep(
                journey.step, outcome: outcome, at: journey.endpoint, attempt: journey.number, since: journey.start,
                correlationID: correlationID),
            of: journey.attempt.session, app: journey.attempt.app)
    }
}
