/// The field `Retry-After` (RFC 9110 section 10.2.3).
public enum RetryAfter {
    /// The longest pause that is accepted, in seconds.
    public static let maxSeconds: Int64 = 3600

    /// Returns the pause for a value in seconds or for a date.
    ///
    /// - Parameter now: the current time, to which a date is compared.
    /// - Returns: whole seconds, from 0 to ``maxSeconds``; nil if the value is neither a number of seconds nor a date.
    public static func pause(_ value: String, now: HTTPDate) -> Duration? {
        let seconds: Int64
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that does not fit in 64 bits is above the maximum too.
            seconds = Int64(value) ?? maxSeconds
        } else if let date = HTTPDate(parsing: value, now: now) {
            seconds = date.secondsSince1970 - now.secondsSince1970
        } else {
            return nil
        }
        return .seconds(min(max(seconds, 0), maxSeconds))
    }
}
