import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPWire

@Suite("Responses of the corpus")
struct ResponseParserTests {
    static let cases = CorpusCase.all(in: CorpusCase.corpus.appendingPathComponent("responses"))

    @Test func `the corpus was found`() {
        #expect(Self.cases.count >= 80)
        #expect(Set(Self.cases.map(\.description)).count == Self.cases.count)
    }

    @Test(arguments: cases) func `a response that comes whole is parsed`(_ row: CorpusCase) {
        #expect(ResponseTranscript.of([row.bytes[...]], settings: row.settings) == row.events)
    }

    @Test(arguments: cases) func `a response that comes byte by byte is parsed`(_ row: CorpusCase) {
        let bytes = row.bytes.indices.map { row.bytes[$0...$0] }
        #expect(ResponseTranscript.of(bytes, settings: row.settings) == row.events)
    }

    @Test(arguments: cases) func `a response that comes in random pieces is parsed`(_ row: CorpusCase) {
        for seed in 0..<40 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let pieces = generator.cut(row.bytes, places: 1 + Int(seed % 8))
            #expect(ResponseTranscript.of(pieces, settings: row.settings) == row.events, "seed \(seed)")
        }
    }

    @Test(arguments: cases) func `a response with another behind it in the same buffer is parsed`(_ row: CorpusCase) {
        let next = Array("HTTP/1.1 200 OK\r\n\r\nsecret".utf8)
        let events = ResponseTranscript.of([(row.bytes + next)[...]], settings: row.settings)
        if let end = row.events.firstIndex(of: "end") {
            let left = row.events.last.flatMap { Int($0.dropFirst("left ".count)) } ?? 0
            #expect(events == row.events[...end] + ["left \(left + next.count)"])
        } else if row.events.last?.hasPrefix("failure ") == true {
            #expect(events == row.events)
        } else {
            // The bytes behind go on with what was cut off; what came before it stays.
            let settled = row.events.dropLast(row.events.dropLast().last?.hasPrefix("body ") == true ? 2 : 1)
            #expect(events.starts(with: settled))
        }
    }

    @Test func `fields are found in any case, and repeated ones joined`() throws {
        let text = "HTTP/1.1 401 No\r\nwww-AUTHENTICATE: a\r\nX: 1\r\nWWW-Authenticate: b\r\nX-Name: \u{E9}\r\n\r\n"
        var parser = ResponseParser(maxBodyBytes: 0)
        var offset = 0
        guard case .head(let head) = parser.next(Array(text.utf8).span, at: &offset) else {
            Issue.record("There is a head")
            return
        }
        #expect(head.status == .unauthorized)
        #expect(head[.wwwAuthenticate] == "a, b")
        #expect(head.values(for: .wwwAuthenticate) == ["a", "b"])
        #expect(!head.contains(.contentLength) && head[.contentLength] == nil)
        #expect(try head[#require(HTTPField.Name("x-name"))] == "\u{FFFD}\u{FFFD}")
        #expect(head.headerFields[values: .wwwAuthenticate] == ["a", "b"])
    }
}
