import Foundation
package import HTTPTypes
package import HTTPWire
package import SessionStore
import Synchronization
import WebFormats

/// What is known of one request from its begin to its log line, wherever its work goes on: its identifiers, and what
/// went wrong.
package final class RequestContext: Sendable {
    /// The request for which the present task works.
    @TaskLocal package static var current: RequestContext?

    private struct Notes {
        var correlationID: String?
        var problem: Problem?
        var cause: String?
        var upstreamCode: Problem.Code?
        var ended: Int?
        var session: SessionKey?
    }

    /// Our identifier of this request, for logs, errors and Graph. It is made when somebody first asks for it, which for most
    /// requests nobody does.
    package var correlationID: String {
        notes.withLock { notes in
            if let known = notes.correlationID { return known }
            let made = RandomUUID.text(SessionStore.secureRandomBytes(16))
            notes.correlationID = made
            return made
        }
    }

    /// The trace that the client began.
    private let parent: TraceParent?
    private let notes = Mutex(Notes())

    package init(_ head: RequestHead) {
        parent = TraceParent(head)
    }

    /// The trace: the client's, else one of the same digits as the correlation id, so that either leads to the other.
    private var trace: TraceParent {
        parent ?? TraceParent(traceID: correlationID.filter { $0 != "-" }, isSampled: false)
    }

    /// The trace's identifier.
    package var traceID: String { trace.traceID }

    /// Marks a request to a provider or an API as part of this one.
    package func mark(_ fields: inout HTTPFields) {
        fields[.traceparent] = trace.child()
    }

    /// Keeps what the request ends with, for its log line.
    package func note(_ problem: Problem) {
        notes.withLock { $0.problem = problem }
    }

    /// Keeps why a provider could not do something, also where the request goes on without it. No secret, nothing
    /// personal.
    package func note(cause: String) {
        notes.withLock { $0.cause = cause }
    }

    /// Who answers what this request needs.
    package enum Upstream: String {
        case provider = "the provider"
        case api = "the API"
    }

    /// Keeps that a provider or an API answered that it cannot, or not so often, also where the request goes on without it.
    /// The API's answer is passed on as it is: then the log line alone has our code for it.
    package func note(_ status: HTTPResponse.Status, retryAfter: String?, of upstream: Upstream) {
        let isThrottled = status == .tooManyRequests
        guard isThrottled || status.kind == .serverError else { return }
        let pause = retryAfter.map { ", Retry-After: \($0.prefix(40))" } ?? ""
        notes.withLock {
            $0.cause = "\(upstream.rawValue) answered \(status.code)\(pause)"
            if upstream == .api { $0.upstreamCode = isThrottled ? .throttled : .apiUnavailable }
        }
    }

    /// Keeps how many accounts the provider has signed out.
    package func note(endedAccounts count: Int) {
        notes.withLock { $0.ended = count }
    }

    /// Keeps which session it is of.
    package func note(session: SessionKey) {
        notes.withLock { $0.session = session }
    }

    /// What went wrong, if anything did.
    package var problem: Problem? { notes.withLock { $0.problem } }
    package var cause: String? { notes.withLock { $0.cause } }
    package var upstreamCode: Problem.Code? { notes.withLock { $0.upstreamCode } }
    package var endedAccounts: Int? { notes.withLock { $0.ended } }
    package var session: SessionKey? { notes.withLock { $0.session } }
}
