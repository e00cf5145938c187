package import Foundation
import SessionStore

/// The value of a `$1`; nil is NULL.
package enum Parameter: Sendable {
    case integer(Int64?)
    case flag(Bool)
    case text(String?)
    case blob(Data?)
    case integers([Int64])
    case texts([String])
    case blobs([Data])

    static func key(_ key: SessionKey) -> Parameter { .integer(key.value) }
    static func keys(_ keys: [SessionKey]) -> Parameter { .integers(keys.map(\.value)) }
    static func hash(_ hash: SHA256Hash?) -> Parameter { .blob(hash?.blob) }
    static func key(_ id: KeyRing.KeyID) -> Parameter { .blob(Data(id.bytes)) }

    /// The OID of the type in `pg_type`.
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .flag: 16
        case .text: 25
        case .blob: 17
        case .integers: 1016
        case .texts: 1009
        case .blobs: 1001
        }
    }

    /// The value in PostgreSQL's binary format; nil for NULL.
    var bytes: [UInt8]? {
        switch self {
        case .integer(let value): value.map(Self.bigEndian)
        case .flag(let value): [value ? 1 : 0]
        // PostgreSQL's text cannot contain NUL.
        case .text(let value): value.map(Self.encoded)
        case .blob(let value): value.map { Array($0) }
        case .integers(let values):
            Self.array(of: 20, values.map(Self.bigEndian))
        case .texts(let values): Self.array(of: 25, values.map(Self.encoded))
        case .blobs(let values): Self.array(of: 17, values.map { Array($0) })
        }
    }

    private static func encoded(_ text: String) -> [UInt8] { text.utf8.map { $0 == 0 ? UInt8(ascii: "?") : $0 } }

    /// Encodes an array of one dimension without NULLs: the type, the count and the lower bound 1, then each value with
    /// its length.
    private static func array(of type: Int32, _ values: [[UInt8]]) -> [UInt8] {
        let head = [1, 0, type, Int32(clamping: values.count), 1].flatMap { bigEndian($0) }
        return values.reduce(into: head) { $0 += bigEndian(Int32(clamping: $1.count)) + $1 }
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

extension [Parameter] {
    /// Calls `body` with libpq's form of the values: pointers to them, and their lengths.
    func withPointers<Result>(_ body: ([UnsafePointer<CChar>?], [Int32]) -> Result) -> Result {
        let values = map(\.bytes)
        // One more byte, so that an empty value has an address too.
        let all: [UInt8] = values.reduce(into: []) { all, value in
            all += value ?? []
            all.append(0)
        }
        return all.withUnsafeBytes { bytes in
            var offset = 0
            let pointers = values.map { value -> UnsafePointer<CChar>? in
                defer { offset += (value?.count ?? 0) + 1 }
                return value == nil ? nil : bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            }
            return body(pointers, values.map { Int32(clamping: $0?.count ?? 0) })
        }
    }
}
