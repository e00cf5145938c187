import Foundation
import WebFormats

/// The published vectors of PyPI's `cryptography-vectors`, in the folder that `CRYPTOGRAPHY_VECTORS` names.
enum Vectors {
    static let folder = ProcessInfo.processInfo.environment["CRYPTOGRAPHY_VECTORS"].flatMap { $0.isEmpty ? nil : $0 }
    static let areMissing = "CRYPTOGRAPHY_VECTORS names no folder"

    static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder ?? "")/\(path)")), as: UTF8.self)
    }

    /// The cases of a file: lines `Name = value` until an empty one, with those of the sections before them
    /// (`[Name = value]`, `[P-256,SHA-256]`).
    static func cases(_ path: String) throws -> [[String: String]] {
        var cases: [[String: String]] = []
        var (section, current): ([String: String], [String: String]) = ([:], [:])
        func end() {
            if !current.isEmpty { cases.append(section.merging(current) { $1 }) }
            current = [:]
        }
        for line in try text(path).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        where !line.hasPrefix("#") {
            let parts = line.trimmingCharacters(in: ["[", "]", " "]).split(separator: "=", maxSplits: 1)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard let name = parts.first else {
                end()
                continue
            }
            if line.hasPrefix("[") {
                end()
                if parts.count == 1 { section = [:] }
                section[name] = parts.last
            } else {
                current[name] = parts.count == 1 ? "" : parts.last
            }
        }
        end()
        return cases
    }
}

extension [String: String] {
    /// A value in hexadecimal; an odd number of digits begins with a zero.
    func bytes(_ name: String) -> [UInt8] {
        guard let text = self[name] else { return [] }
        return Hex.decode(text.count % 2 == 0 ? text : "0" + text) ?? []
    }
}
