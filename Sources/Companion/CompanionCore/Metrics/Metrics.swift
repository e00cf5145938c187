package import Foundation
package import HTTPClient
package import HTTPServer
package import HTTPTypes
package import SessionStore

/// All counters of a running server. Recording takes no lock. Labels have only values that are known when the server
/// starts.
package final class Metrics: Sendable {
    package let families: MetricsFamilies
    package let providers: ProviderFacts
    private let apps: [String: Int]

    /// - Parameters:
    ///   - applications: the applications, whose IDs become values of a label.
    ///   - routes: the names of routes, indexed by the number in a request's mark.
    ///   - workers: the number of workers of the event loop.
    ///   - now: the wall clock.
    package init(applications: [Application], routes: [String], workers: Int, now: @escaping @Sendable () -> Date) {
        apps = Dictionary(applications.enumerated().map { ($1.id, $0) }) { first, _ in first }
        providers = ProviderFacts(applications: applications, now: now)
        families = MetricsFamilies(
            apps: applications.map(\.id), providers: providers.hosts, routes: routes, workers: workers)
    }

    /// Returns the application's index; -1 if it is not configured, and nothing is counted.
    private func place(_ app: String) -> Int { apps[app] ?? -1 }

    // MARK: Requests

    /// Counts one request with its response.
    package func request(_ summary: RequestSummary) {
        let row = families.requests.row
        families.requests.add(
            summary.mark.number, MethodLabel.place(summary.method), StatusLabel.place(summary.status), row: row)
        families.requestTime.record(summary.duration, summary.mark.number, row: row)
    }

    /// Counts a request or a connection that exceeded a limit.
    package func limited(_ limit: Limit) {
        families.limited.add(Limit.allCases.firstIndex(of: limit) ?? -1)
    }

    /// Records the delay of an event loop timer.
    package func eventLoop(lag: Duration) {
        families.loopLag.record(lag)
    }

    // MARK: Sign-ins

    /// Counts a browser that goes to the provider.
    package func signInStarted(_ app: String, _ flow: SignInKind) {
        families.signInsStarted.add(place(app), SignInLabels.place(flow))
    }

    /// Counts a sign-in that has ended; no code means success.
    package func signInEnded(_ app: String, _ flow: SignInKind, _ code: Problem.Code? = nil) {
        families.signIns.add(place(app), SignInLabels.place(flow), SignInLabels.place(code))
    }

    // MARK: Tokens and the API

    /// Counts an access token that was cached or refreshed.
    package func token(_ app: String, _ source: TokenSource) {
        families.tokens.add(place(app), source == .cache ? 0 : 1)
    }

    /// Counts a call that has waited for another server's refresh.
    package func refreshWaited(hasEnded: Bool) {
        families.refreshWaits.add(hasEnded ? 0 : 1)
    }

    /// Counts a call for which no access token could be provided.
    package func tokenFailed(_ app: String, _ code: Problem.Code) {
        families.tokens.add(place(app), TokenLabels.place(code))
    }

    /// Records one call of an application's API.
    package func api(_ app: String, _ result: Result<HTTPResponse.Status, HTTPClientError>, took duration: Duration) {
        let row = families.apiRequests.row
        families.apiRequests.add(place(app), APILabels.place(result), row: row)
        families.apiTime.record(duration, place(app), row: row)
    }

    /// Counts a throttled API call: refused by the API, or held back by the companion during the API's Retry-After.
    package func apiThrottled(_ app: String, byCompanion: Bool) {
        families.apiThrottled.add(place(app), byCompanion ? 1 : 0)
    }

    // MARK: The provider

    /// Records one request to an identity provider; the response is nil if none arrived.
    ///
    /// - Parameter failure: the failure's description for operators.
    package func provider(_ host: String, _ answer: HTTPResponse?, took duration: Duration, failure: String? = nil) {
        let place = providers.place(host)
        let row = families.providerRequests.row
        families.providerRequests.add(place, ProviderLabels.place(answer?.status), row: row)
        families.providerTime.record(duration, place, row: row)
        providers.note(place, answer, failure: failure)
    }

    // MARK: The store

    /// Records one operation on the database.
    package func database(_ operation: StoreOperation) {
        let place = operation.kind == .read ? 0 : 1
        families.databaseTime.record(operation.duration, place)
        if operation.failed { families.databaseFailures.add(place) }
    }
}
