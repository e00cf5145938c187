import CompanionCore
import Foundation
package import HTTPClient
package import OpenIDConnect
import Synchronization

/// Sends requests to identity providers. Each request carries the trace and is counted; a failure is recorded in the
/// log line of the request that caused it.
package final class ProviderClient: Sendable {
    /// The time that a person waits for a provider that may not respond.
    package static let patience: Duration = .seconds(3)

    private let client: HTTPClient
    private let metrics: Metrics
    /// The time of each host's last response.
    private let answers = Mutex<[String: ContinuousClock.Instant]>([:])
    private let questions = SingleFlight<String, Void>()
    private let methods = SecretMethods()
    private let now: @Sendable () -> Date

    /// - Parameter now: a monotonic clock.
    init(client: HTTPClient, metrics: Metrics, now: @escaping @Sendable () -> Date) {
        self.client = client
        self.metrics = metrics
        self.now = now
    }

    /// Returns the provider's response, whatever its status. A request with the client's secret may be sent twice
    /// (``SecretMethods``).
    ///
    /// - Throws: ``OpenIDError`` `provider_unavailable` if there is no response.
    package func send(_ request: ProviderRequest, timeout: Duration? = nil) async throws(OpenIDError)
        -> ProviderResponse
    {
        try await methods.send(request, now: now()) { request throws(OpenIDError) in
            try await sendOnce(request, timeout: timeout)
        }
    }

    private func sendOnce(_ request: ProviderRequest, timeout: Duration?) async throws(OpenIDError)
        -> ProviderResponse
    {
        var request = request
        RequestContext.current?.mark(&request.head.headerFields)
        let host = request.head.authority ?? "-"
        let start = ContinuousClock.now
        do throws(HTTPClientError) {
            let answer = try await client.send(request, timeout: timeout)
            metrics.provider(host, answer.head, took: start.duration(to: .now))
            RequestContext.current?.note(
                answer.head.status, retryAfter: answer.head.headerFields[.retryAfter], of: .provider)
            if answer.head.status.kind != .serverError { answers.withLock { $0[host] = .now } }
            return answer
        } catch {
            metrics.provider(host, nil, took: start.duration(to: .now), failure: error.description)
            RequestContext.current?.note(cause: error.description)
            throw ProviderClient.unreachable
        }
    }

    /// Whether the provider of a request has answered any request since a time.
    func hasAnswered(_ request: ProviderRequest, since start: ContinuousClock.Instant) -> Bool {
        answers.withLock { $0[request.head.authority ?? "-"] }.map { $0 > start } ?? false
    }

    /// Checks that a provider responds right now. Earlier results may be hours old, and a browser sent to a page that
    /// does not load shows its own error page, without a way back. Concurrent checks share one request, so that no
    /// client can make the server contact a provider often.
    ///
    /// - Parameter start: a response that arrived after this time is recent enough.
    /// - Throws: ``OpenIDError`` `provider_unavailable` if there is no response, or the provider's error.
    func requireAnswer(of authority: Authority, since start: ContinuousClock.Instant = .now) async throws {
        let request = authority.discoveryRequest
        let host = request.head.authority ?? "-"
        if let last = answers.withLock({ $0[host] }), last >= start { return }
        try await questions.run(host) {
            let answer = try await self.send(request, timeout: ProviderClient.patience)
            guard answer.head.status.kind != .serverError else { throw ProviderClient.unreachable }
        }
    }

    /// The error if no response arrived in time.
    package static var unreachable: OpenIDError {
        OpenIDError(unreachable: "The identity provider cannot be reached. Try again in a moment.")
    }
}

extension HTTPClient {
    /// Sends a request that `OpenIDConnect` has built.
    package func send(
        _ request: ProviderRequest, timeout: Duration? = nil
    ) async throws(HTTPClientError) -> ProviderResponse {
        let answer = try await send(request.head, body: request.body, timeout: timeout)
        return ProviderResponse(head: answer.head, body: answer.body)
    }
}
