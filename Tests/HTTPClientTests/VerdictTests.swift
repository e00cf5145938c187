import EventLoop
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPClient

/// Every response of the corpus of HTTPWireTests, on a real socket that closes behind it.
@Suite(.timeLimit(.minutes(5))) struct VerdictTests {
    static let cases = CorpusCase.all(
        in: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../HTTPWireTests/Corpus/responses").standardized)

    @Test(arguments: cases)
    func `the client accepts and refuses what the parser does`(_ item: CorpusCase) async throws {
        try await withClient(answer: { _ in .last(item.bytes) }) { client, server in
            let method = item.settings["head"] == 1 ? HTTPRequest.Method.head : .get
            var verdict = "refused"
            if let response = try? await client.send(
                request(server.port, method: method), maxResponseBytes: item.settings["maxBodyBytes"] ?? 64 * 1024)
            {
                verdict = "\(response.status.code) \(response.text.debugDescription)"
            }
            #expect(verdict == item.verdict)
        }
    }
}

extension CorpusCase {
    /// The result of our parser when the connection ends behind the bytes.
    fileprivate var verdict: String {
        guard events.contains("end") || events.contains("complete when closed"),
            let head = events.first(where: { $0.hasPrefix("head ") })
        else { return "refused" }
        let body = events.first { $0.hasPrefix("body ") }.map { $0.dropFirst("body ".count) } ?? "\"\""
        return "\(head.split(separator: " ")[1]) \(body)"
    }
}
