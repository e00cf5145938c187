import HTTPServer
import HTTPWire
import SessionStore
import WebFormats

/// What just happened in this session: its steps, its sign-ins, and why the last one failed.
struct StoryEndpoints: Sendable {
    let history: AttemptHistory
    let timeline: Timeline
    let languages: Languages

    /// The last steps with an application, the oldest first, and what the sign-ins asked for to which they belong.
    func events(_ visit: Visit) -> Response {
        let app = visit.application.id
        let events = visit.session.map { timeline.events(of: $0.key, app: app) } ?? []
        let attempts = visit.session.map { history.all(session: $0.key).filter { $0.app == app } } ?? []
        return .json([
            "events": .array(events.map(\.json)),
            "attempts": .array(attempts.map { ["id": .integer($0.id), "settings": $0.settings.json] }),
        ])
    }

    /// What the page that a failed sign-in came back to needs to explain it.
    func failure(_ visit: Visit) -> Response {
        let problem = visit.session.flatMap { history.lastFailure(session: $0.key, app: visit.application.id) }
        let language = languages.language(of: visit.call.request.head)
        return .json(["failure": problem?.document(in: language) ?? .null])
    }

    /// The interactive sign-ins of this session, the newest first. They name nobody: an account is the id under which the
    /// session has it, as long as it does.
    func attempts(_ call: Call, _ session: Session?) -> Response {
        let language = languages.language(of: call.request.head)
        let records = session.map { history.all(session: $0.key) } ?? []
        return .json([
            "attempts": .array(
                records.map { record in
                    let events = session.map { timeline.events(of: $0.key, app: record.app) } ?? []
                    let account = record.accountID.flatMap { session?.account(for: record.app, id: $0) }
                    return attempt(record, of: account, events.filter { $0.attempt == record.id }, in: language)
                })
        ])
    }

    private func attempt(
        _ record: AttemptRecord, of account: Account?, _ steps: [TimelineEvent], in language: Language
    ) -> JSONValue {
        .members([
            "id": .integer(record.id), "app": .string(record.app), "account": .text(account?.id),
            "authority": .string(record.authority),
            "began": .string(Timeline.text(record.began)), "ended": .text(record.ended.map(Timeline.text)),
            "outcome": record.ended.map { _ in .string(record.problem?.code.rawValue ?? "ok") },
            "settings": record.settings.json, "granted_scopes": .list(record.grantedScopes),
            "declined_scopes": .list(record.declinedScopes), "problem": record.problem?.document(in: language),
            "steps": .array(steps.map(\.json)),
        ])
    }
}
