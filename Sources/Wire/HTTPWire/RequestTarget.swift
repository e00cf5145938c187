import WebFormats

// The destination of the request: the four forms of the target (RFC 9112 §3.2), and the host.

extension HeadLayout {
    /// Reads `bytes[target]`: a path with an optional query, an absolute http or https URL, or `*`. The method is known.
    mutating func readTarget(_ bytes: Span<UInt8>, _ target: Range<Int>) throws(WireError) {
        guard !Self.equals(bytes, method.range, "CONNECT") else { throw .connectNotSupported }
        self.target = Slice16(target)
        let first = bytes[target.lowerBound]
        if first == ASCII.slash {
            try readPath(bytes, target)
        } else if first == UInt8(ascii: "*"), target.count == 1 {
            guard Self.equals(bytes, method.range, "OPTIONS") else { throw .invalidTarget }
            path = self.target
        } else {
            try readAbsoluteForm(bytes, target)
        }
    }

    /// Splits `bytes[range]` at its first `?`. Browsers do not encode ``|^`{}"\`` in queries, so every visible
    /// character is accepted, except `#`: a fragment is never sent, and a reader that treats one differently could be
    /// misled by it.
    private mutating func readPath(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(WireError) {
        var question = range.upperBound
        for index in range {
            let byte = bytes[index]
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else { throw .invalidTarget }
            if byte == UInt8(ascii: "?"), question == range.upperBound { question = index }
        }
        path = Slice16(range.lowerBound..<question)
        if question < range.upperBound {
            flags.insert(.hasQuery)
            query = Slice16((question + 1)..<range.upperBound)
        }
    }

    /// Reads `http://host[:port][/path][?query]`; its authority replaces the Host field (RFC 9112 §3.2.2).
    private mutating func readAbsoluteForm(_ bytes: Span<UInt8>, _ target: Range<Int>) throws(WireError) {
        let start: Int
        if target.count > 7, ASCII.matches(bytes, target.lowerBound..<(target.lowerBound + 7), "http://") {
            start = target.lowerBound + 7
        } else if target.count > 8, ASCII.matches(bytes, target.lowerBound..<(target.lowerBound + 8), "https://") {
            start = target.lowerBound + 8
        } else {
            throw .invalidTarget
        }
        var end = start
        while end < target.upperBound, bytes[end] != ASCII.slash, bytes[end] != UInt8(ascii: "?") { end += 1 }
        guard Host.isValid(bytes, start..<end) else { throw .invalidTarget }
        flags.insert(.absoluteForm)
        host = Slice16(start..<end)
        try readPath(bytes, end..<target.upperBound)
    }

    /// Whether the text is equal. Methods are case-sensitive (RFC 9110 §9.1).
    static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in wanted.indices where bytes[range.lowerBound + index] != wanted[index] { return false }
            return true
        }
    }
}

/// Validates `uri-host [ ":" port ]` (RFC 9110 §7.2), as strictly as names and addresses allow: no user information, no
/// percent encoding, and none of the other characters that RFC 3986 allows in a registered name but no host has.
enum Host {
    static func isValid(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        guard index < range.upperBound else { return false }
        if bytes[index] == UInt8(ascii: "[") {
            index += 1
            let address = index
            while index < range.upperBound, isInAddress(bytes[index]) { index += 1 }
            guard index < range.upperBound, index > address + 1, bytes[index] == UInt8(ascii: "]") else { return false }
            index += 1
        } else {
            while index < range.upperBound, isInName(bytes[index]) { index += 1 }
            guard index > range.lowerBound else { return false }
        }
        if index == range.upperBound { return true }
        guard bytes[index] == ASCII.colon else { return false }
        return isPort(bytes, (index + 1)..<range.upperBound)
    }

    private static func isPort(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var port = 0
        guard range.count <= 5 else { return false }
        for index in range {
            guard ASCII.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] &- 0x30)
        }
        return port <= 65535
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
    }

    private static func isInAddress(_ byte: UInt8) -> Bool {
        Hex.value(of: byte) != nil || byte == ASCII.colon || byte == UInt8(ascii: ".")
    }
}
