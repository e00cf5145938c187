public import FoundationEssentials
import WebFormats

/// The time at which a person authenticated: the claim `auth_time` (OpenID Connect Core section 2).
public struct AuthenticationTime: Sendable, Hashable {
    private let date: Date

    /// Reads the claim; nil if it is missing. A 0, which Glewlwyd sends, or a value that is not a number counts as
    /// missing.
    init?(in payload: JSONValue) {
        guard let seconds = payload["auth_time"]?.double, seconds > 0, seconds <= 253_402_300_799 else { return nil }
        date = Date(timeIntervalSince1970: seconds)
    }

    /// Reads stored claims: the JSON text of a token that was validated.
    public init?(ofValidated json: String) {
        guard let payload = JSONValue(parsing: Array(json.utf8)) else { return nil }
        self.init(in: payload)
    }

    /// Whether the time was within a range, with the same tolerance for clocks as for ID tokens, on both sides (section
    /// 3.1.3.7, rule 13).
    public func isWithin(_ time: ClosedRange<Date>) -> Bool {
        date >= time.lowerBound.addingTimeInterval(-IDTokenChecks.leeway)
            && date <= time.upperBound.addingTimeInterval(IDTokenChecks.leeway)
    }
}
