import TestSupport

@testable import HTTPWire

/// The first byte says how the body is framed: `c` in chunks, `C` in chunks within narrow limits, `w` writes the rest as
/// chunks and reads it back, any other is a Content-Length. The rest is what follows the head.
@Sendable func checkBodyFraming(_ input: [UInt8]) throws(Disagreement) {
    guard let kind = input.first else { return }
    let rest = Array(input.dropFirst())
    switch kind {
    case UInt8(ascii: "c"): try checkChunks(rest, .product)
    case UInt8(ascii: "C"): try checkChunks(rest, .narrow)
    case UInt8(ascii: "w"): try checkWriting(rest)
    default: try checkLength(Int(kind), rest)
    }
}

private func head(_ field: String) -> [UInt8] { Array("POST / HTTP/1.1\r\nHost:a\r\n\(field)\r\n\r\n".utf8) }

private func checkLength(_ length: Int, _ rest: [UInt8]) throws(Disagreement) {
    let said = try observeInEveryCut(head("Content-Length:\(length)") + rest, .product)
    var expected: [WireObservation] = []
    if length > 0, !rest.isEmpty { expected.append(.body(Array(rest.prefix(length)))) }
    expected.append(rest.count >= length ? .end : .waiting)
    try agree(Array(said.dropFirst().prefix(expected.count)), expected, "Content-Length \(length) bytes are the body")
    // The bytes behind it are read as a new connection would read them.
    let behind = try observe(Array(rest.dropFirst(length)), cutAt: [], .product)
    try agree(Array(said.dropFirst(1 + expected.count)), behind, "The next request begins behind the body")
}

private func checkChunks(_ rest: [UInt8], _ settings: WireSettings) throws(Disagreement) {
    let said = Array(try observeInEveryCut(head("Transfer-Encoding:chunked") + rest, settings).dropFirst())
    var reader = ChunkReader(rest: rest[...])
    let outcome = reader.read()
    var body: [UInt8] = []
    if case .body(let bytes) = said.first { body = bytes }
    let last = body.isEmpty ? said.first : said.dropFirst().first
    try hold(reader.body.starts(with: body), "The body is what the chunks say: \(body) of \(reader.body)")
    try hold(body.count <= settings.maxBodyBytes, "The body keeps its limit")
    switch (last, outcome) {
    case (.end?, .complete):
        try agree(body, reader.body, "The body is whole")
        let behind = try observe(Array(reader.rest), cutAt: [], settings)
        try agree(Array(said.dropFirst(body.isEmpty ? 1 : 2)), behind, "The next request begins behind the trailers")
    case (.waiting?, .incomplete): try agree(body, reader.body, "What has come of the body is there")
    // A limit may be reached before what is malformed.
    case (.failure?, .malformed): break
    case (.failure(let error)?, _): try hold(error.isLimit, "\(error) is a limit")
    default: throw Disagreement(description: "Chunks are read in two ways: \(said) and \(outcome)")
    }
}

extension WireError {
    var isLimit: Bool {
        switch self {
        case .headTooLarge, .chunkLineTooLong, .chunkExtensionsTooLong, .trailersTooLarge, .tooManyFields,
            .bodyTooLarge:
            true
        default: false
        }
    }
}

/// RFC 9112 §7.1 once more, without limits and without regard to cuts.
struct ChunkReader {
    enum Outcome { case complete, incomplete, malformed }

    var rest: ArraySlice<UInt8>
    var body: [UInt8] = []

    mutating func read() -> Outcome {
        while true {
            guard let line = line() else { return ended(in: rest) }
            let digits = line.prefix { "0123456789abcdefABCDEF".utf8.contains($0) }
            let extensions = line[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
            guard !digits.isEmpty, digits.endIndex == line.endIndex || extensions.first == UInt8(ascii: ";") else {
                return .malformed
            }
            let significant = digits.drop { $0 == UInt8(ascii: "0") }
            // Sizes beyond any limit: over the limit, or too large for a number.
            guard let size = significant.isEmpty ? 0 : Int(String(decoding: significant, as: UTF8.self), radix: 16)
            else { return .malformed }
            if size == 0 { break }
            body += rest.prefix(size)
            rest = rest.dropFirst(size)
            if rest.isEmpty { return .incomplete }
            guard rest.first == 0x0D else { return .malformed }
            guard rest.count > 1 else { return .incomplete }
            guard rest.dropFirst().first == 0x0A else { return .malformed }
            rest = rest.dropFirst(2)
        }
        while let line = line() {
            if line.isEmpty { return .complete }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, name.endIndex < line.endIndex, name.allSatisfy(ASCII.isToken) else {
                return .malformed
            }
        }
        return ended(in: rest)
    }

    /// Up to CR LF; nil when there is none before another control character or the end.
    private mutating func line() -> ArraySlice<UInt8>? {
        let line = rest.prefix { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
        guard rest[line.endIndex...].starts(with: [0x0D, 0x0A]) else { return nil }
        rest = rest[(line.endIndex + 2)...]
        return line
    }

    private func ended(in rest: ArraySlice<UInt8>) -> Outcome {
        let end = rest.drop { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
        return end.isEmpty || end.elementsEqual([0x0D]) ? .incomplete : .malformed
    }
}

/// Parse ∘ write = identity, for every way to cut a body into chunks.
private func checkWriting(_ body: [UInt8]) throws(Disagreement) {
    var choices = SeededGenerator(body)
    var message = head("Transfer-Encoding:chunked")
    var rest = body[...]
    while !rest.isEmpty {
        let size = Int.random(in: 1...rest.count, using: &choices)
        let digits = String(size, radix: 16, uppercase: Bool.random(using: &choices))
        message += "\(Bool.random(using: &choices) ? "0" : "")\(digits)".utf8
        message += [" ;a=\"b\"", "", ""][Int.random(in: 0..<3, using: &choices)].utf8
        message += "\r\n".utf8 + rest.prefix(size) + "\r\n".utf8
        rest = rest.dropFirst(size)
    }
    message += "0\r\nA: b\r\n\r\n".utf8
    let said = Array(try observeInEveryCut(message, .product).dropFirst())
    try agree(said, (body.isEmpty ? [] : [.body(body)]) + [.end], "A body written in chunks comes back")
}
