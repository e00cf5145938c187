import HTTPTypes

@testable import HTTPWire

/// The input is a Cookie field; each of its lines is one field line.
@Sendable func checkCookies(_ input: [UInt8]) throws(Disagreement) {
    let header = lines(input).map { String(decoding: $0, as: UTF8.self) }.joined(separator: ";")
    let cookies = RequestCookies(header)
    let pairs = readAgain(header)
    var values: [[UInt8]: [String]] = [:]
    for pair in pairs { values[Array(pair.name.utf8), default: []].append(pair.value) }
    for pair in pairs {
        let expected = values[Array(pair.name.utf8)] ?? []
        try agree(cookies.all(pair.name), expected, "All cookies of the name \(pair.name)")
        try agree(cookies[pair.name], expected.first, "The first of them")
        try checkWriting(pair.name, pair.value)
    }
    try checkFieldLines(input)
}

/// RFC 6265 §5.4 from the reading side, by splitting: no name is empty, quotes around a value are taken off.
private func readAgain(_ header: String) -> [(name: String, value: String)] {
    header.utf8.split(separator: UInt8(ascii: ";")).compactMap { member in
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = trimmed(member[..<equals])
        var value = trimmed(member[equals...].dropFirst())[...]
        let quote = UInt8(ascii: "\"")
        if value.count > 1, value.first == quote, value.last == quote { value = value.dropFirst().dropLast() }
        return name.isEmpty ? nil : (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
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
    try agree(RequestCookies("\(attributes[0]);after=2")[name], value, "A cookie that was set comes back")
}

extension String {
    /// Split byte by byte, not by characters.
    fileprivate func components(by separator: String) -> [String] {
        utf8.split(separator: Array(separator.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Several Cookie lines count as one.
private func checkFieldLines(_ input: [UInt8]) throws(Disagreement) {
    var fields = HTTPFields()
    guard String(validating: input, as: UTF8.self) != nil else { return }
    for line in lines(input) { fields.append(HTTPField(name: .cookie, value: Array(line))) }
    guard let head = try? RequestHead(target: "/", headerFields: fields) else { return }
    let joined = RequestCookies(head[.cookie] ?? "")
    for pair in readAgain(head[.cookie] ?? "") {
        try agree(RequestCookies(head).all(pair.name), joined.all(pair.name), "Cookie lines are read as one")
    }
}
