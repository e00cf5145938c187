import HTTPTypes

@testable import HTTPWire

/// The input is a Cookie field; each of its lines is one field line, and all of them count as one.
@Sendable func checkCookies(_ input: [UInt8]) throws(Disagreement) {
    // Written here, since HTTPField repairs what it does not allow.
    let message =
        Array("GET / HTTP/1.1\r\nHost: a\r\n".utf8)
        + lines(input).flatMap { Array("Cookie: ".utf8) + $0 + Array("\r\n".utf8) } + Array("\r\n".utf8)
    var parser = RequestParser()
    var offset = 0
    guard case .head(let head, _) = parser.next(message.span, at: &offset) else { return }
    let cookies = RequestCookies(head)
    let pairs = lines(input).flatMap { readAgain(Array($0)) }
    var values: [[UInt8]: [String]] = [:]
    for pair in pairs { values[pair.name, default: []].append(asciiText(pair.value)) }
    for pair in pairs {
        // Nobody asks for a name that is not text.
        guard let name = String(validating: pair.name, as: UTF8.self) else { continue }
        let expected = values[pair.name] ?? []
        var all: [String] = []
        let _: Never? = cookies.first(name) { value in
            all.append(asciiText(value.withUnsafeBufferPointer { Array($0) }))
            return nil
        }
        try agree(all, expected, "All cookies of the name \(name)")
        try agree(cookies[name], expected.first, "The first of them")
        try checkWriting(name, asciiText(pair.value))
    }
}

/// RFC 6265 §5.4 from the reading side, by splitting: no name is empty, quotes around a value are taken off.
private func readAgain(_ line: [UInt8]) -> [(name: [UInt8], value: [UInt8])] {
    line.split(separator: UInt8(ascii: ";")).compactMap { member in
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = trimmed(member[..<equals])
        var value = trimmed(member[equals...].dropFirst())[...]
        let quote = UInt8(ascii: "\"")
        if value.count > 1, value.first == quote, value.last == quote { value = value.dropFirst().dropLast() }
        return name.isEmpty ? nil : (name, Array(value))
    }
}

private func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
    let blanks: [UInt8] = [0x20, 0x09]
    return bytes.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed()
}

/// Parse ∘ write = identity for every cookie that can be written, among others; the rest is refused.
private func checkWriting(_ name: String, _ value: String) throws(Disagreement) {
    guard let cookie = try? SetCookie(name: name, value: value, path: "/a", maxAge: value.utf8.count) else { return }
    let attributes = cookie.headerValue.components(by: "; ")
    try agree(
        attributes,
        ["\(name)=\(value)", "Path=/a", "Max-Age=\(value.utf8.count)", "Secure", "HttpOnly", "SameSite=Lax"],
        "A cookie that is written has its attributes and no others")
    let head = try? RequestHead(target: "/", headerFields: [.cookie: "\(attributes[0]);after=2"])
    try agree(head.flatMap { RequestCookies($0)[name] }, value, "A cookie that was set comes back")
}

extension String {
    /// Split byte by byte, not by characters.
    fileprivate func components(by separator: String) -> [String] {
        utf8.split(separator: Array(separator.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
}
