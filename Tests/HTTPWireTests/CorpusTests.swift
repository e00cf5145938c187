import Foundation
import TestSupport
import Testing

@testable import HTTPWire

extension CorpusCase {
    /// The requests.
    static let all = all(in: corpus)

    static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpus")
}

@Suite("Requests of the corpus")
struct CorpusTests {
    @Test func `the corpus was found`() {
        #expect(CorpusCase.all.count >= 100)
        #expect(Set(CorpusCase.all.map(\.description)).count == CorpusCase.all.count)
    }

    @Test(arguments: CorpusCase.all)
    func `a request that comes whole is parsed`(_ item: CorpusCase) {
        #expect(Transcript.of([item.bytes[...]], settings: item.settings) == item.events)
    }

    @Test(arguments: CorpusCase.all)
    func `a request that comes byte by byte is parsed`(_ item: CorpusCase) {
        let bytes = item.bytes.indices.map { item.bytes[$0...$0] }
        #expect(Transcript.of(bytes, settings: item.settings) == item.events)
    }

    @Test(arguments: CorpusCase.all)
    func `a request that comes in random pieces is parsed`(_ item: CorpusCase) {
        for seed in 0..<40 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let pieces = generator.cut(item.bytes, places: 1 + Int(seed % 8))
            #expect(Transcript.of(pieces, settings: item.settings) == item.events, "seed \(seed)")
        }
    }

    @Test(arguments: CorpusCase.all)
    func `a request with another behind it in the same buffer is parsed`(_ item: CorpusCase) {
        let next = Array("GET /next HTTP/1.0\r\n\r\n".utf8)
        let events = Transcript.of([(item.bytes + next)[...]], settings: item.settings)
        switch item.events.last {
        case "end": #expect(events == item.events + ["head GET /next HTTP/1.0 for nobody, close", "end"])
        case "waiting", nil:
            // The bytes behind may go on with a body that was cut off; what came before it stays.
            let settled = item.events.dropLast(item.events.dropLast().last?.hasPrefix("body ") == true ? 2 : 1)
            #expect(events.starts(with: settled))
        default: #expect(events == item.events)
        }
    }
}
