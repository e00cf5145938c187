import Foundation
import HTTPTypes
import HTTPWire
import Synchronization

/// What is known of one request from its begin to its log line, wherever its work goes on: its identifiers, and what
/// went wrong.
final class RequestContext: Sendable {
    /// The request for which the present task works.
    @TaskLocal static var current: RequestContext?

    private struct Notes {
        var problem: Problem?
        var cause: String?
        var upstreamCode: Problem.Code?
        var ended: Int?
    }

    /// Our identifier of this request, for logs, errors and Graph.
    let correlationID = UUID().uuidString.lowercased()
    /// The trace that the client began.
    private let parent: TraceParent?
    private let notes = Mutex(Notes())

    init(_ head: RequestHead) {
        parent = TraceParent(head)
    }

    /// The trace: the client's, else one of the same digits as the correlation id, so that either leads to the other.
    private var trace: TraceParent {
        parent ?? TraceParent(traceID: correlationID.filter { $0 != "-" }, isSampled: false)
    }

    /// The trace's identifier.
    var traceID: String { trace.traceID }

    /// Marks a request to a provider or an API as part of this one.
    func mark(_ fields: inout HTTPFields) {
        fields[.traceparent] = trace.child()
    }

    /// Keeps what the request ends with, for its log line.
    func note(_ problem: Problem) {
        notes.withLock { $0.problem = problem }
    }

    /// Keeps why a provider could not do something, also where the request goes on without it. No secret, nothing
    /// personal.
    func note(cause: String) {
        notes.withLock { $0.cause = cause }
    }

    /// Who answers what this request needs.
    enum Upstream: String {
        case provider = "the provider"
        case api = "the API"
    }

    /// Keeps that a provider or an API answered that it cannot, or not so often, also where the request goes on without it.
    /// The API's answer is passed on as it is: then the log line alone has our code for it.
    func note(_ answer: HTTPResponse, of upstream: Upstream) {
        let isThrottled = answer.status == .tooManyRequests
        guard isThrottled || answer.status.kind == .serverError else { return }
        let pause = answer.headerFields[.retryAfter].map { ", Retry-After: \($0.prefix(40))" } ?? ""
        notes.withLock {
            $0.cause = "\(upstream.rawValue) answered \(answer.status.code)\(pause)"
            if upstream == .api { $0.upstreamCode = isThrottled ? .throttled : .apiUnavailable }
        }
    }

    /// Keeps how many accounts the provider has signed out.
    func note(endedAccounts count: Int) {
        notes.withLock { $0.ended = count }
    }

    /// What went wrong, if anything did.
    var problem: Problem? { notes.withLock { $0.problem } }
    var cause: String? { notes.withLock { $0.cause } }
    var upstreamCode: Problem.Code? { notes.withLock { $0.upstreamCode } }
    var endedAccounts: Int? { notes.withLock { $0.ended } }
}
