import Foundation
import HTTPServer
import HTTPWire
import Synchronization
import TenantControl
import WebFormats

/// The latest requests of the clients, in memory.
final class ClientJournal: Sendable {
    static let maxCount = 500
    static let maxBytes = 1_048_576

    /// The requests of one client, newest first.
    struct Group: Sendable {
        /// Nil for requests that do not say who sent them, and that no correlation ID connects with one that does.
        let clientID: String?
        let requests: [ClientRequest]
        var library: String? { requests.lazy.compactMap(\.library).first }
    }

    struct Content: Sendable {
        /// The number of requests since the start, with those that were forgotten.
        var count = 0
        /// The newest is last.
        var requests: [ClientRequest] = []
        /// The first request that MSAL for iOS or macOS sent itself: its TLS handshake had succeeded.
        var firstFromApp: ClientRequest?
        fileprivate var bytes = 0
    }

    private let content = Mutex(Content())

    var now: Content { content.withLock { $0 } }

    /// Notes the error that the page of a sign-in shows, at the request that has begun it.
    func ended(_ correlationID: String, with error: String) {
        content.withLock { content in
            let began = content.requests.lastIndex { $0.step == .authorize && $0.correlationID == correlationID }
            if let began { content.requests[began].error = error }
        }
    }

    func add(_ request: ClientRequest) {
        content.withLock { content in
            content.count += 1
            var request = request
            request.isRetry = content.requests.last { $0.isOfCall(of: request) }?.isRepeated(by: request) ?? false
            content.requests.append(request)
            content.requests[content.requests.count - 1].position = content.count
            content.bytes += request.cost
            if request.isFromApp, content.firstFromApp == nil { content.firstFromApp = request }
            while content.requests.count > Self.maxCount || content.bytes > Self.maxBytes {
                content.bytes -= content.requests.removeFirst().cost
            }
        }
    }
}

extension ClientJournal.Content {
    /// The requests by client, the one that was heard last first. MSAL gives all requests of a sign-in one correlation
    /// ID, so that a request without a client ID belongs to the client of another one.
    var groups: [ClientJournal.Group] {
        let known = Dictionary(
            requests.compactMap { request in
                request.correlationID.flatMap { id in request.clientID.map { (id, $0) } }
            }
        ) { $1 }
        let groups = Dictionary(grouping: requests.reversed()) { request in
            request.clientID ?? request.correlationID.flatMap { known[$0] }
        }
        return groups.map { ClientJournal.Group(clientID: $0, requests: $1) }
            .sorted { ($0.requests.first?.position ?? 0) > ($1.requests.first?.position ?? 0) }
    }
}

extension ClientsHandler {
    /// Answers a request, and notes it if it is a client's.
    func answer(_ request: Request, _ body: (Request) async -> Response) async -> Response {
        let fields = request.parameters
        let note = ClientNote()
        guard let step = ClientStep(request, fields) else {
            let response = await ClientNote.$current.withValue(note) { await body(request) }
            // The page of an error at which the sign-in of an earlier request has ended.
            if let id = note.now.correlationID, let error = note.now.error { journal.ended(id, with: error) }
            return response
        }
        let (time, start) = (clock.now(), ContinuousClock.now)
        let response = await ClientNote.$current.withValue(note) { await body(request) }
        let duration = ContinuousClock.now - start
        var entry = ClientRequest(
            request, fields, step: step, note: note.now, status: response.isWithheld ? nil : response.status.code,
            retryAfter: response.headerFields[.retryAfter].flatMap { Int($0) }, time: time,
            milliseconds: Int(duration / .milliseconds(1)), isRegistered: { registrations.client(id: $0) != nil })
        let isNative = entry.clientID.flatMap { registrations.client(id: $0) }?.hasNativeAuthentication == true
        if step == .native || step == .refresh && isNative,
            let endpoint = ClientStep.nativeEndpoint(request.head.path.prefix { $0 != "?" }.lowercased())
        {
            let answer = NativeAnswer(status: entry.status ?? 0, body: response.body)
            entry.native = NativeExchange(endpoint, fields, at: note.now.nativePoint, answer)
        }
        journal.add(entry)
        return response
    }
}
