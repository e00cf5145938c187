import HTTPTypes

/// The cookies of a request, read leniently (RFC 6265 §5.4 and §4.2.1 from the reading side): what is not `name=value`
/// is skipped, never an error, since other applications on the host set cookies too. Bytes beyond ASCII become U+FFFD.
public struct RequestCookies: Sendable {
    private let bytes: [UInt8]

    /// The cookies of a head; several Cookie lines count as one.
    public init(_ head: RequestHead) {
        var joined: [UInt8] = []
        for slice in head.slices(for: .cookie) {
            if !joined.isEmpty { joined.append(ASCII.semicolon) }
            joined += head.bytes[slice]
        }
        bytes = joined
    }

    /// The value of the first cookie of that name. Names are case-sensitive. Quotes around a value are taken off.
    public subscript(name: String) -> String? {
        var found: String?
        forEach { cookie, value in
            guard matches(cookie, name) else { return true }
            found = text(value)
            return false
        }
        return found
    }

    /// The values of all cookies of that name, in the order sent.
    public func all(_ name: String) -> [String] {
        var values: [String] = []
        forEach { cookie, value in
            if matches(cookie, name) { values.append(text(value)) }
            return true
        }
        return values
    }

    /// Calls `body` with each cookie's name and value until it returns false.
    private func forEach(_ body: (Range<Int>, Range<Int>) -> Bool) {
        let bytes = bytes.span
        var start = 0
        while start < bytes.count {
            var end = start
            var equals: Int?
            while end < bytes.count, bytes[end] != ASCII.semicolon {
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
