import SessionStore

/// The families of ``Metrics`` with their names, in the order of the output.
package struct MetricsFamilies: Sendable {
    let requests: CounterFamily
    let requestTime: HistogramFamily
    let signInsStarted: CounterFamily
    let signIns: CounterFamily
    let tokens: CounterFamily
    let providerRequests: CounterFamily
    let providerTime: HistogramFamily
    let apiRequests: CounterFamily
    let apiTime: HistogramFamily
    let apiThrottled: CounterFamily
    let databaseTime: HistogramFamily
    let databaseFailures: CounterFamily
    let refreshWaits: CounterFamily
    let loopLag: HistogramFamily
    let limited: CounterFamily

    /// - Parameters:
    ///   - apps: the applications' IDs.
    ///   - providers: the providers' hosts.
    ///   - routes: the names of routes by their number.
    ///   - workers: the number of workers of the event loop.
    init(apps: [String], providers: [String], routes: [String], workers: Int) {
        let app = MetricLabel("app", apps)
        let provider = MetricLabel("provider", providers)
        let route = MetricLabel("route", routes)
        let operation = MetricLabel("operation", StoreOperation.Kind.allCases.map(\.rawValue))
        let flows = SignInLabels.flows.values.count
        let results = SignInLabels.results.values.count
        let tokenResults = TokenLabels.results.values.count
        requests = CounterFamily(
            "companion_http_requests_total", "Requests, by route, method and status.",
            [route, MetricLabel("method", MethodLabel.values), MetricLabel("status", StatusLabel.values)],
            workers: workers)
        requestTime = HistogramFamily(
            "companion_http_request_duration_seconds",
            "Time from the end of a request's head to passing its response to the kernel.", route, workers: workers)
        signInsStarted = CounterFamily(
            "companion_sign_ins_started_total", "Browsers sent to the identity provider.", [app, SignInLabels.flows],
            workers: workers, isWrittenAtZero: { $0 % flows == 0 })
        signIns = CounterFamily(
            "companion_sign_ins_total", "Sign-ins that ended, by outcome and stable error code.",
            [app, SignInLabels.flows, SignInLabels.results], workers: workers,
            isWrittenAtZero: { $0 % results == 0 && $0 / results % flows == 0 })
        tokens = CounterFamily(
            "companion_token_acquisitions_total",
            "Requests for access tokens: served from the cache, refreshed at the provider, or failed.",
            [app, TokenLabels.results], workers: workers, isWrittenAtZero: { $0 % tokenResults < 2 })
        providerRequests = CounterFamily(
            "companion_provider_requests_total", "Requests to identity providers, by outcome.",
            [provider, ProviderLabels.outcomes], workers: workers, isWrittenAtZero: { _ in true })
        providerTime = HistogramFamily(
            "companion_provider_request_duration_seconds", "Duration of requests to identity providers.",
            provider, workers: workers)
        apiRequests = CounterFamily(
            "companion_api_requests_total",
            "Calls of the applications' APIs, by status, or by the reason why there is none.",
            [app, APILabels.results], workers: workers)
        apiTime = HistogramFamily(
            "companion_api_request_duration_seconds", "Duration of calls of the applications' APIs.", app,
            workers: workers)
        apiThrottled = CounterFamily(
            "companion_api_throttled_total",
            "Calls that were throttled, by the API (429, 503), or by the companion during a pause that the API had asked for.",
            [app, MetricLabel("by", ["api", "companion"])], workers: workers, isWrittenAtZero: { _ in true })
        databaseTime = HistogramFamily(
            "companion_database_duration_seconds", "Operations on the database, including the time spent waiting.",
            operation, workers: workers)
        databaseFailures = CounterFamily(
            "companion_database_failures_total", "Operations on the database that failed.", [operation],
            workers: workers, isWrittenAtZero: { _ in true })
        refreshWaits = CounterFamily(
            "companion_refresh_waits_total",
            "Calls that waited for another server to refresh a token until it had ended, or until they gave up.",
            [MetricLabel("outcome", ["ended", "gave_up"])], workers: workers, isWrittenAtZero: { _ in true })
        loopLag = HistogramFamily(
            "companion_event_loop_lag_seconds", "Delay of an event loop timer, measured twice a second.",
            workers: workers)
        limited = CounterFamily(
            "companion_limited_total", "Requests and connections that a limit refused.",
            [MetricLabel("limit", Limit.allCases.map(\.rawValue))], workers: workers, isWrittenAtZero: { _ in true })
    }

    package func write(to text: inout MetricsText) {
        let all: [any MetricFamily] = [
            requests, requestTime, signInsStarted, signIns, tokens, providerRequests, providerTime, apiRequests,
            apiTime,
            apiThrottled, databaseTime, databaseFailures, refreshWaits, loopLag, limited,
        ]
        for family in all { family.write(to: &text) }
    }
}
