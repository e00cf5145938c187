import Foundation
import Synchronization

/// One step of a flow, as `/api/{app}/events` tells it. Holds nothing secret: no token, code, state or claim.
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

    enum CodingKeys: String, CodingKey {
        case time, step, outcome, endpoint, attempt
        case durationMilliseconds = "duration_ms"
        case correlationID = "correlation_id"
    }
}

/// The last steps of each session, in memory: what just happened matters now and not after a restart.
final class Timeline: Sendable {
    private struct Key: Hashable {
        var session: Int64
        var app: String
    }
    private struct State {
        var events: [Key: [TimelineEvent]] = [:]
        var order: [Key] = []
    }

    private static let maxEvents = 50
    private static let maxTimelines = 10_000
    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Adds a step; the oldest step, or the oldest session's steps, make room.
    func record(
        session: Int64, app: String, step: String, outcome: String = "ok", at endpoint: String? = nil,
        attempt: Int? = nil, since start: ContinuousClock.Instant? = nil, correlationID: String? = nil
    ) {
        let event = TimelineEvent(
            time: Timeline.text(now()), step: step, outcome: outcome,
            endpoint: endpoint.map { String($0.prefix { $0 != "?" }) }, attempt: attempt,
            durationMilliseconds: start.map { Int(($0.duration(to: .now)) / .milliseconds(1)) },
            correlationID: correlationID)
        let key = Key(session: session, app: app)
        state.withLock { state in
            if state.events[key] == nil {
                if state.order.count >= Timeline.maxTimelines { state.events[state.order.removeFirst()] = nil }
                state.order.append(key)
            }
            state.events[key, default: []].append(event)
            if let count = state.events[key]?.count, count > Timeline.maxEvents { state.events[key]?.removeFirst() }
        }
    }

    /// RFC 3339 in UTC, to the millisecond.
    static func text(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
    }

    /// Forgets a session's steps: on a shared device the next person is another.
    func forget(session: Int64) {
        state.withLock { state in
            state.order.removeAll { $0.session == session }
            state.events = state.events.filter { $0.key.session != session }
        }
    }

    /// The steps of one session with one application, oldest first.
    func events(session: Int64, app: String) -> [TimelineEvent] {
        state.withLock { $0.events[Key(session: session, app: app)] ?? [] }
    }
}
