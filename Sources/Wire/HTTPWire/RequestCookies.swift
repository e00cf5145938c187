import HTTPTypes

/// The cookies of a request, read leniently (RFC 6265 §5.4, and §4.2.1 from the reader's side): anything that is not
/// `name=value` is skipped and never an error, because other applications on the host set cookies too. Each byte beyond
/// ASCII becomes U+FFFD.
public struct RequestCookies: Sendable {
    private let bytes: [UInt8]
    /// The position of the cookies in the bytes.
    private let range: Range<Int>

    /// Reads the cookies of a head; several Cookie lines count as one.
    public init(_ head: RequestHead) {
        // There is usually one line, which is read in place.
        if let line = head.section.onlySlice(for: .cookie) {
            (bytes, range) = (head.bytes, line)
            return
        }
        var joined: [UInt8] = []
        for slice in head.section.slices(for: .cookie) {
            if !joined.isEmpty { joined.append(ASCII.semicolon) }
            joined += head.bytes[slice]
        }
        (bytes, range) = (joined, joined.indices)
    }

    /// The value of the first cookie with that name. Names are case-sensitive. Quotes around a value are removed.
    public subscript(name: String) -> String? { find(name) { text($0) } }

    /// Returns the first result of `transform` that is not nil, for the cookies with that name. It gets the value's
    /// bytes as they were sent.
    public func first<Value>(_ name: String, _ transform: (Span<UInt8>) -> Value?) -> Value? {
        find(name) { transform(bytes.span.extracting($0)) }
    }

    /// Returns the cookies whose names begin with a prefix, in the order in which they were sent. Quotes around a value
    /// are removed.
    public func all(withPrefix prefix: String) -> [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        forEach { name, value in
            if bytes[name].starts(with: prefix.utf8) { found.append((text(name), text(value))) }
            return true
        }
        return found
    }

    private func find<Value>(_ name: String, _ transform: (Range<Int>) -> Value?) -> Value? {
        var found: Value?
        forEach { cookie, value in
            guard matches(cookie, name) else { return true }
            found = transform(value)
            return found == nil
        }
        return found
    }

    /// Calls `body` with each cookie's name and value until it returns false.
    private func forEach(_ body: (Range<Int>, Range<Int>) -> Bool) {
        let bytes = bytes.span
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start
            var equals: Int?
            while end < range.upperBound, bytes[end] != ASCII.semicolon {
                if equals == nil, bytes[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            if let equals {
                let name = ASCII.trimmed(bytes, start..<equals)
                var value = ASCII.trimmed(bytes, (equals + 1)..<end)
                let quote = UInt8(ascii: "\"")
                if value.count >= 2, bytes[value.lowerBound] == quote, bytes[value.upperBound - 1] == quote {
                    value = (value.lowerBound + 1)..<(value.upperBound - 1)
                }
                if !name.isEmpty, !body(name, value) { return }
            }
            start = end + 1
        }
    }

    private func matches(_ range: Range<Int>, _ name: String) -> Bool {
        let wanted = name.utf8.span
        guard range.count == wanted.count else { return false }
        let bytes = bytes.span
        for index in wanted.indices where bytes[range.lowerBound + index] != wanted[index] { return false }
        return true
    }

    private func text(_ range: Range<Int>) -> String { ASCII.text(bytes[range]) }
}
