import HTTPTypes
import HTTPWire
import WebFormats

/// The header field `traceparent` (W3C Trace Context, section 3.2), with the trace of a request and its sender's span.
///
/// `tracestate` is not passed on: it may contain anything, and other parties run the services that we call.
struct TraceParent: Sendable, Equatable {
    /// 32 lower-case hexadecimal digits, not all zero.
    let traceID: String
    /// Whether the trace's originator records it (the `sampled` flag).
    let isSampled: Bool

    init(traceID: String, isSampled: Bool) {
        self.traceID = traceID
        self.isSampled = isSampled
    }

    /// Parses a field's value; returns nil if the specification does not allow it, which has the same effect as no
    /// field (section 4.3). Later versions may add more after the flags.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 55, bytes[2] == UInt8(ascii: "-"), bytes[35] == UInt8(ascii: "-"),
            bytes[52] == UInt8(ascii: "-"), let version = TraceParent.hex(bytes[0..<2]), version != 0xFF,
            let high = TraceParent.hex(bytes[3..<19]), let low = TraceParent.hex(bytes[19..<35]), high | low != 0,
            let span = TraceParent.hex(bytes[36..<52]), span != 0, let flags = TraceParent.hex(bytes[53..<55])
        else { return nil }
        guard bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-") else { return nil }
        traceID = String(decoding: bytes[3..<35], as: UTF8.self)
        isSampled = flags & 1 == 1
    }

    /// Returns the field of a request; nil if there is none, or more than one.
    init?(_ head: RequestHead) {
        guard head.contains(.traceparent) else { return nil }
        let values = head.values(for: .traceparent)
        guard values.count == 1, let value = values.first else { return nil }
        self.init(value)
    }

    /// Returns the field for an outgoing request within this trace, with a new span.
    func child() -> String {
        let span = withUnsafeBytes(of: UInt64.random(in: 1 ... .max), Hex.encode)
        return "00-\(traceID)-\(span)-\(isSampled ? "01" : "00")"
    }

    /// Parses up to 16 digits. Upper case is not allowed (section 3.2.2).
    private static func hex(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for byte in bytes {
            guard let digit = Hex.value(of: byte), !(0x41...0x46).contains(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }
}
