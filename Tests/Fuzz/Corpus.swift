import Foundation

/// The inputs that were found for a target: one on each line of `Corpus/{target}.txt`, so that a change of it can be read.
/// Printable ASCII stands for itself; `\n`, `\r`, `\t`, `\\` and `\xHH` for all else.
struct Corpus {
    let inputs: [[UInt8]]

    init(of target: FuzzTarget) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpus")
        let text = try String(contentsOf: folder.appendingPathComponent(target.name + ".txt"), encoding: .utf8)
        inputs = text.utf8.split(separator: UInt8(ascii: "\n")).map(Self.unescaped)
    }

    static func unescaped(_ line: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "x"):
                bytes.append(UInt8(String(rest.prefix(2)) ?? "", radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            default: bytes.append(escape)
            }
        }
        return bytes
    }
}
