// The three formats that a recipient must accept (RFC 9110 §5.6.7).

extension HTTPDate {
    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`; returns
    /// nil for anything else. The weekday must be valid, but is not checked against the date.
    ///
    /// - Parameter now: decides the century of a two-digit year. A year more than 50 years ahead belongs to the past
    ///   century.
    public init?(parsing text: String, now: HTTPDate) {
        var reader = DateReader(rest: Array(text.utf8)[...])
        guard let seconds = reader.read(now: now) else { return nil }
        self.init(secondsSince1970: seconds)
    }
}

private struct DateReader {
    var rest: ArraySlice<UInt8>

    mutating func read(now: HTTPDate) -> Int64? {
        guard name(from: 0, count: 7) != nil else { return nil }
        if take(",") {
            return fixedDate()
        }
        if take(" ") {
            return asctimeDate()
        }
        // Skip the rest of the full weekday name.
        guard let end = rest.firstIndex(of: UInt8(ascii: ",")),
            ["day", "sday", "nesday", "rsday", "urday"].contains(String(decoding: rest[..<end], as: UTF8.self))
        else { return nil }
        rest = rest[(end + 1)...]
        return rfc850Date(now: now)
    }

    /// Parses ` 06 Nov 1994 08:49:37 GMT`.
    private mutating func fixedDate() -> Int64? {
        guard take(" "), let day = number(2), take(" "), let month = name(from: 7, count: 12), take(" "),
            let year = number(4), take(" "), let time = time(), take(" GMT"), rest.isEmpty
        else { return nil }
        return seconds(year, month + 1, day, time)
    }

    /// Parses ` 06-Nov-94 08:49:37 GMT`.
    private mutating func rfc850Date(now: HTTPDate) -> Int64? {
        guard take(" "), let day = number(2), take("-"), let month = name(from: 7, count: 12), take("-"),
            let shortYear = number(2), take(" "), let time = time(), take(" GMT"), rest.isEmpty
        else { return nil }
        let thisYear = HTTPDate.civil(days: now.secondsSince1970 / 86400).year
        var year = thisYear / 100 * 100 + shortYear
        if year > thisYear + 50 { year -= 100 }
        return seconds(year, month + 1, day, time)
    }

    /// Parses `Nov  6 08:49:37 1994`.
    private mutating func asctimeDate() -> Int64? {
        guard let month = name(from: 7, count: 12), take(" "), let day = take(" ") ? number(1) : number(2),
            take(" "), let time = time(), take(" "), let year = number(4), rest.isEmpty
        else { return nil }
        return seconds(year, month + 1, day, time)
    }

    private func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int64? {
        let days = HTTPDate.days(year: year, month: month, day: day)
        // A day that the month does not have is converted to a different date.
        let civil = HTTPDate.civil(days: days)
        guard civil.month == month, civil.day == day else { return nil }
        return days * 86400 + Int64(time)
    }

    private mutating func time() -> Int? {
        guard let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60, take(":"),
            let second = number(2), second <= 60  // a leap second
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// Returns the index of the next three letters among `count` names of `HTTPDate.names`.
    private mutating func name(from first: Int, count: Int) -> Int? {
        let letters = rest.prefix(3)
        for index in 0..<count
        where letters.elementsEqual(HTTPDate.names[(first + index) * 3..<(first + index + 1) * 3]) {
            rest = rest.dropFirst(3)
            return index
        }
        return nil
    }

    private mutating func number(_ digits: Int) -> Int? {
        guard rest.count >= digits, rest.prefix(digits).allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let value = rest.prefix(digits).reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        rest = rest.dropFirst(digits)
        return value
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}
