// Decides where the body ends (RFC 9112 §6.3), from the fields in the head. Two readers that decide differently are a
// request-smuggling hole, so anything that could be read in two ways is refused.

extension HeadLayout {
    /// Records what a field of a request determines about the connection and the body.
    @inline(__always)
    mutating func noteField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) throws(WireError) {
        // The lengths of these names differ from those of almost all other fields.
        switch name.count {
        case 4: if ASCII.matches(bytes, name, "host") { try noteHost(bytes, value) }
        case 6: if ASCII.matches(bytes, name, "expect") { noteExpect(bytes, value) }
        default: try noteFramingField(bytes, name: name, value: value)
        }
    }

    /// Records the fields that requests and responses have in common.
    @inline(__always)
    mutating func noteFramingField(_ bytes: Span<UInt8>, name: Range<Int>, value: Range<Int>) throws(WireError) {
        switch name.count {
        case 10: if ASCII.matches(bytes, name, "connection") { noteConnection(bytes, value) }
        case 14: if ASCII.matches(bytes, name, "content-length") { try noteContentLength(bytes, value) }
        case 17: if ASCII.matches(bytes, name, "transfer-encoding") { try noteTransferEncoding(bytes, value) }
        default: break
        }
    }

    /// Checks that a request's fields are consistent, after all are known.
    func checkRequest() throws(WireError) {
        guard flags.contains(.hasHost) || !flags.contains(.http11) else { throw .missingHost }
        try checkFraming()
    }

    /// Checks that any message's framing fields are consistent.
    func checkFraming() throws(WireError) {
        guard !flags.contains([.hasContentLength, .chunked]) else { throw .contentLengthWithTransferEncoding }
    }

    /// Returns the framing of the body; `otherwise` if no field determines it.
    func framing(else otherwise: BodyFraming) -> BodyFraming {
        if flags.contains(.chunked) { return .chunked }
        guard flags.contains(.hasContentLength) else { return otherwise }
        return contentLength == 0 ? .none : .length(contentLength)
    }

    /// Whether another message may follow on the connection (RFC 9112 §9.3), if this one's end is known.
    var keepsAlive: Bool {
        if flags.contains(.connectionClose) { return false }
        return flags.contains(.http11) || flags.contains(.connectionKeepAlive)
    }

    private mutating func noteHost(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(WireError) {
        guard !flags.contains(.hasHost) else { throw .repeatedHost }
        guard Host.isValid(bytes, value) else { throw .invalidHost }
        flags.insert(.hasHost)
        if !flags.contains(.absoluteForm) { host = Slice16(value) }
    }

    /// Reads digits and nothing else. RFC 9112 §6.3 allows merging a list of equal numbers, but no client sends one.
    private mutating func noteContentLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(WireError) {
        guard !flags.contains(.hasContentLength) else { throw .repeatedContentLength }
        guard !value.isEmpty else { throw .invalidContentLength }
        var length = 0
        for index in value {
            guard ASCII.isDigit(bytes[index]) else { throw .invalidContentLength }
            let (product, productOverflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = product.addingReportingOverflow(Int(bytes[index] &- 0x30))
            guard !productOverflow, !sumOverflow else { throw .invalidContentLength }
            length = sum
        }
        flags.insert(.hasContentLength)
        contentLength = length
    }

    private mutating func noteTransferEncoding(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(WireError) {
        guard flags.contains(.http11) else { throw .transferEncodingInHTTP10 }
        guard !flags.contains(.chunked) else { throw .repeatedTransferEncoding }
        guard ASCII.matches(bytes, value, "chunked") else { throw .invalidTransferEncoding }
        flags.insert(.chunked)
    }

    private mutating func noteConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        ASCII.forEachListMember(bytes, value) { option in
            if ASCII.matches(bytes, option, "close") { flags.insert(.connectionClose) }
            if ASCII.matches(bytes, option, "keep-alive") { flags.insert(.connectionKeepAlive) }
        }
    }

    private mutating func noteExpect(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        ASCII.forEachListMember(bytes, value) { expectation in
            if ASCII.matches(bytes, expectation, "100-continue") { flags.insert(.expectsContinue) }
        }
    }
}
