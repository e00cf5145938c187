import CompanionCore
package import HTTPClient
package import OpenIDConnect
import Synchronization

/// Requests to identity providers: each carries the trace on, is counted, and when it fails says why in the line of the
/// request that it was made for.
package final class ProviderClient: Sendable {
    /// How long a person waits for a provider that may not be there.
    package static let patience: Duration = .seconds(3)

    private let client: HTTPClient
    private let metrics: Metrics
    /// When each host answered last.
    private let answers = Mutex<[String: ContinuousClock.Instant]>([:])
    private let questions = SingleFlight<String, Void>()

    init(client: HTTPClient, metrics: Metrics) {
        self.client = client
        self.metrics = metrics
    }

    /// The provider's answer, whatever its status.
    ///
    /// - Throws: ``OpenIDError`` `provider_unavailable` when no answer comes.
    package func send(_ request: ProviderRequest, timeout: Duration? = nil) async throws(OpenIDError)
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

    /// Asks whether a provider answers right now. What is known of it may be hours old, and a browser that goes to a page
    /// which does not come ends on a page of its own, without a way back. Many who ask at once are one question, so that
    /// nobody can have a provider asked often.
    ///
    /// - Parameter start: an answer that came later than this is good enough.
    /// - Throws: ``OpenIDError`` `provider_unavailable` when no answer comes, or an error of the provider's.
    func requireAnswer(of authority: Authority, since start: ContinuousClock.Instant = .now) async throws {
        let request = authority.discoveryRequest
        let host = request.head.authority ?? "-"
        if let last = answers.withLock({ $0[host] }), last >= start { return }
        try await questions.run(host) {
            let answer = try await self.send(request, timeout: ProviderClient.patience)
            guard answer.head.status.kind != .serverError else { throw ProviderClient.unreachable }
        }
    }

    /// No answer came, or not in time.
    static var unreachable: OpenIDError {
        OpenIDError(unreachable: "The identity provider cannot be reached. Try again in a moment.")
    }
}

extension HTTPClient {
    /// Sends what `OpenIDConnect` has put together.
    package func send(
        _ request: ProviderRequest, timeout: Duration? = nil
    ) async throws(HTTPClientError) -> ProviderResponse {
        let answer = try await send(request.head, body: request.body, timeout: timeout)
        return ProviderResponse(head: answer.head, body: answer.body)
    }
}
