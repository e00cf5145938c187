import FoundationEssentials
import HTTPTypes

/// The wall clock, injected.
public typealias ProviderClock = @Sendable () -> Date

/// An answer sorted by what it allows us to conclude, before its members are looked at: 429 and 5xx, redirects, error
/// pages of proxies and broken JSON say nothing about the account or the client.
enum ProviderAnswer {
    /// 200 with a JSON object.
    case success(JSONValue)
    /// 4xx with an OAuth error in it.
    case failure(ErrorAnswer)
    /// 4xx without one; the status.
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
                "The identity provider answered \(status) without usable JSON; a proxy may be in the way. Try again later."
            )
        }
    }

    /// The object of a document that needs no authentication: metadata or keys.
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
            throw ProviderMetadata.invalid("The provider answered \(status) when asked for its \(name).")
        }
    }

    private static func transient(_ status: Int, _ answer: ErrorAnswer?, retryAfter: Duration?) -> OpenIDError {
        var error =
            status == 429
            ? OpenIDError(.throttled, "The identity provider asks for a pause: try again later.")
            : OpenIDError(.providerUnavailable, "The identity provider answered \(status): try again later.")
        error.retryAfter = retryAfter
        error.providerError = answer?.error
        error.suberror = answer?.suberror
        error.aadsts = answer?.aadsts ?? []
        error.traceID = answer?.traceID
        error.correlationID = answer?.correlationID
        error.timestamp = answer?.timestamp
        return error
    }

    /// A missing content type is forgiven, a wrong one is not: an error page is HTML.
    private static func isJSON(_ response: ProviderResponse) -> Bool {
        guard let value = response.head.headerFields[.contentType] else { return true }
        let type = value.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// Seconds or a date (RFC 9110 section 10.2.3), between 0 and one hour.
    static func retryAfter(_ response: ProviderResponse, _ now: ProviderClock) -> Duration? {
        guard let value = response.head.headerFields[.retryAfter] else { return nil }
        let seconds: Double
        if let number = UInt32(value) {
            seconds = Double(number)
        } else if let date = httpDate(value) {
            seconds = date.timeIntervalSince(now())
        } else {
            return nil
        }
        return .seconds(min(max(seconds, 0), 3600))
    }

    /// The form that senders must use, as in `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
    private static func httpDate(_ text: String) -> Date? {
        let parts = text.split { $0 == " " || $0 == ":" }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])),
            let day = UInt8(parts[1]), let year = UInt16(parts[3]), let hour = UInt8(parts[4]),
            let minute = UInt8(parts[5]), let second = UInt8(parts[6])
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(
            from: DateComponents(
                year: Int(year), month: month + 1, day: Int(day), hour: Int(hour), minute: Int(minute),
                second: Int(second)))
    }
}
