import Testing
import WebFormats

@Suite("Hexadecimal digits")
struct HexTests {
    @Test func `a byte is written as two digits in lower case`() {
        #expect(Hex.encode([0x00, 0x09, 0x0A, 0x1F, 0xF0, 0xFF]) == "00090a1ff0ff")
        #expect(Hex.encode([]) == "")
        for byte in UInt8.min ... .max {
            let digits = Array(Hex.encode([byte]).utf8)
            #expect(digits.compactMap(Hex.value) == [byte >> 4, byte & 15])
        }
    }

    @Test func `only hexadecimal digits have a value`() {
        let digits = (UInt8.min ... .max).filter { Hex.value(of: $0) != nil }
        #expect(String(decoding: digits, as: UTF8.self) == "0123456789ABCDEFabcdef")
        #expect(digits.compactMap(Hex.value) == Array(0...9) + Array(10...15) + Array(10...15))
    }
}

@Suite("Percent-decoding")
struct PercentDecodingTests {
    @Test(arguments: [
        ("", ""), ("a%20b", "a b"), ("%41%4a%4A", "AJJ"), ("%C3%A9", "é"), ("é", "é"), ("%2541", "%41"), ("a+b", "a+b"),
    ])
    func `escapes are decoded to bytes`(_ text: String, _ decoded: String) throws {
        #expect(try PercentDecoding.decode(text.utf8) == decoded)
        #expect(PercentDecoding.bytes(text.utf8) == Array(decoded.utf8))
    }

    @Test(arguments: ["%", "%4", "a%", "%g0", "%0g", "%%41", "%+1"])
    func `an escape needs two digits`(_ text: String) {
        #expect(throws: PercentDecoding.Problem.invalidEscape) { try PercentDecoding.decode(text.utf8) }
        #expect(PercentDecoding.bytes(text.utf8) == nil)
    }

    @Test func `a plus is a space where forms use it so`() throws {
        #expect(try PercentDecoding.decode("a+b%2B".utf8, plusIsSpace: true) == "a b+")
    }

    @Test func `text must be UTF-8, and bytes need not be`() {
        #expect(PercentDecoding.bytes("%ff%C3".utf8) == [0xFF, 0xC3])
        #expect(throws: PercentDecoding.Problem.invalidUTF8) { try PercentDecoding.decode("%ff".utf8) }
    }
}

@Suite("Retry-After")
struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private let now = HTTPDate(secondsSince1970: 784_111_777)

    @Test(arguments: [
        ("0", 0), ("17", 17), ("0017", 17), ("3600", 3600), ("3601", 3600), ("99999999999999999999999", 3600),
        ("Sun, 06 Nov 1994 08:50:07 GMT", 30), ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
        ("Sun, 06 Nov 2094 08:49:37 GMT", 3600), ("Sunday, 06-Nov-94 08:49:39 GMT", 2),
    ])
    func `Retry-After asks for seconds or until a date, an hour at most`(_ value: String, _ seconds: Int) {
        #expect(RetryAfter.pause(value, now: now) == .seconds(seconds))
    }

    @Test(arguments: ["", " ", "soon", "-1", "+1", "1.5", "1 s", "0x10", "٣", "Sun, 06 Nov 1994"])
    func `any other Retry-After asks for nothing`(_ value: String) {
        #expect(RetryAfter.pause(value, now: now) == nil)
    }
}

@Suite("Redacted values")
struct RedactedTests {
    private struct Secret: Redacted {
        let token = "5ecret"
    }

    @Test func `a redacted value never shows more than its type`() {
        let secret = Secret()
        var dumped = ""
        dump(secret, to: &dumped)
        for shown in ["\(secret)", String(describing: secret), String(reflecting: secret), "\([secret])", dumped] {
            #expect(shown.contains("Secret(redacted)"))
            #expect(!shown.contains(secret.token))
        }
    }
}

@Suite("Stream-safe text")
struct StreamSafeTextTests {
    @Test(arguments: [
        ("", true), ("plain", true), ("é", true), (String(repeating: "\u{301}", count: 30), true),
        (String(repeating: "\u{301}", count: 31), false), ("a" + String(repeating: "\u{323}\u{301}", count: 16), false),
        (String(repeating: "e\u{301}", count: 100), true),
    ])
    func `stream-safe text has at most 30 marks in a row`(_ text: String, _ isSafe: Bool) {
        #expect(text.isStreamSafe == isSafe)
    }
}
