/// What is limited by address, as `limits` of the configuration, metrics and log name it.
package enum Limit: String, Sendable, CaseIterable {
    case signIns = "sign_ins"
    case callbacks
    case forcedRefreshes = "forced_refreshes"
    case operatorRequests = "operator_requests"
    case connections
}
