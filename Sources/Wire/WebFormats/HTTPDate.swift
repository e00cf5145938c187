/// A date in HTTP: whole seconds, always GMT (RFC 9110 §5.6.7).
public struct HTTPDate: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01 00:00:00 UTC, within the years 0 to 9999, which four digits can express.
    public let secondsSince1970: Int64

    private static let first: Int64 = -62_167_219_200
    private static let last: Int64 = 253_402_300_799

    /// Creates a date. Seconds outside the years 0 to 9999 are clamped.
    public init(secondsSince1970 seconds: Int64) {
        secondsSince1970 = min(max(seconds, Self.first), Self.last)
    }

    /// Whether the left date is earlier.
    public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

    /// The preferred format, 29 bytes: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var bytes: [UInt8] {
        let days = Self.floorDivide(secondsSince1970, 86400)
        let second = Int(secondsSince1970 - days * 86400)
        let (year, month, day) = Self.civil(days: days)
        // 1970-01-01 was a Thursday; weeks are counted from Sunday.
        let weekday = Int(((days + 4) % 7 + 7) % 7)
        var text: [UInt8] = []
        text.reserveCapacity(29)
        text += Self.names[weekday * 3..<weekday * 3 + 3]
        text += ", ".utf8
        Self.append(day, to: &text)
        text.append(UInt8(ascii: " "))
        text += Self.names[21 + (month - 1) * 3..<21 + month * 3]
        text.append(UInt8(ascii: " "))
        Self.append(year / 100, to: &text)
        Self.append(year % 100, to: &text)
        text.append(UInt8(ascii: " "))
        Self.append(second / 3600, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(second / 60 % 60, to: &text)
        text.append(UInt8(ascii: ":"))
        Self.append(second % 60, to: &text)
        text += " GMT".utf8
        return text
    }

    /// The date in the preferred format, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The names of the weekdays from Sunday, then of the months, three letters each.
    static let names: [UInt8] = Array("SunMonTueWedThuFriSatJanFebMarAprMayJunJulAugSepOctNovDec".utf8)

    private static func append(_ number: Int, to text: inout [UInt8]) {
        text.append(UInt8(truncatingIfNeeded: 0x30 + number / 10))
        text.append(UInt8(truncatingIfNeeded: 0x30 + number % 10))
    }

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        value >= 0 ? value / by : (value - by + 1) / by
    }

    /// Converts days since 1970-01-01 to a date in the Gregorian calendar. Years start in March, so that the leap day
    /// comes last, in eras of 400 years (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    static func civil(days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), Int(month), Int(day))
    }

    /// Converts a date to days, the inverse of `civil`.
    static func days(year: Int, month: Int, day: Int) -> Int64 {
        let marchYear = Int64(month <= 2 ? year - 1 : year)
        let era = floorDivide(marchYear, 400)
        let yearOfEra = marchYear - era * 400
        let marchMonth = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * marchMonth + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
