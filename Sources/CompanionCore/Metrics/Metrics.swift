package import Foundation
package import HTTPClient
package import HTTPServer
package import HTTPTypes
package import SessionStore

/// Everything that is counted while the companion runs. Recording takes no lock; labels have only the values that are
/// known when the server starts.
package final class Metrics: Sendable {
    package let families: MetricsFamilies
    package let providers: ProviderFacts
    private let apps: [String: Int]

    /// - Parameters:
    ///   - applications: whose ids become values of a label.
    ///   - routes: the names of routes, by the number that a request's mark has.
    ///   - workers: how many workers the event loop has.
    ///   - now: the wall clock.
    package init(applications: [Application], routes: [String], workers: Int, now: @escaping @Sendable () -> Date) {
        apps = Dictionary(applications.enumerated().map { ($1.id, $0) }) { first, _ in first }
        providers = ProviderFacts(applications: applications, now: now)
        families = MetricsFamilies(
            apps: applications.map(\.id), providers: providers.hosts, routes: routes, workers: workers)
    }

    /// The place of an application that is not configured is none: nothing is counted.
    private func place(_ app: String) -> Int { apps[app] ?? -1 }

    // MARK: Requests

    /// One answered request.
    package func request(_ summary: RequestSummary) {
        let row = families.requests.row
        families.requests.add(
            summary.mark.number, MethodLabel.place(summary.method), StatusLabel.place(summary.status), row: row)
        families.requestTime.record(summary.duration, summary.mark.number, row: row)
    }

    /// A request or a connection too many.
    package func limited(_ limit: Limit) {
        families.limited.add(Limit.allCases.firstIndex(of: limit) ?? -1)
    }

    /// How late a timer of the event loop was.
    package func eventLoop(lag: Duration) {
        families.loopLag.record(lag)
    }

    // MARK: Sign-ins

    /// A browser goes to the provider.
    package func signInStarted(_ app: String, _ flow: SignInKind) {
        families.signInsStarted.add(place(app), SignInLabels.place(flow))
    }

    /// A sign-in ended; without a code it succeeded.
    package func signInEnded(_ app: String, _ flow: SignInKind, _ code: Problem.Code? = nil) {
        families.signIns.add(place(app), SignInLabels.place(flow), SignInLabels.place(code))
    }

    // MARK: Tokens and the API

    /// An access token was found or renewed.
    package func token(_ app: String, _ source: TokenSource) {
        families.tokens.add(place(app), source == .cache ? 0 : 1)
    }

    /// A call has waited for another server's renewal.
    package func refreshWaited(hasEnded: Bool) {
        families.refreshWaits.add(hasEnded ? 0 : 1)
    }

    /// There is no access token.
    package func tokenFailed(_ app: String, _ code: Problem.Code) {
        families.tokens.add(place(app), TokenLabels.place(code))
    }

    /// One call of an application's API.
    package func api(_ app: String, _ result: Result<HTTPResponse.Status, HTTPClientError>, took duration: Duration) {
        let row = families.apiRequests.row
        families.apiRequests.add(place(app), APILabels.place(result), row: row)
        families.apiTime.record(duration, place(app), row: row)
    }

    /// An API is asked too often: it said so itself, or the companion waits because it had said so.
    package func apiThrottled(_ app: String, byCompanion: Bool) {
        families.apiThrottled.add(place(app), byCompanion ? 1 : 0)
    }

    // MARK: The provider

    /// One request to an identity provider; nil when no answer came.
    ///
    /// - Parameter failure: what an operator may read about it.
    package func provider(_ host: String, _ answer: HTTPResponse?, took duration: Duration, failure: String? = nil) {
        let place = providers.place(host)
        let row = families.providerRequests.row
        families.providerRequests.add(place, ProviderLabels.place(answer?.status), row: row)
        families.providerTime.record(duration, place, row: row)
        providers.note(place, answer, failure: failure)
    }

    // MARK: The store

    /// One operation on the database.
    package func database(_ operation: StoreOperation) {
        let place = operation.kind == .read ? 0 : 1
        families.databaseTime.record(operation.duration, place)
        if operation.failed { families.databaseFailures.add(place) }
    }
}
