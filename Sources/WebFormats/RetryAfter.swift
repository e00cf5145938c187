/// The field `Retry-After` (RFC 9110 section 10.2.3).
public enum RetryAfter {
    /// The longest pause that is believed, in seconds.
    public static let maxSeconds: Int64 = 3600

    /// The pause that a value asks for, in seconds or with a date.
    ///
    /// - Parameter now: the time by which a date is a pause.
    /// - Returns: whole seconds, from 0 to ``maxSeconds``; nil for what is neither a number of seconds nor a date.
    public static func pause(_ value: String, now: HTTPDate) -> Duration? {
        let seconds: Int64
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // What is too large for a number is too long a pause as well.
            seconds = Int64(value) ?? maxSeconds
        } else if let date = HTTPDate(parsing: value, now: now) {
            seconds = date.secondsSince1970 - now.secondsSince1970
        } else {
            return nil
        }
        return .seconds(min(max(seconds, 0), maxSeconds))
    }
}
