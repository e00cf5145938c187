import Foundation

@testable import WebFormats

private let now = HTTPDate(secondsSince1970: 1_800_000_000)

/// The input is the value of a field that has a date, as `Retry-After` may.
@Sendable func checkDates(_ input: [UInt8]) throws(Disagreement) {
    let text = String(decoding: input, as: UTF8.self)
    let date = HTTPDate(parsing: text, now: now)
    if let date { try checkDate(date) }
    let pause = RetryAfter.pause(text, now: now)
    let number = input.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(text) : nil
    if let seconds = date.map({ $0.secondsSince1970 - now.secondsSince1970 }) ?? number.map(Int64.init) {
        try agree(pause, .seconds(min(max(seconds, 0), RetryAfter.maxSeconds)), "A pause is its date or its number")
    }
    try hold(pause.map { (.zero ... .seconds(RetryAfter.maxSeconds)).contains($0) } ?? true, "A pause has its limits")
}

private func checkDate(_ date: HTTPDate) throws(Disagreement) {
    try agree(HTTPDate(parsing: date.text, now: now), date, "A date that is written comes back")
    var seconds = time_t(date.secondsSince1970)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var theirs = [CChar](repeating: 0, count: 64)
    strftime(&theirs, theirs.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    // The C library does not write a year in four digits.
    let year = String(String(10_000 + Int(parts.tm_year) + 1900).dropFirst())
    let line = String(decoding: theirs.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let words = line.split(separator: " ")
    let written = words.enumerated().map { $0.offset == 3 ? Substring(year) : $0.element }.joined(separator: " ")
    try agree(date.text, written, "The C library writes the same date")
}
