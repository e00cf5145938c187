import HTTPTypes
public import WebFormats

/// The part of a resource to send.
public enum ByteRangeOutcome: Sendable, Hashable {
    /// Send all of it with 200: no range was requested, or none that is supported.
    case whole
    /// Send these bytes with 206 and `Content-Range: bytes first-last/length`.
    case part(Range<Int>)
    /// Answer 416 with `Content-Range: bytes */length`.
    case unsatisfiable
}

extension RequestHead {
    /// Returns the part of a resource of `length` bytes that the Range field requests (RFC 9110 §14.2). A server may
    /// ignore Range. This one ignores it on methods other than GET, in other units, when it is malformed, with several
    /// ranges, or when If-Range names another state of the resource. Evaluate the preconditions first.
    public func byteRange(length: Int, validators: Validators, now: HTTPDate) -> ByteRangeOutcome {
        guard method == .get, let range = self[.range], ifRangeHolds(validators, now: now) else { return .whole }
        return Self.parse(range, length: length)
    }

    /// Whether If-Range holds (RFC 9110 §13.1.5): it must be a strong tag that is ours, or exactly the date of our last
    /// change. (HTTP dates are weak validators unless the resource is known not to change twice in one second; files
    /// served here are read once.)
    private func ifRangeHolds(_ validators: Validators, now: HTTPDate) -> Bool {
        guard let condition = self[.ifRange] else { return true }
        if let tag = EntityTag(condition) {
            return validators.entityTag.map { $0.stronglyMatches(tag) } ?? false
        }
        guard let date = HTTPDate(parsing: condition, now: now) else { return false }
        return date == validators.lastModified
    }

    /// Parses `bytes=first-last`, `bytes=first-` or `bytes=-suffix`.
    private static func parse(_ text: String, length: Int) -> ByteRangeOutcome {
        let bytes = Array(text.utf8)
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            ASCII.matches(bytes.span, 0..<equals, "bytes")
        else { return .whole }
        let range = ASCII.trimmed(bytes.span, (equals + 1)..<bytes.count)
        guard let dash = bytes[range].firstIndex(of: UInt8(ascii: "-")) else { return .whole }
        let firstText = bytes[range.lowerBound..<dash]
        let lastText = bytes[(dash + 1)..<range.upperBound]
        guard (firstText + lastText).allSatisfy(ASCII.isDigit) else { return .whole }
        switch (number(firstText), number(lastText)) {
        case (nil, nil): return .whole
        case (nil, let suffix?):
            return suffix == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - suffix)..<length)
        case (let first?, nil):
            return first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?):
            guard first <= last else { return .whole }
            return first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
        }
    }

    /// Returns the number that the digits form, at most the largest Int: every larger one is beyond any resource too.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for digit in digits {
            let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = product.addingReportingOverflow(Int(digit &- 0x30))
            guard !productOverflow, !sumOverflow else { return Int.max }
            value = sum
        }
        return value
    }
}
