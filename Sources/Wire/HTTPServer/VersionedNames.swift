import Cryptography
import Foundation
import WebFormats

/// Names of files that include a hash of their content, such as `/assets/flow.0123456789ab.js` beside
/// `/assets/flow.js`. The content of such a name never changes, so browsers keep it without revalidation.
///
/// References between the files are rewritten to these names: a path from the root (`/assets/flow.js`) or from the
/// file's folder (`./flow.js`, `../base/page.js`), in a module's import, a style or a page. A file's hash covers its
/// content and all files that it refers to, directly or indirectly: when one changes, so do the names of the files that
/// lead to it.
struct VersionedNames: Sendable {
    private static let hashDigits = 12

    /// The versioned names by plain path.
    private var names: [String: String] = [:]

    /// - Parameter files: contents by path. References in text files are followed.
    init(_ files: [String: [UInt8]]) {
        var hashes: [String: [UInt8]] = [:]
        var references: [String: Set<String>] = [:]
        for (path, content) in files {
            hashes[path] = Array(SHA256.hash(data: content))
            guard ContentType.isText(ContentType.of(fileName: path)) else { continue }
            references[path] = Set(Self.words(of: content).compactMap { Self.target($0, from: path) })
                .filter { files[$0] != nil }
        }
        for path in files.keys {
            var reached: Set<String> = [path]
            var waiting = [path]
            while let next = waiting.popLast() {
                for target in references[next] ?? [] where reached.insert(target).inserted { waiting.append(target) }
            }
            var hash = SHA256()
            for path in reached.sorted() {
                hash.update(data: SHA256.hash(data: path.utf8))
                hash.update(data: hashes[path] ?? [])
            }
            guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { continue }
            let digits = Hex.encode(hash.finalize()).prefix(Self.hashDigits)
            names[path] = "\(path[..<dot]).\(digits)\(path[dot...])"
        }
    }

    /// Returns the versioned name of a file; nil if it has none.
    subscript(path: String) -> String? { names[path] }

    /// Returns the content with its references rewritten.
    ///
    /// - Parameter path: the path of the content itself, from which relative references lead.
    func rewritten(_ content: [UInt8], at path: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = content.startIndex
        for word in Self.words(of: content) {
            guard let target = Self.target(word, from: path), let name = names[target] else { continue }
            // Only the last part changes, so a relative reference works below any path.
            let slash = word.lastIndex(of: UInt8(ascii: "/")) ?? word.startIndex
            result += content[rest...slash]
            result += name[Self.folder(of: name).endIndex...].utf8
            rest = word.endIndex
        }
        return result + content[rest...]
    }

    /// Returns the plain path for what may be a versioned name of another version; nil if it does not have that form.
    static func plain(_ path: String) -> String? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, let end = parts.last, let digits = parts.dropLast().last,
            digits.utf8.count == hashDigits,
            digits.utf8.allSatisfy({ Hex.value(of: $0) != nil })
        else { return nil }
        return (parts.dropLast(2) + [end]).joined(separator: ".")
    }

    /// Returns the runs of bytes that can form a path, from `/`, `./` or `../`.
    private static func words(of content: [UInt8]) -> [ArraySlice<UInt8>] {
        content.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            var words: [ArraySlice<UInt8>] = []
            var next = 0
            while let slash = memchr(base + next, Int32(UInt8(ascii: "/")), bytes.count - next) {
                let position = base.distance(to: UnsafeRawPointer(slash))
                var start = position
                while start > 0, position - start < 2, bytes[start - 1] == UInt8(ascii: ".") { start -= 1 }
                next = position + 1
                while next < bytes.count, isPathByte[Int(bytes[next])] { next += 1 }
                if next > position + 1, start == 0 || !isPathByte[Int(bytes[start - 1])] {
                    words.append(content[start..<next])
                }
            }
            return words
        }
    }

    private static let isPathByte: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        let bytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/".utf8
        for byte in bytes { table[Int(byte)] = true }
        return table
    }()

    /// Returns the path to which a reference leads; nil if it leads out of the root.
    private static func target(_ word: ArraySlice<UInt8>, from path: String) -> String? {
        let text = String(decoding: word, as: UTF8.self)
        guard text.hasPrefix(".") else { return text }
        var parts: [Substring] = []
        for part in (folder(of: path) + text).split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the folder of a path, with the final slash.
    private static func folder(of path: String) -> Substring {
        path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    }
}
