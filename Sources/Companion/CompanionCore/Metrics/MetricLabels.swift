import HTTPClient
package import HTTPTypes

/// The labels of sign-ins: the flow and the outcome.
enum SignInLabels {
    private static let flowList: [SignInKind] = [.signIn, .editProfile, .resetPassword, .adminConsent]
    static let flows = MetricLabel("flow", flowList.map(\.rawValue))
    /// The outcome `succeeded`, then one for every code. Switching to another flow or cancelling is not a failure.
    static let results = MetricLabel(
        combinations: [[("outcome", "succeeded"), ("code", "")]]
            + Problem.Code.allCases.map { code in
                let isCancelled = code == .cancelled || code == .passwordResetRequested
                return [("outcome", isCancelled ? "cancelled" : "failed"), ("code", code.rawValue)]
            })

    static func place(_ flow: SignInKind) -> Int { flowList.firstIndex(of: flow) ?? -1 }
    static func place(_ code: Problem.Code?) -> Int { code.map { CodePlaces.place($0) + 1 } ?? 0 }
}

/// The source of an access token.
enum TokenLabels {
    static let results = MetricLabel(
        combinations: [[("outcome", "cache"), ("code", "")], [("outcome", "refreshed"), ("code", "")]]
            + Problem.Code.allCases.map { [("outcome", "failed"), ("code", $0.rawValue)] })

    static func place(_ code: Problem.Code) -> Int { CodePlaces.place(code) + 2 }
}

private enum CodePlaces {
    private static let places = Dictionary(
        uniqueKeysWithValues: Problem.Code.allCases.enumerated().map { ($1, $0) })

    static func place(_ code: Problem.Code) -> Int { places[code] ?? -1 }
}

/// The outcome of an API call: its status, or the reason why there is none.
enum APILabels {
    static let results = MetricLabel("status", StatusLabel.values + ["timed_out", "unreachable"])

    static func place(_ result: Result<HTTPResponse.Status, HTTPClientError>) -> Int {
        switch result {
        case .success(let status): StatusLabel.place(status)
        case .failure(let error): StatusLabel.values.count + (error.kind == .timedOut ? 0 : 1)
        }
    }
}

/// The outcome of a request to an identity provider. `refused` is a 4xx, which is routine for a token endpoint.
enum ProviderLabels {
    static let outcomes = MetricLabel("outcome", ["answered", "refused", "throttled", "failed", "unreachable"])

    static func place(_ status: HTTPResponse.Status?) -> Int {
        switch status?.code {
        case nil: 4
        case 429: 2
        case .some(400..<500): 1
        case .some(500...): 3
        default: 0
        }
    }
}

/// Status codes: the common ones, and one value for the rest of each class.
enum StatusLabel {
    private static let codes = [
        200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413,
        415, 416, 417, 421, 422, 429, 431, 500, 501, 502, 503, 504, 505,
    ]
    static let values = codes.map(String.init) + ["1xx", "2xx", "3xx", "4xx", "5xx"]

    private static let places: [Int] = {
        var places = (0..<600).map { codes.count + max(0, $0 / 100 - 1) }
        for (place, code) in codes.enumerated() { places[code] = place }
        return places
    }()

    static func place(_ status: HTTPResponse.Status) -> Int {
        places.indices.contains(status.code) ? places[status.code] : values.count - 1
    }
}

/// Methods: those that routes support, and one value for the rest.
package enum MethodLabel {
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete]
    package static let values = methods.map(\.rawValue) + ["other"]

    /// Returns a method as it appears in labels and log lines. Clients can send any token as a method.
    package static func text(_ method: HTTPRequest.Method?) -> String { values[place(method)] }

    /// - Parameter method: the method; nil if the request could not be parsed.
    package static func place(_ method: HTTPRequest.Method?) -> Int {
        guard let method else { return methods.count }
        if method == .get { return 0 }
        return methods.firstIndex(of: method) ?? methods.count
    }
}
