import HTTPTypes

@testable import HTTPWire

extension ResponseHead {
    /// The content of a head, for comparison.
    struct Observation: Equatable {
        let status: Int
        let framing: BodyFraming
        let keepAlive: Bool
        let version: HTTPVersion
        let bytes: [UInt8]
        let fields: [FieldSlices]
    }

    var observation: Observation {
        Observation(
            status: status.code, framing: framing, keepAlive: keepAlive, version: version, bytes: section.bytes,
            fields: section.fields)
    }
}

private struct ObservedResponse: ObservedParser {
    var parser: ResponseParser

    init(_ method: HTTPRequest.Method, _ settings: WireSettings) {
        parser = ResponseParser(method: method, limits: settings.limits, maxBodyBytes: settings.maxBodyBytes)
    }

    mutating func nextEvent(_ bytes: Span<UInt8>, at offset: inout Int) -> WireEvent {
        switch parser.next(bytes, at: &offset) {
        case .needMoreBytes: .needMoreBytes
        case .head(let head): .head(.response(head.observation))
        case .body(let range): .body(range)
        case .end: .end
        case .failure(let error): .failure(error)
        }
    }

    /// After its end a response is not waited for, and says so by being complete.
    var atEnd: WireObservation? {
        guard parser.isCompleteAtClose else { return .waiting }
        return .completeWhenClosed
    }
}

/// The input is what a server sends. A head that passes is read again by rules written down here a second time.
@Sendable func checkResponseHead(_ input: [UInt8]) throws(Disagreement) {
    _ = try observeInEveryCut(input, with: ObservedResponse(.get, .narrow))
    for method in [HTTPRequest.Method.get, .head] {
        let said = try observeInEveryCut(input, with: ObservedResponse(method, .product))
        var heads = 0
        for case .response(let head) in said {
            try checkLines(head, answersHEAD: method == .head)
            heads += 1
        }
        try hold(heads <= 1, "There is one final response")
        let ends = said.contains(.end)
        try hold(!ends || said.last == .completeWhenClosed, "What has ended is complete")
    }
}

private func checkLines(_ head: ResponseHead.Observation, answersHEAD: Bool) throws(Disagreement) {
    var lines: [[UInt8]] = [[]]
    for byte in head.bytes where byte != 0x0D {
        try hold(byte == 0x0A || byte == 0x09 || byte >= 0x20 && byte != 0x7F, "No control character is left in a head")
        if byte == 0x0A { lines.append([]) } else { lines[lines.count - 1].append(byte) }
    }
    if lines.last == [] { lines.removeLast() }
    let status = String(decoding: lines.removeFirst().prefix(12), as: UTF8.self)
    try agree(
        "HTTP/1.\(head.version == .http11 ? 1 : 0) \(head.status)", status, "Version and status are the first line")
    try hold(head.status >= 200, "An interim response is none")
    try agree(lines.count, head.fields.count, "Every line is a field")

    var values: [String: [String]] = [:]
    for (line, field) in zip(lines, head.fields) {
        let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        let value = line.dropFirst(name.utf8.count + 1).drop { $0 == 0x20 || $0 == 0x09 }.reversed()
            .drop { $0 == 0x20 || $0 == 0x09 }.reversed()
        try agree(Array(head.bytes[field.value.range]), Array(value), "The value is the line's")
        values[name.lowercased(), default: []].append(asciiText(value))
    }
    try checkFraming(head, values, answersHEAD: answersHEAD)
}

/// RFC 9112 §6.3 and §9.3 once more.
private func checkFraming(
    _ head: ResponseHead.Observation, _ values: [String: [String]], answersHEAD: Bool
) throws(Disagreement) {
    let lengths = values["content-length"] ?? []
    let codings = values["transfer-encoding"] ?? []
    var framing: BodyFraming?
    switch (lengths.count, codings.count) {
    case (0, 0): framing = .untilClose
    case (1, 0): framing = Int(lengths[0]).map { $0 == 0 ? .none : .length($0) }
    case (0, 1): framing = codings[0].lowercased() == "chunked" && head.version == .http11 ? .chunked : nil
    default: break
    }
    try hold(framing != nil, "Content-Length \(lengths) and Transfer-Encoding \(codings) can be read in two ways")
    if answersHEAD || [204, 304].contains(head.status) { framing = BodyFraming.none }
    try agree(head.framing, framing, "The fields frame the body")

    let options = (values["connection"] ?? []).flatMap { $0.lowercased().split(separator: ",") }
        .map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ") }
    let keepAlive = !options.contains("close") && (head.version == .http11 || options.contains("keep-alive"))
    try agree(head.keepAlive, keepAlive && framing != .untilClose, "Connection \(options) says whether it stays")
}

/// The first byte says how the body is framed: `c` in chunks, `C` in chunks within narrow limits, `u` until the end, any
/// other is a Content-Length. The rest is what follows the head.
@Sendable func checkResponseBody(_ input: [UInt8]) throws(Disagreement) {
    guard let kind = input.first else { return }
    let rest = Array(input.dropFirst())
    let settings = kind == UInt8(ascii: "C") ? WireSettings.narrow : .product
    switch kind {
    case UInt8(ascii: "c"), UInt8(ascii: "C"):
        let said = try observe("Transfer-Encoding:chunked\r\n", rest, settings)
        var reader = ChunkReader(rest: rest[...])
        let outcome = reader.read()
        let body = said.body
        try hold(reader.body.starts(with: body), "The body is what the chunks say: \(body) of \(reader.body)")
        switch (said.last, outcome) {
        case (.completeWhenClosed?, .complete): try agree(body, reader.body, "The body is whole")
        case (.waiting?, .incomplete): try agree(body, reader.body, "What has come of the body is there")
        // A limit may be reached before what is malformed.
        case (.failure?, .malformed): break
        case (.failure(let error)?, _): try hold(error.isLimit, "\(error) is a limit")
        default: throw Disagreement(description: "Chunks are read in two ways: \(said) and \(outcome)")
        }
    case UInt8(ascii: "u"):
        let said = try observe("", rest, settings)
        try agree(said.body, rest, "All that comes is the body")
        try agree(said.last, .completeWhenClosed, "The end of the connection is the end of the body")
    default:
        let said = try observe("Content-Length:\(kind)\r\n", rest, settings)
        try agree(said.body, Array(rest.prefix(Int(kind))), "Content-Length \(kind) bytes are the body")
        try agree(said.last, rest.count >= Int(kind) ? .completeWhenClosed : .waiting, "The length says where it ends")
    }
}

private func observe(
    _ field: String, _ rest: [UInt8], _ settings: WireSettings
) throws(Disagreement) -> [WireObservation] {
    let message = Array("HTTP/1.1 200 OK\r\n\(field)\r\n".utf8) + rest
    return try observeInEveryCut(message, with: ObservedResponse(.get, settings))
}

extension [WireObservation] {
    /// The bytes of the body, which comes right after the head.
    fileprivate var body: [UInt8] {
        guard count > 1, case .body(let bytes) = self[1] else { return [] }
        return bytes
    }
}
