import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPWire
import Languages
import SessionStore
import WebFormats

/// Reports recent events of this session: its steps, its sign-ins, and the reason of the last failure.
struct StoryEndpoints: Sendable {
    let memory: SessionMemory
    let languages: Languages

    private func notes(of session: Session?) async throws(StoreError) -> SessionMemory.Notes? {
        guard let session else { return nil }
        return try await memory.all(of: session.key)
    }

    /// Returns the last steps with an application, oldest first, the options of the sign-ins that they belong to, and
    /// the parameters of every request that anyone may know. In the demo, steps also have the values of a sign-in whose
    /// code has been redeemed at this server.
    func events(_ visit: Visit) async throws -> Response {
        let app = visit.application.id
        let notes = try await notes(of: visit.session)
        let own = visit.session.flatMap { memory.notes(of: $0.key) }
        let attempts = notes?.attempts.reversed().filter { $0.app == app } ?? []
        let registration = visit.application.registration
        return .json([
            "events": .array(
                (notes?.events[app] ?? []).map { event in
                    let values = own?.spent(of: event, app: app)?.members(of: event.step) ?? [:]
                    return .object((event.json.object ?? [:]).merging(values) { $1 })
                }),
            "attempts": .array(attempts.map { ["id": .integer($0.id), "settings": $0.settings.json] }),
            "client": .members([
                "client_id": .string(registration.clientID), "redirect_uri": .string(registration.redirectURI),
                "claims": .text(registration.claimsParameter(nil)),
            ]),
        ])
    }

    /// Returns the details that a page needs to explain a failed sign-in.
    func failure(_ visit: Visit) async throws -> Response {
        let problem = try await notes(of: visit.session)?.lastFailure(app: visit.application.id)
        let language = languages.language(of: visit.call.request.head)
        return .json(["failure": problem?.document(in: language) ?? .null])
    }

    /// Returns the interactive sign-ins of this session, newest first. They contain no names: an account appears as
    /// its ID within the session, for as long as the session has the account.
    func attempts(_ call: Call, _ session: Session?) async throws -> Response {
        let language = languages.language(of: call.request.head)
        let notes = try await notes(of: session)
        return .json([
            "attempts": .array(
                (notes?.attempts.reversed() ?? []).map { record in
                    let steps = notes?.events[record.app]?.filter { $0.attempt == record.id } ?? []
                    let account = record.accountID.flatMap { session?.account(for: record.app, id: $0) }
                    return attempt(record, of: account, steps, in: language)
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
