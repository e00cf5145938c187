import CompanionCore
import Foundation
import Languages
package import SessionStore
import WebFormats

/// One event of a session. Its sign-ins and steps are assembled from these events.
package enum SessionEntry: Sendable {
    /// A step ended.
    case step(TimelineEvent)
    /// A sign-in began.
    case began(AttemptRecord)
    /// A sign-in ended.
    case ended(AttemptEnd)
    /// A person responded at the provider's page, or signed out.
    case acted
}

/// The outcome of a sign-in.
package struct AttemptEnd: Sendable {
    /// The number of the attempt in ``AttemptHistory``.
    var id: Int
    var at: Date
    var grantedScopes: [String] = []
    var declinedScopes: [String] = []
    /// The ID of the session's account; nil if the attempt was not for an account.
    var accountID: String?
    /// The problem; nil after success.
    var problem: Problem?
}

extension SessionEntry {
    /// The entry's effect on the count of automatic trips: a successful call or a person's own action ends it.
    var kind: SessionNote.Kind {
        switch self {
        case .step(let event): event.step == "api" && event.outcome == "ok" ? .progress : .record
        case .began, .ended: .record
        case .acted: .progress
        }
    }

    /// Whether the entry is the start of a sign-in.
    var isBeginning: Bool {
        if case .began = self { true } else { false }
    }

    /// Returns the stored form, which other servers read.
    package func note(of app: String) -> SessionNote { SessionNote(kind, app: app, text: json?.text ?? "") }

    private var json: JSONValue? {
        switch self {
        case .step(let event): ["step": event.stored]
        case .began(let record): ["began": record.stored]
        case .ended(let end): ["ended": end.stored]
        case .acted: nil
        }
    }

    /// Parses a note; returns nil if it is of another kind, or from a version with another form.
    init?(_ note: SessionNote) {
        guard let json = JSONValue(parsing: note.text.utf8)?.object else { return nil }
        if let step = json["step"], let event = TimelineEvent(stored: step) {
            self = .step(event)
        } else if let began = json["began"], let record = AttemptRecord(stored: began, app: note.app) {
            self = .began(record)
        } else if let ended = json["ended"], let end = AttemptEnd(stored: ended) {
            self = .ended(end)
        } else {
            return nil
        }
    }
}

// MARK: Stored forms

extension JSONValue {
    /// Returns a time in milliseconds.
    fileprivate static func moment(_ date: Date) -> JSONValue {
        .integer(Int(clamping: date.milliseconds))
    }

    fileprivate var moment: Date? { integer.map { Date(milliseconds: Int64($0)) } }
    fileprivate var strings: [String] { array?.compactMap(\.string) ?? [] }
}

extension TimelineEvent {
    fileprivate var stored: JSONValue {
        .members([
            "at": .moment(time), "name": .string(step), "outcome": .string(outcome), "endpoint": .text(endpoint),
            "attempt": attempt.map(JSONValue.integer), "took": durationMilliseconds.map(JSONValue.integer),
            "correlation": .text(correlationID), "error": .text(refusal?.error), "number": .text(refusal?.number),
        ])
    }

    fileprivate init?(stored: JSONValue) {
        guard let json = stored.object, let time = json["at"]?.moment, let step = json["name"]?.string,
            let outcome = json["outcome"]?.string
        else { return nil }
        self.init(
            time: time, step: step, outcome: outcome, endpoint: json["endpoint"]?.string,
            attempt: json["attempt"]?.integer, durationMilliseconds: json["took"]?.integer,
            correlationID: json["correlation"]?.string,
            refusal: json["error"]?.string.map { Refusal(error: $0, number: json["number"]?.string) })
    }
}

extension AttemptRecord {
    fileprivate var stored: JSONValue {
        .members([
            "id": .integer(id), "at": .moment(began), "authority": .string(authority), "settings": settings.json,
        ])
    }

    fileprivate init?(stored: JSONValue, app: String) {
        guard let json = stored.object, let id = json["id"]?.integer, let began = json["at"]?.moment,
            let authority = json["authority"]?.string, let settings = json["settings"]?.object
        else { return nil }
        self.init(id: id, app: app, authority: authority, settings: AttemptSettings(stored: settings), began: began)
    }
}

extension AttemptSettings {
    fileprivate init(stored json: [String: JSONValue]) {
        self.init(
            prompt: json["prompt"]?.string, scopes: json["scopes"]?.strings ?? [], tenant: json["tenant"]?.string)
        loginHint = json["login_hint"]?.bool ?? false
        domainHint = json["domain_hint"]?.string
        claims = json["claims"]?.string
        policy = json["policy"]?.string
        maxAge = json["max_age"]?.integer
        acrValues = json["acr_values"]?.string
    }
}

extension AttemptEnd {
    fileprivate var stored: JSONValue {
        .members([
            "id": .integer(id), "at": .moment(at), "granted": .list(grantedScopes), "declined": .list(declinedScopes),
            "account": .text(accountID), "problem": problem?.stored,
        ])
    }

    fileprivate init?(stored: JSONValue) {
        guard let json = stored.object, let id = json["id"]?.integer, let at = json["at"]?.moment else { return nil }
        self.init(
            id: id, at: at, grantedScopes: json["granted"]?.strings ?? [],
            declinedScopes: json["declined"]?.strings ?? [], accountID: json["account"]?.string,
            problem: json["problem"].flatMap(Problem.init(stored:)))
    }
}

extension Problem {
    /// The stored form of a problem, for pages. The reason is left out, because it is only for the log of the server
    /// where the problem occurred.
    fileprivate var stored: JSONValue {
        let members: [String: JSONValue?] = [
            "code": .string(code.rawValue),
            "action": action.map { ["kind": .string($0.kind), "url": .string($0.url)] },
            "retry_after": retryAfter.map(JSONValue.integer),
            "number": numbers.isEmpty ? nil : .string(numbers.joined(separator: " ")),
            "error": .text(providerError), "words": .text(providerWords), "trace": .text(traceID),
            "time": .text(timestamp), "correlation": .text(correlationID),
        ]
        return .members(members.merging(detail.stored) { $1 })
    }

    fileprivate init?(stored: JSONValue) {
        guard let json = stored.object, let code = json["code"]?.string.flatMap(Code.init(rawValue:)),
            let detail = Message.restored(from: json)
        else { return nil }
        let action = json["action"]?.object
        self.init(
            code, detail,
            action: action?["kind"]?.string.flatMap { kind in
                action?["url"]?.string.map { Action(kind: kind, url: $0) }
            },
            retryAfter: json["retry_after"]?.integer, correlationID: json["correlation"]?.string)
        numbers = json["number"]?.string.map { $0.split(separator: " ").map(String.init) } ?? []
        providerError = json["error"]?.string
        providerWords = json["words"]?.string
        traceID = json["trace"]?.string
        timestamp = json["time"]?.string
    }
}
