import CompanionCore
package import Foundation
package import SessionStore
package import WebFormats

/// One step of a flow, as `/api/{app}/events` returns it. Holds nothing secret: no token, code, state or claim.
package struct TimelineEvent: Sendable {
    /// When the step ended.
    package let time: Date
    /// `authorize`, `callback`, `token`, `api` or `sign_out`.
    package let step: String
    /// `ok`; for a token also `cache` or `refreshed`; else the error's code.
    package let outcome: String
    /// Where the step happened: a URL without its query, which may hold secrets.
    package let endpoint: String?
    /// The interactive sign-in that the step belongs to, by its number in ``AttemptHistory``.
    package let attempt: Int?
    /// How long the step took, in milliseconds; nil for a step that is a moment.
    let durationMilliseconds: Int?
    /// The identifier that the provider or Graph gave, else ours.
    package let correlationID: String?

    /// An estimate of the memory that it takes, in bytes; an array grows by doubling.
    package var bytes: Int {
        var bytes = MemoryLayout<TimelineEvent>.stride * 3 / 2 + step.heapBytes + outcome.heapBytes
        bytes += (endpoint?.heapBytes ?? 0) + (correlationID?.heapBytes ?? 0)
        return bytes
    }
}

extension TimelineEvent {
    /// As pages get it. The time becomes text here: most steps are never read, and the text costs more than all else of them.
    package var json: JSONValue {
        .members([
            "time": .string(Timeline.text(time)), "step": .string(step), "outcome": .string(outcome),
            "endpoint": .text(endpoint), "attempt": attempt.map(JSONValue.integer),
            "duration_ms": durationMilliseconds.map(JSONValue.integer), "correlation_id": .text(correlationID),
        ])
    }
}

/// A step, as a rule one that ends now.
package struct TimelineStep {
    package let name: String
    package let outcome: String
    package let endpoint: String?
    package let attempt: Int?
    package let start: ContinuousClock.Instant?
    package let correlationID: String?
    package let end: Date?

    /// - Parameters:
    ///   - endpoint: a URL, which is kept without its query.
    ///   - attempt: the interactive sign-in that it belongs to.
    ///   - start: when it began; nil for a step that is a moment.
    ///   - correlationID: the provider's or Graph's; nil takes ours.
    ///   - end: when it ended; nil is now.
    package init(
        _ name: String, outcome: String = "ok", at endpoint: String? = nil, attempt: Int? = nil,
        since start: ContinuousClock.Instant? = nil, correlationID: String? = nil, ending end: Date? = nil
    ) {
        self.name = name
        self.outcome = outcome
        self.endpoint = endpoint
        self.attempt = attempt
        self.start = start
        self.correlationID = correlationID
        self.end = end
    }
}

/// The last steps of each session, for an hour: what just happened matters now and not after a restart.
package final class Timeline: Sendable {
    /// Steps that only follow a sign-in.
    private static let stepsOfSignedIn: Set<String> = ["token", "api"]
    /// A provider's identifier may be anything; ours and Microsoft's have 36 characters.
    private static let maxIdentifierCharacters = 64
    private let memory: SessionMemory

    package init(memory: SessionMemory) {
        self.memory = memory
    }

    /// Adds a step; the oldest step, or the oldest session's steps, make room.
    package func record(_ step: TimelineStep, of session: SessionKey, app: String) {
        let event = TimelineEvent(
            time: step.end ?? memory.now(), step: step.name, outcome: step.outcome,
            endpoint: step.endpoint.map(Timeline.withoutQuery), attempt: step.attempt,
            durationMilliseconds: step.start.map { Int(($0.duration(to: .now)) / .milliseconds(1)) },
            correlationID: (step.correlationID ?? RequestContext.current?.correlationID).map {
                // Of ASCII a character is a byte.
                $0.utf8.count <= Timeline.maxIdentifierCharacters
                    ? $0 : String($0.prefix(Timeline.maxIdentifierCharacters))
            })
        memory.note(
            .step(event), of: session, app: app, isSignedIn: Timeline.stepsOfSignedIn.contains(step.name))
    }

    /// A URL as the timeline has it: its query may hold secrets.
    static func withoutQuery(_ url: String) -> String {
        url.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(url[..<$0]) } ?? url
    }

    /// RFC 3339 in UTC, to the millisecond.
    package static func text(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
    }
}
