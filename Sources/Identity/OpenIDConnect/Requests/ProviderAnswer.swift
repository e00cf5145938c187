public import FoundationEssentials
import HTTPTypes
import WebFormats

/// The wall clock.
public typealias ProviderClock = @Sendable () -> Date

/// A response, classified before its members are read: 429 and 5xx, redirects, error pages of proxies and broken JSON
/// prove nothing about the account or the client.
enum ProviderAnswer {
    /// 200 with a JSON object.
    case success(JSONValue)
    /// 4xx with an OAuth error.
    case failure(ErrorAnswer)
    /// 4xx without an OAuth error; the status.
    case refused(Int)

    init(_ response: ProviderResponse, now: ProviderClock) throws(OpenIDError) {
        let status = response.head.status.code
        let json = Self.isJSON(response) ? JSONValue(parsing: response.body) : nil
        if status == 429 || status == 408 || status >= 500 {
            throw Self.transient(
                status, json.flatMap(ErrorAnswer.init(body:)), retryAfter: Self.retryAfter(response, now))
        }
        if let json, let answer = ErrorAnswer(body: json) {
            self = .failure(answer)
        } else if status == 200, let json, json.object != nil {
            self = .success(json)
        } else if (400..<500).contains(status) {
            self = .refused(status)
        } else {
            throw OpenIDError(
                .providerUnavailable,
                "The identity provider returned \(status) without usable JSON; a proxy may be in the way. Try again later."
            )
        }
    }

    /// Returns the object of a document that needs no authentication: metadata or keys.
    func document(named name: String) throws(OpenIDError) -> JSONValue {
        switch self {
        case .success(let value): return value
        case .failure(let answer):
            var error = ProviderMetadata.invalid("The provider refuses its \(name): \(answer.error).")
            error.providerError = answer.error
            error.aadsts = answer.aadsts
            error.traceID = answer.traceID
            error.correlationID = answer.correlationID
            error.timestamp = answer.timestamp
            throw error
        case .refused(let status):
            throw ProviderMetadata.invalid("The provider returned \(status) when asked for its \(name).")
        }
    }

    private static func transient(_ status: Int, _ answer: ErrorAnswer?, retryAfter: Duration?) -> OpenIDError {
        var error =
            status == 429
            ? OpenIDError(.throttled, "The identity provider asks for a pause: try again later.")
            : OpenIDError(.providerUnavailable, "The identity provider returned \(status): try again later.")
        error.status = status
        error.retryAfter = retryAfter
        error.providerError = answer?.error
        error.suberror = answer?.suberror
        error.aadsts = answer?.aadsts ?? []
        error.traceID = answer?.traceID
        error.correlationID = answer?.correlationID
        error.timestamp = answer?.timestamp
        return error
    }

    /// Whether the response is JSON. A missing content type is tolerated, a wrong one is not: an error page is HTML.
    private static func isJSON(_ response: ProviderResponse) -> Bool {
        guard let value = response.head.headerFields[.contentType] else { return true }
        let type = value.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == "application/json" || type.hasSuffix("+json")
    }

    private static func retryAfter(_ response: ProviderResponse, _ now: ProviderClock) -> Duration? {
        response.head.headerFields[.retryAfter].flatMap { value in
            RetryAfter.pause(value, now: HTTPDate(secondsSince1970: Int64(now().timeIntervalSince1970)))
        }
    }
}
