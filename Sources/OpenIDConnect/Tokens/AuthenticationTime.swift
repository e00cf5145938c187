public import FoundationEssentials
import WebFormats

/// When a person proved who they are: the claim `auth_time` (OpenID Connect Core section 2).
public struct AuthenticationTime: Sendable, Hashable {
    private let date: Date

    /// Nil where the provider does not say. A 0 says nothing (Glewlwyd sends it), and neither does what is no number.
    init?(in payload: JSONValue) {
        guard let seconds = payload["auth_time"]?.double, seconds > 0, seconds <= 253_402_300_799 else { return nil }
        date = Date(timeIntervalSince1970: seconds)
    }

    /// From claims as they are stored: the JSON text of a token that was validated.
    public init?(ofValidated json: String) {
        guard let payload = JSONValue(parsing: Array(json.utf8)) else { return nil }
        self.init(in: payload)
    }

    /// Whether it was then, with the leeway for clocks that ID tokens have on both sides (section 3.1.3.7, rule 13).
    public func isWithin(_ time: ClosedRange<Date>) -> Bool {
        date >= time.lowerBound.addingTimeInterval(-IDTokenChecks.leeway)
            && date <= time.upperBound.addingTimeInterval(IDTokenChecks.leeway)
    }
}
