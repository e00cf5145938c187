import HTTPTypes
import TestSupport

@testable import HTTPWire

/// A parser's events for some bytes, as lines of text, fed as a connection feeds it: bytes not consumed are kept and
/// come again with more behind them.
///
///     head GET /a?b HTTP/1.1 for example.org, keep alive, expects continue, body 5
///       path /a
///       query b
///       Host: example.org
///     body "hello"
///     end
///     failure 400 invalidTarget
///     waiting                      (the bytes end within a request)
struct Transcript {
    private(set) var lines: [String] = []
    private var parser: RequestParser
    private var pending: [UInt8] = []
    private var body: [UInt8] = []
    private(set) var hasFailed = false

    init(settings: [String: Int]) {
        parser = RequestParser(
            limits: WireLimits().changed(by: settings), maxBodyBytes: settings["maxBodyBytes"] ?? 64 * 1024)
    }

    /// The transcript of `bytes` cut into `pieces`.
    static func of(_ pieces: [ArraySlice<UInt8>], settings: [String: Int] = [:]) -> [String] {
        var transcript = Transcript(settings: settings)
        for piece in pieces where !piece.isEmpty { transcript.feed(piece) }
        return transcript.finish()
    }

    mutating func feed(_ piece: ArraySlice<UInt8>) {
        guard !hasFailed else { return }
        pending += piece
        let bytes = pending
        var offset = 0
        loop: while true {
            switch parser.next(bytes.span, at: &offset) {
            case .needMoreBytes: break loop
            case .head(let head, let framing): lines += Self.describe(head, framing)
            case .body(let range): body += bytes[range]
            case .end:
                flushBody()
                lines.append("end")
            case .failure(let error):
                flushBody()
                lines.append("failure \(error.status.code) \(error)")
                hasFailed = true
                break loop
            }
        }
        pending.removeFirst(offset)
    }

    mutating func finish() -> [String] {
        flushBody()
        if !hasFailed, parser.isMidRequest || !pending.isEmpty { lines.append("waiting") }
        return lines
    }

    private mutating func flushBody() {
        if !body.isEmpty { lines.append("body \"\(Self.escape(body))\"") }
        body = []
    }

    private static func describe(_ head: RequestHead, _ framing: BodyFraming) -> [String] {
        var line = "head \(head.method.rawValue) \(head.target) \(head.version == .http11 ? "HTTP/1.1" : "HTTP/1.0")"
        line += " for \(head.host.isEmpty ? "nobody" : head.host), \(head.keepAlive ? "keep alive" : "close")"
        if head.expectsContinue { line += ", expects continue" }
        switch framing {
        case .none: break
        case .length(let length): line += ", body \(length)"
        case .chunked: line += ", chunked body"
        case .untilClose: line += ", body until the connection closes"
        }
        var lines = [line]
        if head.path != head.target { lines.append("  path \(head.path)") }
        if let query = head.query { lines.append("  query \(query)") }
        return lines + describe(head.section)
    }

    static func describe(_ section: FieldSection) -> [String] {
        section.fields.map { field in
            "  \(escape(section.bytes[field.name.range])): \(escape(section.bytes[field.value.range]))"
        }
    }

    static func escape(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        for byte in bytes.prefix(80) {
            switch byte {
            case 0x0D: text += "\\r"
            case 0x0A: text += "\\n"
            case 0x09: text += "\\t"
            case 0x20..<0x7F: text += String(UnicodeScalar(byte))
            default: text += "\\x" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }
        }
        return bytes.count > 80 ? "\(text)… (\(bytes.count) bytes)" : text
    }
}

extension WireLimits {
    /// These limits with those that a case of the corpus sets.
    func changed(by settings: [String: Int]) -> WireLimits {
        var limits = self
        if let bytes = settings["maxHeadBytes"] { limits.maxHeadBytes = bytes }
        if let count = settings["maxFields"] { limits.maxFields = count }
        if let bytes = settings["maxTrailerBytes"] { limits.maxTrailerBytes = bytes }
        return limits
    }
}

extension SeededGenerator {
    /// `bytes` cut at up to `count` random places.
    mutating func cut(_ bytes: [UInt8], places count: Int) -> [ArraySlice<UInt8>] {
        let places = (0..<count).map { _ in Int.random(in: 0...bytes.count, using: &self) }.sorted()
        return zip([0] + places, places + [bytes.count]).map { bytes[$0..<$1] }
    }
}
