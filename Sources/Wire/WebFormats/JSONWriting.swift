extension JSONValue {
    /// Compact JSON in UTF-8, with members sorted by name, so that equal values have equal bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, [:])
        return bytes
    }

    /// Compact JSON in UTF-8, whose objects begin with these members, in this order; the others follow by name.
    public func bytes(beginningWith names: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, Dictionary(zip(names, names.indices)) { first, _ in first })
        return bytes
    }

    /// ``bytes`` as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    private func write(to bytes: inout [UInt8], _ places: [String: Int]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        // JSON has no other numbers, and the parser creates none.
        case .number(let value): bytes += (value.isFinite ? String(value) : "null").utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes, places)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let inOrder = members.sorted { first, second in
                guard !places.isEmpty else { return first.key < second.key }
                let (left, right) = (places[first.key] ?? .max, places[second.key] ?? .max)
                return left == right ? first.key < second.key : left < right
            }
            for (index, member) in inOrder.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes, places)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x00...0x1F:
                bytes += "\\u00".utf8
                bytes += [Hex.digit(byte >> 4), Hex.digit(byte)]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
