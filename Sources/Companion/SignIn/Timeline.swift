import Foundation
import SessionStore

/// One step of a flow, as `/api/{app}/events` returns it. Holds nothing secret: no token, code, state or claim.
public struct TimelineEvent: Sendable, Codable, Equatable {
    /// When the step ended, RFC 3339.
    public var time: String
    /// `authorize`, `callback`, `token`, `api` or `sign_out`.
    public var step: String
    /// `ok`; for a token also `cache` or `refreshed`; else the error's code.
    public var outcome: String
    /// Where the step happened: a URL without its query, which may hold secrets.
    public var endpoint: String?
    /// The interactive sign-in that the step belongs to, by its number in ``AttemptHistory``.
    public var attempt: Int?
    /// How long the step took, in milliseconds; nil for a step that is a moment.
    public var durationMilliseconds: Int?
    /// The identifier that the provider or Graph gave, else ours.
    public var correlationID: String?

    /// An estimate of the memory that it takes, in bytes; an array grows by doubling.
    var bytes: Int {
        [time, step, outcome, endpoint, correlationID].reduce(MemoryLayout<TimelineEvent>.stride * 3 / 2) {
            $0 + ($1?.heapBytes ?? 0)
        }
    }

    enum CodingKeys: String, CodingKey {
        case time, step, outcome, endpoint, attempt
        case durationMilliseconds = "duration_ms"
        case correlationID = "correlation_id"
    }
}

/// A step that ends now.
struct TimelineStep {
    let name: String
    let outcome: String
    let endpoint: String?
    let attempt: Int?
    let start: ContinuousClock.Instant?
    let correlationID: String?

    /// - Parameters:
    ///   - endpoint: a URL, which is kept without its query.
    ///   - attempt: the interactive sign-in that it belongs to.
    ///   - start: when it began; nil for a step that is a moment.
    ///   - correlationID: the provider's or Graph's; nil takes ours.
    init(
        _ name: String, outcome: String = "ok", at endpoint: String? = nil, attempt: Int? = nil,
        since start: ContinuousClock.Instant? = nil, correlationID: String? = nil
    ) {
        self.name = name
        self.outcome = outcome
        self.endpoint = endpoint
        self.attempt = attempt
        self.start = start
        self.correlationID = correlationID
    }
}

/// The last steps of each session, in memory for an hour: what just happened matters now and not after a restart.
final class Timeline: Sendable {
    /// Steps that only follow a sign-in.
    private static let stepsOfSignedIn: Set<String> = ["token", "api"]
    /// A provider's identifier may be anything; ours and Microsoft's have 36 characters.
    private static let maxIdentifierCharacters = 64
    private let memory: SessionMemory

    init(memory: SessionMemory) {
        self.memory = memory
    }

    /// Adds a step; the oldest step, or the oldest session's steps, make room.
    func record(_ step: TimelineStep, of session: SessionKey, app: String) {
        let event = TimelineEvent(
            time: Timeline.text(memory.now()), step: step.name, outcome: step.outcome,
            endpoint: step.endpoint.map { String($0.prefix { $0 != "?" }) }, attempt: step.attempt,
            durationMilliseconds: step.start.map { Int(($0.duration(to: .now)) / .milliseconds(1)) },
            correlationID: (step.correlationID ?? RequestContext.current?.correlationID).map {
                String($0.prefix(Timeline.maxIdentifierCharacters))
            })
        memory.change(session, isSignedIn: Timeline.stepsOfSignedIn.contains(step.name)) { $0.add(event, of: app) }
    }

    /// RFC 3339 in UTC, to the millisecond.
    static func text(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
    }

    /// The steps of one session with one application, oldest first.
    func events(of session: SessionKey, app: String) -> [TimelineEvent] {
        memory.notes(of: session)?.events[app] ?? []
    }
}
