import HTTPTypes
import TestSupport

@testable import HTTPWire

/// The response parser's events for some bytes, as lines of text, fed as a connection feeds it.
///
///     head 200 HTTP/1.1, keep alive, body 5
///       Content-Length: 5
///     body "hello"
///     end
///     left 3                       (so many bytes stand behind the response)
///     failure invalidStatusLine
///     complete when closed         (the bytes end, and with them the response)
///     cut off when closed          (the bytes end within the response)
enum ResponseTranscript {
    /// The transcript of bytes cut into `pieces`.
    static func of(_ pieces: [ArraySlice<UInt8>], settings: [String: Int] = [:]) -> [String] {
        var parser = ResponseParser(
            method: settings["head"] == 1 ? .head : .get, limits: WireLimits.responses.changed(by: settings),
            maxBodyBytes: settings["maxBodyBytes"] ?? 64 * 1024)
        var lines: [String] = []
        var pending: [UInt8] = []
        var body: [UInt8] = []
        var isOver = false
        for piece in pieces {
            pending += piece
            var offset = 0
            var needsMore = false
            while !needsMore {
                switch parser.next(pending.span, at: &offset) {
                case .needMoreBytes: needsMore = true
                case .head(let head): lines += describe(head)
                case .body(let range): body += pending[range]
                case .end:
                    flush(&body, to: &lines)
                    lines.append("end")
                    isOver = true
                case .failure(let error):
                    flush(&body, to: &lines)
                    return lines + ["failure \(error)"]
                }
            }
            pending.removeFirst(offset)
        }
        flush(&body, to: &lines)
        if isOver { return pending.isEmpty ? lines : lines + ["left \(pending.count)"] }
        return lines + [parser.isCompleteAtClose ? "complete when closed" : "cut off when closed"]
    }

    private static func flush(_ body: inout [UInt8], to lines: inout [String]) {
        if !body.isEmpty { lines.append("body \"\(Transcript.escape(body))\"") }
        body = []
    }

    private static func describe(_ head: ResponseHead) -> [String] {
        var line = "head \(head.status.code) \(head.version == .http11 ? "HTTP/1.1" : "HTTP/1.0")"
        line += head.keepAlive ? ", keep alive" : ", close"
        switch head.framing {
        case .none: break
        case .length(let length): line += ", body \(length)"
        case .chunked: line += ", chunked body"
        case .untilClose: line += ", body until the connection closes"
        }
        return [line] + Transcript.describe(head.section)
    }
}
