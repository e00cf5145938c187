import HTTPTypes

@testable import HTTPWire

/// The input is what a client sends. Every head that passes is read again by rules written down here a second time, and
/// written out again from what its accessors say.
@Sendable func checkRequestHead(_ input: [UInt8]) throws(Disagreement) {
    _ = try observeInEveryCut(input, .narrow)
    var heads: [RequestHead] = []
    _ = try observeInEveryCut(input, .product) { heads.append($0) }
    for head in heads {
        try checkLines(head)
        try checkRewriting(head)
    }
}

private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// A field's value as text: each byte beyond ASCII is U+FFFD.
func asciiText(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : "\u{FFFD}" }.joined()
}

/// The head's own bytes, split at CR LF: nothing about the request is decided in two ways.
private func checkLines(_ head: RequestHead) throws(Disagreement) {
    var lines: [[UInt8]] = [[]]
    var rest = head.bytes[...]
    while let byte = rest.popFirst() {
        if byte == 0x0D, rest.first == 0x0A {
            rest.removeFirst()
            lines.append([])
        } else {
            try hold(!isControl(byte), "No control character is left in a head")
            lines[lines.count - 1].append(byte)
        }
    }
    // The window ends with the last field's line end, or with the request line's.
    if lines.last == [] { lines.removeLast() }
    let request = lines.removeFirst().split(separator: 0x20, omittingEmptySubsequences: false).map(text)
    try agree(request.count, 3, "A request line has three words")
    try agree([head.method.rawValue, head.target], Array(request.prefix(2)), "Method and target are the first two")
    try agree(head.version == .http11 ? "HTTP/1.1" : "HTTP/1.0", request[2], "The version is the third")
    try agree(lines.count, head.fields.count, "Every line is a field")

    var values: [String: [String]] = [:]
    for (line, field) in zip(lines, head.fields) {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        try hold(colon < line.endIndex && colon > 0, "A field has a name and a colon")
        let name = text(line[..<colon])
        try hold(HTTPField.Name(name) != nil, "A field's name is a token")
        let blank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let value = line[(colon + 1)...].drop(while: blank).reversed().drop(while: blank).reversed()
        try agree(text(head.bytes[field.name.range]), name, "The field's name")
        try agree(Array(head.bytes[field.value.range]), Array(value), "The field's value")
        values[name.lowercased(), default: []].append(asciiText(value))
    }
    try checkFraming(head, values)
    for name in values.keys {
        guard let field = HTTPField.Name(name) else { continue }
        try agree(head.values(for: field), values[name] ?? [], "All values of \(name)")
    }
}

private func checkFraming(_ head: RequestHead, _ values: [String: [String]]) throws(Disagreement) {
    let isHTTP11 = head.version == .http11
    let lengths = values["content-length"] ?? []
    let codings = values["transfer-encoding"] ?? []
    let framing: BodyFraming?
    switch (lengths.count, codings.count) {
    case (0, 0): framing = BodyFraming.none
    case (1, 0):
        let isNumber = lengths[0].allSatisfy { "0123456789".contains($0) }
        framing = isNumber ? Int(lengths[0]).map { $0 == 0 ? .none : .length($0) } : nil
    case (0, 1): framing = isHTTP11 && codings[0].lowercased() == "chunked" ? .chunked : nil
    default: framing = nil
    }
    try agree(framing, head.framing, "Content-Length \(lengths) and Transfer-Encoding \(codings) frame the body")

    let hosts = values["host"] ?? []
    try hold(hosts.count == 1 || hosts.isEmpty && !isHTTP11, "There is one Host")
    if head.target.hasPrefix("/") || head.target == "*" {
        try agree(head.host, hosts.first ?? "", "The host is the Host field's")
        try agree(head.target, head.query.map { "\(head.path)?\($0)" } ?? head.path, "Path and query make the target")
    } else {
        try hold(head.target.lowercased().hasPrefix("http"), "Another target is a URL")
        try hold(head.path.hasPrefix("/") || head.path == "*", "A URL's path begins with a slash")
        try hold(head.target.dropFirst(7).contains(head.host), "The host is the target's")
    }
    try hold(head.host.utf8.allSatisfy { !"/?#@\\ ".utf8.contains($0) }, "A host has no delimiters")

    let options = (values["connection"] ?? []).flatMap { $0.lowercased().split(separator: ",") }
        .map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ") }
    let keepAlive = !options.contains("close") && (isHTTP11 || options.contains("keep-alive"))
    try agree(head.keepAlive, keepAlive, "Connection \(options) says whether the connection stays")
}

/// Parse ∘ write = identity: what a head says of itself makes the same head.
private func checkRewriting(_ head: RequestHead) throws(Disagreement) {
    guard head.version == .http11 else { return }
    let again: RequestHead
    do {
        again = try RequestHead(method: head.method, target: head.target, headerFields: head.headerFields)
    } catch {
        throw Disagreement(description: "A head that was read can be written: \(error)")
    }
    try agree(again.method, head.method, "Method")
    try agree(again.target, head.target, "Target")
    try agree(again.path, head.path, "Path")
    try agree(again.query, head.query, "Query")
    try agree(again.host, head.host, "Host")
    try agree(again.framing, head.framing, "Framing")
    try agree(again.keepAlive, head.keepAlive, "Keep-alive")
    try agree(again.expectsContinue, head.expectsContinue, "Expect")
    try agree(again.headerFields, head.headerFields, "Fields")
}
