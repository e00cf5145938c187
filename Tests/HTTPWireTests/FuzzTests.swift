import Testing

@testable import HTTPWire

/// Mutations of the corpus: whatever the bytes are, nothing traps, and the events are the same however they are cut.
@Suite("Mutated requests")
struct FuzzTests {
    static let rounds = 8000

    @Test("Nothing traps, and every cut says the same", arguments: 0..<4 as Range<UInt64>)
    func mutations(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let seeds = CorpusCase.all.filter { $0.request.count < 1000 && !$0.request.isEmpty }
        for round in 0..<Self.rounds {
            let item = try #require(seeds.randomElement(using: &generator))
            let request = Self.mutate(item.request, with: seeds, &generator)
            let whole = Transcript.of([request[...]], settings: item.settings)
            let cut = Transcript.of(
                generator.cut(request, places: Int.random(in: 1...12, using: &generator)), settings: item.settings)
            guard whole == cut else {
                Issue.record("seed \(seed), round \(round): \(request)\nwhole: \(whole)\ncut: \(cut)")
                return
            }
            Self.readAgain(whole, request)
        }
    }

    /// What stands behind the parser is fed the same bytes as text: it must not trap either.
    private static func readAgain(_ transcript: [String], _ request: [UInt8]) {
        let text = String(decoding: request.prefix(300), as: UTF8.self)
        _ = RequestCookies(text)["a"]
        _ = try? FormFields(query: text)
        _ = try? decodedPathSegments("/" + text)
        _ = HTTPDate(parsing: text, now: DateTests.now)
        _ = EntityTag(text)
        _ = EntityTagList(text)
        for line in transcript { _ = HTTPDate(parsing: line, now: DateTests.now) }
    }

    private static func mutate(
        _ request: [UInt8], with others: [CorpusCase], _ generator: inout SeededGenerator
    ) -> [UInt8] {
        // What readers of HTTP have stumbled over.
        let pieces = [
            "\r", "\n", "\r\n", "\r\n\r\n", "\0", " ", "\t", ":", ",", ";", "%", "0", "-", "+", "ffffffffffffffff",
            "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Host: b\r\n", "HTTP/1.0",
            "99999999999999999999",
            "chunked", "http://b/", "\u{7F}", "é",
        ]
        var bytes = request
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
            case 1: if place < bytes.count { bytes.remove(at: place) }
            case 2: bytes.insert(contentsOf: (pieces.randomElement(using: &generator) ?? "").utf8, at: place)
            case 3: bytes.removeSubrange(place...)
            case 4:
                let length = Int.random(in: 0...(bytes.count - place), using: &generator)
                bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
            default: bytes += others.randomElement(using: &generator)?.request ?? []
            }
        }
        return bytes
    }
}
