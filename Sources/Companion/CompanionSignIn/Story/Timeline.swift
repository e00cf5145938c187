package import CompanionCore
package import Foundation
package import SessionStore
package import WebFormats

/// One step of a flow, as `/api/{app}/events` returns it. It contains no secret: no token, code, state or claim.
package struct TimelineEvent: Sendable {
    /// The end of the step.
    package let time: Date
    /// `authorize`, `callback`, `token`, `api` or `sign_out`.
    package let step: String
    /// `ok`; for a token also `cache` or `refreshed`; of an API's first answer also `claims_challenge`; otherwise the
    /// error's code, or `http_` with the status.
    package let outcome: String
    /// The URL without its query, which may contain secrets.
    package let endpoint: String?
    /// The number in ``AttemptHistory`` of the interactive sign-in that the step belongs to.
    package let attempt: Int?
    /// The duration in milliseconds; nil for a step without one.
    let durationMilliseconds: Int?
    /// The identifier from the provider or Graph, or else ours.
    package let correlationID: String?
    /// The provider's error; nil if it sent none.
    let refusal: Refusal?

    /// The parts of an error response (RFC 6749, section 5.2) that anyone may know.
    struct Refusal: Sendable, Equatable {
        let error: String
        /// The platform's number, as `AADSTS50076`.
        let number: String?
    }

    /// The estimated memory use in bytes, including the array's doubling.
    package var bytes: Int {
        var bytes = MemoryLayout<TimelineEvent>.stride * 3 / 2 + step.heapBytes + outcome.heapBytes
        bytes += (endpoint?.heapBytes ?? 0) + (correlationID?.heapBytes ?? 0)
        bytes += (refusal?.error.heapBytes ?? 0) + (refusal?.number?.heapBytes ?? 0)
        return bytes
    }
}

extension TimelineEvent {
    /// The JSON for pages. The time is formatted only here, because most steps are never read and formatting costs more
    /// than everything else about them.
    package var json: JSONValue {
        .members([
            "time": .string(Timeline.text(time)), "step": .string(step), "outcome": .string(outcome),
            "endpoint": .text(endpoint), "attempt": attempt.map(JSONValue.integer),
            "duration_ms": durationMilliseconds.map(JSONValue.integer), "correlation_id": .text(correlationID),
            "error": .text(refusal?.error), "error_number": .text(refusal?.number),
        ])
    }
}

/// A step to record, which usually ends now.
package struct TimelineStep {
    package let name: String
    package let outcome: String
    package let endpoint: String?
    package let attempt: Int?
    package let start: ContinuousClock.Instant?
    package let correlationID: String?
    package let end: Date?
    let refusal: TimelineEvent.Refusal?

    /// - Parameters:
    ///   - endpoint: a URL, which is stored without its query.
    ///   - attempt: the number of the interactive sign-in that the step belongs to.
    ///   - start: the start; nil for a step without a duration.
    ///   - correlationID: the identifier from the provider or Graph; nil uses ours.
    ///   - end: the end; nil means now.
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
        refusal = nil
    }

    /// A step that ended with a problem.
    package init(
        _ name: String, _ problem: Problem, at endpoint: String? = nil, attempt: Int? = nil,
        since start: ContinuousClock.Instant?
    ) {
        self.name = name
        outcome = problem.code.rawValue
        self.endpoint = endpoint
        self.attempt = attempt
        self.start = start
        correlationID = problem.correlationID
        end = nil
        refusal = problem.providerError.map { TimelineEvent.Refusal(error: $0, number: problem.numbers.first) }
    }
}

/// The recent steps of each session, kept in memory for an hour.
package final class Timeline: Sendable {
    /// Steps that occur only after a sign-in.
    private static let stepsOfSignedIn: Set<String> = ["token", "api"]
    /// A provider's identifier can be any text; ours and Microsoft's have 36 characters.
    private static let maxIdentifierCharacters = 64
    private let memory: SessionMemory

    package init(memory: SessionMemory) {
        self.memory = memory
    }

    /// Records a step. Beyond the limits the oldest step, or the oldest session's steps, are removed.
    package func record(_ step: TimelineStep, of session: SessionKey, app: String) {
        let event = TimelineEvent(
            time: step.end ?? memory.now(), step: step.name, outcome: step.outcome,
            endpoint: step.endpoint.map(Timeline.withoutQuery), attempt: step.attempt,
            durationMilliseconds: step.start.map { Int(($0.duration(to: .now)) / .milliseconds(1)) },
            correlationID: (step.correlationID ?? RequestContext.current?.correlationID).map {
                // In ASCII a character is one byte.
                $0.utf8.count <= Timeline.maxIdentifierCharacters
                    ? $0 : String($0.prefix(Timeline.maxIdentifierCharacters))
            }, refusal: step.refusal)
        memory.note(
            .step(event), of: session, app: app, isSignedIn: Timeline.stepsOfSignedIn.contains(step.name))
    }

    /// Returns a URL without its query, which may contain secrets.
    static func withoutQuery(_ url: String) -> String {
        url.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(url[..<$0]) } ?? url
    }

    /// Returns a time in RFC 3339 format in UTC, to the millisecond.
    package static func text(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
    }
}
