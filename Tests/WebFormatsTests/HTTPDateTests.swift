import Testing

@testable import WebFormats

@Suite("HTTP dates")
struct HTTPDateTests {
    /// 2026-07-01 00:00:00 UTC.
    static let now = HTTPDate(secondsSince1970: 1_782_864_000)

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (1_782_864_000, "Wed, 01 Jul 2026 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)])
    func `a date is written and read`(_ seconds: Int64, _ text: String) {
        let date = HTTPDate(secondsSince1970: seconds)
        #expect(date.text == text)
        #expect(HTTPDate(parsing: text, now: Self.now) == date)
    }

    @Test func `every day of 400 years comes back, in order`() {
        var previous = HTTPDate.civil(days: -719_529)
        for day in Int64(-719_528)..<(-719_528 + 146_097) {
            let civil = HTTPDate.civil(days: day)
            let isNext = civil.year == previous.year && civil.month == previous.month && civil.day == previous.day + 1
            let isFirst = civil.day == 1 && (civil.month == previous.month % 12 + 1)
            guard isNext || isFirst, HTTPDate.days(year: civil.year, month: civil.month, day: civil.day) == day else {
                Issue.record("day \(day) is \(civil), after \(previous)")
                return
            }
            previous = civil
        }
    }

    @Test func `seconds outside of the years 0 to 9999 are clamped`() {
        #expect(HTTPDate(secondsSince1970: .max).text == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate(secondsSince1970: .min).text == "Sat, 01 Jan 0000 00:00:00 GMT")
    }

    @Test(
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Wed Jul 15 00:00:00 2026", "Wed, 15 Jul 2026 00:00:00 GMT"),
            ("Wednesday, 01-Jul-76 00:00:00 GMT", "Wed, 01 Jul 2076 00:00:00 GMT"),
            ("Friday, 01-Jul-77 00:00:00 GMT", "Fri, 01 Jul 1977 00:00:00 GMT"),
            ("Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 Nov 1994 08:50:00 GMT"),
        ])
    func `the two old formats are read`(_ text: String, _ preferred: String) {
        #expect(HTTPDate(parsing: text, now: Self.now)?.text == preferred)
    }

    @Test(
        arguments: [
            "", "0", "Sun", "Sun, 06 Nov 1994", "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Xun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 29 Feb 2100 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun Nov  6 08:49:37 94", "1994-11-06T08:49:37Z", "Sun, 06 Nov 19a4 08:49:37 GMT", ",,,,", "Sun,\u{0}",
        ])
    func `text that is not a date is refused`(_ text: String) {
        #expect(HTTPDate(parsing: text, now: Self.now) == nil)
    }
}
