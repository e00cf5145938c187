/// The limits, with their names in the configuration's `limits`, in metrics and in the log.
package enum Limit: String, Sendable, CaseIterable {
    case signIns = "sign_ins"
    case callbacks
    case forcedRefreshes = "forced_refreshes"
    case operatorRequests = "operator_requests"
    case programRequests = "program_requests"
    case pushedRequests = "pushed_requests"
    case connections
}
