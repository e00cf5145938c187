package import HTTPTypes
package import HTTPWire
package import SessionStore
import Synchronization
import WebFormats

/// The context of one request from its start to its log line, also in tasks that it starts: its identifiers, and the
/// problems that occurred.
package final class RequestContext: Sendable {
    /// The context of the request that the current task works for.
    @TaskLocal package static var current: RequestContext?

    private struct Notes {
        var correlationID: String?
        var problem: Problem?
        var cause: String?
        var upstreamCode: Problem.Code?
        var ended: Int?
        var session: SessionKey?
    }

    /// This server's identifier of the request, for logs, errors and Graph. It is generated at its first use, because
    /// most requests never need it.
    package var correlationID: String {
        notes.withLock { notes in
            if let known = notes.correlationID { return known }
            let made = RandomUUID.text(SessionStore.secureRandomBytes(16))
            notes.correlationID = made
            return made
        }
    }

    /// The trace context from the client.
    private let parent: TraceParent?
    private let notes = Mutex(Notes())

    package init(_ head: RequestHead) {
        parent = TraceParent(head)
    }

    /// The trace: the client's, or one with the correlation ID's digits, so that each can be found from the other.
    private var trace: TraceParent {
        // By bytes: it is asked for with each call of an API and each line of the log.
        parent
            ?? TraceParent(
                traceID: String(decoding: correlationID.utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self),
                isSampled: false)
    }

    /// The trace's identifier.
    package var traceID: String { trace.traceID }

    /// Adds the trace to the header fields of a request to a provider or an API.
    package func mark(_ fields: inout HTTPFields) {
        fields[.traceparent] = trace.child()
    }

    /// Records the problem with which the request ends, for its log line.
    package func note(_ problem: Problem) {
        notes.withLock { $0.problem = problem }
    }

    /// Records why a provider failed, even if the request continues without it. The text must contain no secrets or
    /// personal data.
    package func note(cause: String) {
        notes.withLock { $0.cause = cause }
    }

    /// The service that a request depends on.
    package enum Upstream: String {
        case provider = "the provider"
        case api = "the API"
    }

    /// Records that a provider or an API failed or throttled the request, even if the request continues without it.
    /// The API's response is passed on unchanged, so only the log line has our code for it.
    package func note(_ status: HTTPResponse.Status, retryAfter: String?, of upstream: Upstream) {
        let isThrottled = status == .tooManyRequests
        guard isThrottled || status.kind == .serverError else { return }
        let pause = retryAfter.map { ", Retry-After: \($0.prefix(40))" } ?? ""
        notes.withLock {
            $0.cause = "\(upstream.rawValue) answered \(status.code)\(pause)"
            if upstream == .api { $0.upstreamCode = isThrottled ? .throttled : .apiUnavailable }
        }
    }

    /// Records the number of accounts that the provider has signed out.
    package func note(endedAccounts count: Int) {
        notes.withLock { $0.ended = count }
    }

    /// Records the session of the request.
    package func note(session: SessionKey) {
        notes.withLock { $0.session = session }
    }

    /// The recorded problem, if any.
    package var problem: Problem? { notes.withLock { $0.problem } }
    package var cause: String? { notes.withLock { $0.cause } }
    package var upstreamCode: Problem.Code? { notes.withLock { $0.upstreamCode } }
    package var endedAccounts: Int? { notes.withLock { $0.ended } }
    package var session: SessionKey? { notes.withLock { $0.session } }
}
