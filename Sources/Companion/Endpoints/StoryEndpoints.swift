import HTTPServer
import HTTPWire
import SessionStore

/// What just happened in this session: its steps, its sign-ins, and why the last one failed.
struct StoryEndpoints: Sendable {
    let history: AttemptHistory
    let timeline: Timeline
    let languages: Languages

    private struct Events: Encodable {
        var events: [TimelineEvent]
    }

    /// The last steps with an application, the oldest first.
    func events(_ visit: Visit) -> Response {
        .json(Events(events: visit.session.map { timeline.events(of: $0.key, app: visit.application.id) } ?? []))
    }

    private struct Failure: Encodable {
        @OrNull var failure: Problem.Body?
    }

    /// What the page that a failed sign-in came back to needs to explain it.
    func failure(_ visit: Visit) -> Response {
        let problem = visit.session.flatMap { history.lastFailure(session: $0.key, app: visit.application.id) }
        return .json(Failure(failure: problem?.body(in: languages.language(of: visit.call.request.head))))
    }

    private struct Attempt: Encodable {
        var id: Int
        var app: String
        var authority: String
        var began: String
        var ended: String?
        var outcome: String?
        var settings: AttemptSettings
        var granted_scopes: [String]
        var declined_scopes: [String]
        var problem: Problem.Body?
        var steps: [TimelineEvent]
    }

    /// The interactive sign-ins of this session, the newest first.
    func attempts(_ call: Call, _ session: Session?) -> Response {
        let language = languages.language(of: call.request.head)
        guard let session else { return .json(["attempts": [Attempt]()]) }
        let attempts = history.all(session: session.key).map { record in
            Attempt(
                id: record.id, app: record.app, authority: record.authority, began: Timeline.text(record.began),
                ended: record.ended.map(Timeline.text),
                outcome: record.ended == nil ? nil : record.problem?.code.rawValue ?? "ok", settings: record.settings,
                granted_scopes: record.grantedScopes, declined_scopes: record.declinedScopes,
                problem: record.problem?.body(in: language),
                steps: timeline.events(of: session.key, app: record.app).filter { $0.attempt == record.id })
        }
        return .json(["attempts": attempts])
    }
}
