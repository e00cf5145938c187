import EventLoop
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPClient

/// Every response of the corpus of HTTPWireTests, on a real socket that closes behind it, as libcurl reads it. A case in
/// whose events libcurl's verdict stands is one that the two read differently; all others they read alike.
@Suite(.timeLimit(.minutes(2))) struct VerdictTests {
    static let cases = CorpusCase.all(
        in: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../HTTPWireTests/Corpus/responses").standardized)

    @Test(arguments: cases)
    func `libcurl's verdict is ours, or the one that the corpus states`(_ item: CorpusCase) async throws {
        let verdict = try await verdict(on: item) { client, request, limit in
            try await client.send(request, maxResponseBytes: limit)
        }
        #expect(verdict == item.libcurl ?? item.ours)
    }

    @Test(arguments: cases)
    func `a frequent request gets our verdict, and libcurl's where we leave it to libcurl`(
        _ item: CorpusCase
    ) async throws {
        let verdict = try await verdict(on: item) { client, request, limit in
            try await client.send(client.frequent(request), maxResponseBytes: limit)
        }
        let isLeft = item.events.contains("failure foldedLine")
        #expect(verdict == (isLeft ? item.libcurl : nil) ?? item.ours)
    }

    /// The status and the body, or why there are none.
    private func verdict(
        on item: CorpusCase,
        _ send: @escaping @Sendable (HTTPClient, HTTPRequest, Int) async throws -> HTTPClientResponse
    ) async throws -> String {
        try await withClient(answer: { _ in .last(item.bytes) }) { client, server in
            let method = item.settings["head"] == 1 ? HTTPRequest.Method.head : .get
            do {
                let response = try await send(
                    client, request(server.port, method: method), item.settings["maxBodyBytes"] ?? 64 * 1024)
                return "\(response.head.status.code) \(response.text.debugDescription)"
            } catch {
                return "refused"
            }
        }
    }
}

extension CorpusCase {
    /// What libcurl makes of the bytes, where it differs.
    fileprivate var libcurl: String? {
        events.first { $0.hasPrefix("libcurl: ") }.map { String($0.dropFirst("libcurl: ".count)) }
    }

    /// What our parser makes of them, when the connection ends behind them.
    fileprivate var ours: String {
        guard events.contains("end") || events.contains("complete when closed"),
            let head = events.first(where: { $0.hasPrefix("head ") })
        else { return "refused" }
        let body = events.first { $0.hasPrefix("body ") }.map { $0.dropFirst("body ".count) } ?? "\"\""
        return "\(head.split(separator: " ")[1]) \(body)"
    }
}
