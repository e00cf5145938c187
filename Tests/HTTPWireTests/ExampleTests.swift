import Foundation
import Testing

/// The program that the library's documentation shows.
@Suite struct ExampleTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "

    private static let cases: [(sent: [String], answers: [String])] = [
        (["GET /a HTTP/1.1\r\nHost: a\r\n\r\n"], [ok + "12\r\n\r\n/a: 0 bytes\n"]),
        // The second request comes with the first one's end, and is cut within its head.
        (
            [
                "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel", "loHEAD /c HT",
                "TP/1.1\r\nHost: a\r\n\r\n",
            ],
            [ok + "12\r\n\r\n/b: 5 bytes\n", ok + "12\r\n\r\n"]
        ),
        (
            [
                "PUT /d HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
                "1\r\nx\r\n0\r\n\r\n",
            ],
            ["HTTP/1.1 100 Continue\r\n\r\n", ok + "12\r\n\r\n/d: 1 bytes\n"]
        ),
        // Nothing is read behind a request that ends the connection, nor behind one that cannot be read.
        (
            ["GET /e HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /f HTTP/1.1\r\nHost: a\r\n\r\n"],
            [ok + "12\r\nConnection: close\r\n\r\n/e: 0 bytes\n"]
        ),
        (
            ["HEAD /g HTTP/1.1\r\nHost: a\r\n\r\nGET /h HTTP/1.1\r\n\r\n", "GET /i HTTP/1.1\r\nHost: a\r\n\r\n"],
            [
                ok + "12\r\n\r\n",
                "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 40\r\n"
                    + "Connection: close\r\n\r\nAn HTTP/1.1 request needs a Host field.\n",
            ]
        ),
    ]

    @Test(arguments: cases) func `a connection's requests are answered one by one`(sent: [String], answers: [String]) {
        var waiting = sent[...]
        var answered: [String] = []
        serve(receive: { waiting.popFirst().map { Array($0.utf8) } }) { bytes in
            answered.append(String(decoding: bytes, as: UTF8.self))
        }
        #expect(answered == answers)
    }

    @Test func `the documentation shows the example as it is`() throws {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: here.appending(path: "HTTPWireExample.swift"), encoding: .utf8)
        let article = try String(
            contentsOf: here.appending(path: "../../Sources/Wire/HTTPWire/HTTPWire.docc/HTTPWire.md"), encoding: .utf8)
        #expect(article.contains("```swift\n\(example)```\n"))
    }
}
