import Foundation
import HTTPTypes
import HTTPWire
import WebFormats

/// The field `traceparent` (W3C Trace Context, section 3.2): which trace a request belongs to, and its sender's span.
///
/// `tracestate` is not handed on: it may hold anything, and what we call belongs to others.
struct TraceParent: Sendable, Equatable {
    /// 32 lower-case hexadecimal digits, not all zero.
    let traceID: String
    /// Whether the trace's originator records it (the `sampled` flag).
    let isSampled: Bool

    init(traceID: String, isSampled: Bool) {
        self.traceID = traceID
        self.isSampled = isSampled
    }

    /// Reads a field's value; nil when it is none that the specification allows, which is to be treated as if there
    /// were none (section 4.3). Later versions may have more behind the flags.
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

    /// The request's; nil when it has none or several.
    init?(_ head: RequestHead) {
        guard head.contains(.traceparent) else { return nil }
        let values = head.values(for: .traceparent)
        guard values.count == 1, let value = values.first else { return nil }
        self.init(value)
    }

    /// The field for a request of ours within this trace, which is a new span.
    func child() -> String {
        let span = withUnsafeBytes(of: UInt64.random(in: 1 ... .max), Hex.encode)
        return "00-\(traceID)-\(span)-\(isSampled ? "01" : "00")"
    }

    /// Up to 16 digits; upper case is not allowed (section 3.2.2).
    private static func hex(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for byte in bytes {
            guard let digit = Hex.value(of: byte), !(0x41...0x46).contains(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }
}
