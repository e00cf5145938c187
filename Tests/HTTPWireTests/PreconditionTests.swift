import HTTPTypes
import Testing
import WebFormats

@testable import HTTPWire

/// The resource: `"v1"`, last changed Sun, 06 Nov 1994 08:49:37 GMT, 100 bytes.
private let validators = Validators(
    entityTag: EntityTag("\"v1\""), lastModified: HTTPDate(secondsSince1970: 784_111_777))
private let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
private let before = "Sun, 06 Nov 1994 08:49:36 GMT"
private let after = "Sun, 06 Nov 1994 08:49:38 GMT"

private func head(_ method: HTTPRequest.Method, _ fields: HTTPFields) throws -> RequestHead {
    try RequestHead(method: method, target: "/", headerFields: fields)
}

/// 2026-07-01 00:00:00 UTC.
private let now = HTTPDate(secondsSince1970: 1_782_864_000)

@Suite("Conditional requests")
struct PreconditionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: HTTPRequest.Method
        let fields: HTTPFields
        let outcome: PreconditionOutcome
        init(
            _ title: String, by method: HTTPRequest.Method = .get, _ fields: HTTPFields, _ outcome: PreconditionOutcome
        ) {
            (testDescription, self.method, self.fields, self.outcome) = (title, method, fields, outcome)
        }
    }

    @Test(
        arguments: [
            Row("no condition", [:], .proceed),
            Row("If-None-Match: the same tag", [.ifNoneMatch: "\"v1\""], .notModified),
            Row("If-None-Match: the same tag, HEAD", by: .head, [.ifNoneMatch: "\"v1\""], .notModified),
            Row("If-None-Match: the same tag, POST", by: .post, [.ifNoneMatch: "\"v1\""], .preconditionFailed),
            Row("If-None-Match: the tag made weak on the way", [.ifNoneMatch: "W/\"v1\""], .notModified),
            Row("If-None-Match: another tag", [.ifNoneMatch: "\"v2\""], .proceed),
            Row("If-None-Match: a list", [.ifNoneMatch: "\"a,b\" ,, W/\"v1\""], .notModified),
            Row("If-None-Match: a list without it", [.ifNoneMatch: "\"v\", \"v12\""], .proceed),
            Row("If-None-Match: *", [.ifNoneMatch: " * "], .notModified),
            Row("If-None-Match: *, PUT", by: .put, [.ifNoneMatch: "*"], .preconditionFailed),
            Row("If-None-Match: a tag without quotes", [.ifNoneMatch: "v1"], .proceed),
            Row("If-None-Match: tags without a comma", [.ifNoneMatch: "\"v1\" \"v1\""], .proceed),
            Row("If-None-Match: a quote that does not end", [.ifNoneMatch: "\"v1"], .proceed),
            Row("If-None-Match: a small w", [.ifNoneMatch: "w/\"v1\""], .proceed),
            Row("If-None-Match: * in a list", [.ifNoneMatch: "*, \"v1\""], .proceed),
            Row("If-Modified-Since: the date", [.ifModifiedSince: changed], .notModified),
            Row("If-Modified-Since: later", [.ifModifiedSince: after], .notModified),
            Row("If-Modified-Since: earlier", [.ifModifiedSince: before], .proceed),
            Row("If-Modified-Since: an old format", [.ifModifiedSince: "Sun Nov  6 08:49:37 1994"], .notModified),
            Row("If-Modified-Since: not a date", [.ifModifiedSince: "yesterday"], .proceed),
            Row("If-Modified-Since: POST", by: .post, [.ifModifiedSince: after], .proceed),
            Row(
                "If-None-Match goes before If-Modified-Since", [.ifNoneMatch: "\"v2\"", .ifModifiedSince: after],
                .proceed),
            Row(
                "If-None-Match that holds, with an older date", [.ifNoneMatch: "\"v1\"", .ifModifiedSince: before],
                .notModified),
            Row("If-Match: the same tag", by: .put, [.ifMatch: "\"v0\", \"v1\""], .proceed),
            Row("If-Match: another tag", by: .put, [.ifMatch: "\"v2\""], .preconditionFailed),
            Row("If-Match: the weak tag", by: .put, [.ifMatch: "W/\"v1\""], .preconditionFailed),
            Row("If-Match: *", by: .put, [.ifMatch: "*"], .proceed),
            Row("If-Match: not a tag", [.ifMatch: "v1"], .preconditionFailed),
            Row("If-Unmodified-Since: the date", by: .put, [.ifUnmodifiedSince: changed], .proceed),
            Row("If-Unmodified-Since: earlier", by: .put, [.ifUnmodifiedSince: before], .preconditionFailed),
            Row("If-Unmodified-Since: not a date", by: .put, [.ifUnmodifiedSince: "x"], .proceed),
            Row(
                "If-Match goes before If-Unmodified-Since", by: .put, [.ifMatch: "\"v1\"", .ifUnmodifiedSince: before],
                .proceed),
            Row(
                "If-Match, then If-None-Match", [.ifMatch: "\"v1\"", .ifNoneMatch: "\"v1\""], .notModified),
            Row(
                "If-Match fails before If-None-Match", [.ifMatch: "\"v2\"", .ifNoneMatch: "\"v1\""],
                .preconditionFailed),
        ])
    func `the conditional fields decide how a request goes on`(_ row: Row) throws {
        let head = try head(row.method, row.fields)
        #expect(head.evaluatePreconditions(validators, now: now) == row.outcome)
    }

    @Test func `a resource without validators matches only *`() throws {
        func outcome(_ fields: HTTPFields) throws -> PreconditionOutcome {
            try head(.get, fields).evaluatePreconditions(Validators(), now: now)
        }
        #expect(try outcome([.ifNoneMatch: "\"v1\""]) == .proceed)
        #expect(try outcome([.ifNoneMatch: "*"]) == .notModified)
        #expect(try outcome([.ifMatch: "\"v1\""]) == .preconditionFailed)
        #expect(try outcome([.ifModifiedSince: after]) == .proceed)
    }

    @Test func `entity tags are compared strongly and weakly as RFC 9110 §8.8.3.2 says`() throws {
        let rows = [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true),
        ]
        for (left, right, strong, weak) in rows {
            let left = try #require(EntityTag(left))
            let right = try #require(EntityTag(right))
            #expect(left.stronglyMatches(right) == strong)
            #expect(left.weaklyMatches(right) == weak)
        }
        #expect(EntityTag(strong: "a b") == nil)
        #expect(EntityTag(strong: "a\"b") == nil)
        #expect(EntityTag(strong: "ab")?.text == "\"ab\"")
        #expect(EntityTag("W/\"ab\"")?.text == "W/\"ab\"")
        #expect(EntityTag("\"a\"b") == nil)
    }
}

@Suite("Byte ranges")
struct ByteRangeTests {
    @Test(
        arguments: [
            ("bytes=0-9", ByteRangeOutcome.part(0..<10)), ("bytes=10-10", .part(10..<11)),
            ("bytes=90-", .part(90..<100)),
            ("bytes=0-", .part(0..<100)), ("bytes=-10", .part(90..<100)), ("bytes=-1000", .part(0..<100)),
            ("bytes=99-1000", .part(99..<100)), ("BYTES= 1-2 ", .part(1..<3)), ("bytes=007-008", .part(7..<9)),
            ("bytes=0-99999999999999999999", .part(0..<100)),
            ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=99999999999999999998-99999999999999999999", .unsatisfiable),
            ("bytes=5-4", .whole), ("bytes=0-1,5-6", .whole), ("bytes=-", .whole), ("bytes=", .whole),
            ("bytes", .whole),
            ("bytes=a-b", .whole), ("bytes=1", .whole), ("bytes=1-2-3", .whole), ("bytes=+1-2", .whole),
            ("bytes=1 -2", .whole), ("items=0-9", .whole), ("", .whole), ("=0-9", .whole),
        ])
    func `a range of 100 bytes is a part, cannot be satisfied, or is ignored`(
        _ text: String, _ outcome: ByteRangeOutcome
    ) throws {
        let head = try head(.get, [.range: text])
        #expect(head.byteRange(length: 100, validators: validators, now: now) == outcome)
    }

    @Test func `no range of an empty resource can be satisfied`() throws {
        for text in ["bytes=0-", "bytes=0-0", "bytes=-1"] {
            let head = try head(.get, [.range: text])
            #expect(head.byteRange(length: 0, validators: validators, now: now) == .unsatisfiable)
        }
    }

    @Test func `only GET has ranges`() throws {
        for method in [HTTPRequest.Method.head, .post] {
            let head = try head(method, [.range: "bytes=0-9"])
            #expect(head.byteRange(length: 100, validators: validators, now: now) == .whole)
        }
    }

    @Test(
        arguments: [
            ("\"v1\"", true), ("\"v2\"", false), ("W/\"v1\"", false), (changed, true), (before, false), (after, false),
            ("Sunday, 06-Nov-94 08:49:37 GMT", true), ("nonsense", false), ("", false), ("\"v1\", \"v1\"", false),
        ])
    func `a range counts only if its If-Range holds`(_ condition: String, _ holds: Bool) throws {
        let head = try head(.get, [.range: "bytes=0-9", .ifRange: condition])
        #expect(
            head.byteRange(length: 100, validators: validators, now: now) == (holds ? .part(0..<10) : .whole))
    }
}
